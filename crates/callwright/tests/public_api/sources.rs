//! The modules of a library in its sources, and the item that a path refers to.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use quote::ToTokens as _;
use syn::{Attribute, Item, UseTree, Visibility};

/// The path of a module from the root of its library.
pub(crate) type ModulePath = Vec<String>;

/// An item where it is defined.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Definition {
    pub(crate) module: ModulePath,
    pub(crate) name: String,
}

pub(crate) struct Library {
    pub(crate) name: String,
    pub(crate) modules: BTreeMap<ModulePath, Module>,
}

#[derive(Default)]
pub(crate) struct Module {
    pub(crate) items: Vec<Item>,
    /// The conditions under which it is compiled.
    pub(crate) cfgs: Vec<String>,
}

/// One name that a `use` brings into a module.
pub(crate) struct Import {
    pub(crate) name: String,
    pub(crate) path: Vec<String>,
    pub(crate) is_public: bool,
}

impl Library {
    pub(crate) fn read(name: &str, sources: &Path) -> Self {
        let mut library = Library {
            name: name.to_owned(),
            modules: BTreeMap::new(),
        };
        library.add_file(&sources.join("lib.rs"), sources, Vec::new(), Vec::new());
        library
    }

    fn add_file(&mut self, file: &Path, folder: &Path, path: ModulePath, cfgs: Vec<String>) {
        let text =
            fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed =
            syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(folder, path, parsed.items, cfgs);
    }

    fn add(&mut self, folder: &Path, path: ModulePath, items: Vec<Item>, cfgs: Vec<String>) {
        let items: Vec<Item> = items
            .into_iter()
            .flat_map(expand)
            .filter(|item| !is_test(attributes(item)))
            .collect();
        for item in &items {
            let Item::Mod(module) = item else { continue };
            let name = module.ident.to_string();
            let inner = [path.clone(), vec![name.clone()]].concat();
            let cfgs = [cfgs.clone(), cfgs_of(&module.attrs)].concat();
            let folder = folder.join(&name);
            if let Some((_, items)) = &module.content {
                self.add(&folder, inner, items.clone(), cfgs);
                continue;
            }
            let beside = folder.with_extension("rs");
            let file = if beside.exists() {
                beside
            } else {
                folder.join("mod.rs")
            };
            self.add_file(&file, &folder, inner, cfgs);
        }
        self.modules.insert(path, Module { items, cfgs });
    }

    /// The item that a path refers to in a module; `None` if it belongs to another library.
    pub(crate) fn resolve(&self, module: &[String], path: &[String]) -> Option<Definition> {
        self.resolve_within(module, path, 16)
    }

    fn resolve_within(&self, from: &[String], path: &[String], steps: usize) -> Option<Definition> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => return self.resolve_within(&[], rest, steps),
            "self" => return self.resolve_within(from, rest, steps),
            "super" => return self.resolve_within(from.split_last()?.1, rest, steps),
            _ => {}
        }
        let module = self.modules.get(from)?;
        let inner = [from, std::slice::from_ref(first)].concat();
        if !rest.is_empty() && self.modules.contains_key(&inner) {
            return self.resolve_within(&inner, rest, steps);
        }
        if rest.is_empty()
            && module
                .items
                .iter()
                .any(|item| name_of(item).as_ref() == Some(first))
        {
            return Some(Definition {
                module: from.to_vec(),
                name: first.clone(),
            });
        }
        let import = imports(&module.items)
            .into_iter()
            .find(|import| import.name == *first)?;
        // `use callwright::…` refers to another library, even if a module has that name.
        let is_self = import.path == [first.clone()];
        let path = [import.path, rest.to_vec()].concat();
        (!is_self).then(|| self.resolve_within(from, &path, steps))?
    }
}

/// The macro `named` is listed as an enum with names as values; what else it generates is always the same.
fn expand(item: Item) -> Vec<Item> {
    let Item::Macro(call) = &item else {
        return vec![item];
    };
    match call.mac.parse_body::<syn::ItemEnum>() {
        Ok(mut written) if call.mac.path.is_ident("named") => {
            let variants = written.variants.iter_mut();
            variants.for_each(|variant| variant.discriminant = None);
            written.attrs.push(syn::parse_quote! {
                #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
            });
            let (name, count) = (&written.ident, syn::Index::from(written.variants.len()));
            let methods = syn::parse_quote! {
                impl #name {
                    pub const ALL: [(&'static str, #name); #count] = [];
                    pub fn name(self) -> &'static str {}
                    pub fn from_name(name: &str) -> Option<Self> {}
                }
            };
            vec![Item::Enum(written), methods]
        }
        _ => vec![item],
    }
}

/// All names that the `use` items of a module bring in.
pub(crate) fn imports(items: &[Item]) -> Vec<Import> {
    fn flatten(tree: &UseTree, path: &[String], is_public: bool, all: &mut Vec<Import>) {
        let with = |name: &syn::Ident| [path, &[name.to_string()]].concat();
        let mut add = |name: String, path: Vec<String>| {
            all.push(Import {
                name,
                path,
                is_public,
            });
        };
        match tree {
            UseTree::Path(inner) => flatten(&inner.tree, &with(&inner.ident), is_public, all),
            UseTree::Name(leaf) if leaf.ident == "self" => {
                add(path.last().cloned().unwrap_or_default(), path.to_vec());
            }
            UseTree::Name(leaf) => add(leaf.ident.to_string(), with(&leaf.ident)),
            UseTree::Rename(leaf) => add(leaf.rename.to_string(), with(&leaf.ident)),
            UseTree::Group(group) => {
                let each = group.items.iter();
                each.for_each(|tree| flatten(tree, path, is_public, all));
            }
            UseTree::Glob(_) => assert!(!is_public, "{path:?}: the list does not follow globs"),
        }
    }
    let mut all = Vec::new();
    for item in items {
        if let Item::Use(item) = item
            && !is_hidden(&item.attrs)
        {
            flatten(
                &item.tree,
                &[],
                matches!(item.vis, Visibility::Public(_)),
                &mut all,
            );
        }
    }
    all
}

/// The name of an item, its attributes and whether it is public.
pub(crate) fn parts_of(item: &Item) -> Option<(&syn::Ident, &[Attribute], bool)> {
    let (name, attributes, visibility) = match item {
        Item::Const(item) => (&item.ident, &item.attrs, &item.vis),
        Item::Enum(item) => (&item.ident, &item.attrs, &item.vis),
        Item::Fn(item) => (&item.sig.ident, &item.attrs, &item.vis),
        Item::Mod(item) => (&item.ident, &item.attrs, &item.vis),
        Item::Static(item) => (&item.ident, &item.attrs, &item.vis),
        Item::Struct(item) => (&item.ident, &item.attrs, &item.vis),
        Item::Trait(item) => (&item.ident, &item.attrs, &item.vis),
        Item::Type(item) => (&item.ident, &item.attrs, &item.vis),
        _ => return None,
    };
    Some((
        name,
        attributes,
        matches!(visibility, Visibility::Public(_)),
    ))
}

fn name_of(item: &Item) -> Option<String> {
    parts_of(item).map(|(name, ..)| name.to_string())
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Impl(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        other => parts_of(other).map_or(&[], |(_, attributes, _)| attributes),
    }
}

/// The conditions of an item, such as `feature = "toolbox"`.
pub(crate) fn cfgs_of(attributes: &[Attribute]) -> Vec<String> {
    let cfgs = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    cfgs.filter_map(|attribute| attribute.meta.require_list().ok())
        .map(|list| list.tokens.to_string())
        .collect()
}

fn is_test(attributes: &[Attribute]) -> bool {
    cfgs_of(attributes)
        .iter()
        .any(|cfg| cfg == "test" || cfg.contains("doctest"))
}

pub(crate) fn is_hidden(attributes: &[Attribute]) -> bool {
    let mut docs = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"));
    docs.any(|attribute| {
        attribute
            .meta
            .to_token_stream()
            .to_string()
            .contains("(hidden)")
    })
}
