//! What a library exports, as text: one block for each item, sorted by path.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use quote::ToTokens;
use syn::{Fields, ImplItem, Item, ItemImpl, TraitItem, Type, Visibility};

use crate::sources::{Definition, Library, ModulePath, cfgs_of, imports, is_hidden, parts_of};

/// The public paths of an item, the shortest first.
type Exports = BTreeMap<Definition, Vec<String>>;

/// The list of a library.
pub(crate) fn list(library: &Library) -> String {
    let mut exports = Exports::new();
    export(library, &[], &library.name, &mut exports);
    for paths in exports.values_mut() {
        paths.sort_by_key(|path| (path.matches("::").count(), path.clone()));
    }
    let mut blocks = BTreeMap::new();
    for (definition, paths) in &exports {
        let Some((main, others)) = paths.split_first() else {
            continue;
        };
        blocks.insert(main.clone(), block(library, &exports, definition, main));
        for other in others {
            blocks.insert(other.clone(), format!("pub use {main} as {other}\n"));
        }
    }
    let text = blocks.into_values().collect::<Vec<_>>().join("\n");
    let lines = text.lines().map(|line| line.trim_end_matches([' ', ',']));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Records what a module exports under a public path.
fn export(library: &Library, module: &[String], public: &str, exports: &mut Exports) {
    let Some(content) = library.modules.get(module) else {
        return;
    };
    let mut add = |definition: Definition, name: &str| {
        let path = format!("{public}::{name}");
        let inner = [definition.module.clone(), vec![definition.name.clone()]].concat();
        if library.modules.contains_key(&inner) {
            export(library, &inner, &path, exports);
        } else {
            exports.entry(definition).or_default().push(path);
        }
    };
    for item in &content.items {
        if let Item::Macro(call) = item {
            let text = call.mac.tokens.to_string();
            let is_definition = call.ident.is_some();
            assert!(
                is_definition || !text.contains("pub "),
                "{public}: the list does not see what macros generate: {text}"
            );
        }
        if let Some((name, attributes, true)) = parts_of(item)
            && !is_hidden(attributes)
        {
            let module = module.to_vec();
            let name = name.to_string();
            add(
                Definition {
                    module,
                    name: name.clone(),
                },
                &name,
            );
        }
    }
    for import in imports(&content.items) {
        if import.is_public
            && let Some(definition) = library.resolve(module, &import.path)
        {
            add(definition, &import.name);
        }
    }
}

/// An item with everything that belongs to it.
fn block(library: &Library, exports: &Exports, definition: &Definition, path: &str) -> String {
    let module = &library.modules[&definition.module];
    let named = module
        .items
        .iter()
        .find(|item| parts_of(item).is_some_and(|(name, ..)| *name == definition.name));
    let Some((item, (_, attributes, _))) = named.and_then(|item| Some((item, parts_of(item)?)))
    else {
        return String::new();
    };
    let mut out = String::new();
    let known = [module.cfgs.clone(), cfgs_of(attributes)].concat();
    for cfg in &known {
        let _ = writeln!(out, "#[cfg({})]", tidy(cfg));
    }
    for attribute in attributes {
        if attribute.path().is_ident("non_exhaustive") || attribute.path().is_ident("must_use") {
            let _ = writeln!(out, "#[{}]", attribute.path().to_token_stream());
        }
    }
    out += &declaration(item, path);
    out += &implementations(library, exports, definition, &known);
    let mut derived: Vec<String> = Vec::new();
    for attribute in attributes.iter().filter(|it| it.path().is_ident("derive")) {
        let _ = attribute.parse_nested_meta(|meta| {
            derived.push(text(&meta.path));
            Ok(())
        });
    }
    derived.sort();
    if !derived.is_empty() {
        let _ = writeln!(out, "    derive {}", derived.join(", "));
    }
    out
}

/// The item itself, with its public fields, its variants or its methods.
fn declaration(item: &Item, path: &str) -> String {
    let mut out = String::new();
    let _ = match item {
        Item::Const(item) => writeln!(out, "pub const {path}: {}", text(&item.ty)),
        Item::Static(item) => writeln!(out, "pub static {path}: {}", text(&item.ty)),
        Item::Fn(item) => writeln!(out, "pub {}", signature(&item.sig, path)),
        Item::Type(item) => {
            writeln!(
                out,
                "pub type {path}{} = {}",
                text(&item.generics),
                text(&item.ty)
            )
        }
        Item::Struct(item) => {
            let clause = text(&item.generics.where_clause);
            let _ = writeln!(out, "pub struct {path}{} {clause}", text(&item.generics));
            fields(&item.fields, &mut out)
        }
        Item::Enum(item) => {
            let _ = writeln!(out, "pub enum {path}{}", text(&item.generics));
            item.variants.iter().try_for_each(|variant| {
                let mut variant = variant.clone();
                variant.attrs.clear();
                let fields = variant.fields.iter_mut();
                fields.for_each(|field| field.attrs.clear());
                writeln!(out, "    {}", text(&variant))
            })
        }
        Item::Trait(item) => {
            let bounds = text(&item.supertraits);
            let _ = writeln!(out, "pub trait {path}{}: {bounds}", text(&item.generics));
            item.items.iter().try_for_each(|part| match part {
                TraitItem::Fn(method) => {
                    let provided = if method.default.is_some() {
                        " { … }"
                    } else {
                        ""
                    };
                    let signature = signature(&method.sig, &method.sig.ident.to_string());
                    writeln!(out, "    {signature}{provided}")
                }
                other => writeln!(out, "    {}", text(other)),
            })
        }
        _ => Ok(()),
    };
    out
}

fn fields(fields: &Fields, out: &mut String) -> std::fmt::Result {
    let public = |field: &&syn::Field| matches!(field.vis, Visibility::Public(_));
    for (at, field) in fields.iter().enumerate().filter(|(_, field)| public(field)) {
        let name = field
            .ident
            .as_ref()
            .map_or_else(|| at.to_string(), ToString::to_string);
        let cfgs = conditions(&cfgs_of(&field.attrs));
        writeln!(out, "    {cfgs}pub {name}: {}", text(&field.ty))?;
    }
    Ok(())
}

/// Its methods, and the traits that it implements. A trait is listed with the foreign types that implement it.
fn implementations(
    library: &Library,
    exports: &Exports,
    definition: &Definition,
    known: &[String],
) -> String {
    let mut methods = String::new();
    let mut traits: Vec<String> = Vec::new();
    for (at, module) in &library.modules {
        for item in &module.items {
            let Item::Impl(block) = item else { continue };
            let of = |path: Option<&syn::Path>| path.and_then(|path| resolve(library, at, path));
            let own = of(path_of(&block.self_ty));
            let mut condition = [module.cfgs.clone(), cfgs_of(&block.attrs)].concat();
            condition.retain(|cfg| !known.contains(cfg));
            let condition = conditions(&condition);
            let Some((_, implemented, _)) = &block.trait_ else {
                if own.as_ref() == Some(definition) {
                    methods += &public_methods(block, &condition);
                }
                continue;
            };
            let private = |found: &Option<Definition>| {
                found
                    .as_ref()
                    .is_some_and(|found| !exports.contains_key(found))
            };
            let of_trait = of(Some(implemented));
            let mut arguments_found = arguments(implemented).map(|path| of(Some(path)));
            if private(&own) || private(&of_trait) || arguments_found.any(|found| private(&found)) {
                continue;
            }
            let is_owner = match &own {
                Some(own) => own == definition,
                // The type belongs to another library: the trait is ours, or one of its arguments is.
                None => match &of_trait {
                    Some(of_trait) => of_trait == definition,
                    None => arguments(implemented)
                        .any(|path| of(Some(path)).as_ref() == Some(definition)),
                },
            };
            if is_owner {
                traits.push(format!("    {condition}{}\n", header(block)));
            }
        }
    }
    traits.sort();
    methods + &traits.concat()
}

fn conditions(cfgs: &[String]) -> String {
    let cfgs = cfgs.iter().map(|cfg| tidy(cfg));
    cfgs.map(|cfg| format!("#[cfg({cfg})] ")).collect()
}

fn public_methods(block: &ItemImpl, condition: &str) -> String {
    let clause = text(&block.generics.where_clause);
    let mut out = String::new();
    for item in &block.items {
        let _ = match item {
            ImplItem::Fn(method)
                if matches!(method.vis, Visibility::Public(_)) && !is_hidden(&method.attrs) =>
            {
                let cfgs = conditions(&cfgs_of(&method.attrs));
                let signature = signature(&method.sig, &method.sig.ident.to_string());
                writeln!(out, "    {condition}{cfgs}pub {signature} {clause}")
            }
            ImplItem::Const(constant) if matches!(constant.vis, Visibility::Public(_)) => {
                let (name, kind) = (&constant.ident, text(&constant.ty));
                writeln!(out, "    {condition}pub const {name}: {kind}")
            }
            _ => Ok(()),
        };
    }
    out
}

/// The first line of an implementation of a trait, with its associated types.
fn header(block: &ItemImpl) -> String {
    let types = block.items.iter().filter_map(|item| match item {
        ImplItem::Type(item) => Some(format!("{} = {}", item.ident, text(&item.ty))),
        _ => None,
    });
    let types: Vec<String> = types.collect();
    let mut head = block.clone();
    head.attrs.clear();
    head.items.clear();
    let head = text(&head);
    let head = head.trim_end_matches(" { }").to_owned();
    if types.is_empty() {
        head
    } else {
        format!("{head} {{ {} }}", types.join(", "))
    }
}

fn signature(signature: &syn::Signature, path: &str) -> String {
    let whole = text(signature);
    let name = format!("fn {}", signature.ident);
    whole.replacen(&name, &format!("fn {path}"), 1)
}

/// The path of a type, if it is one, ignoring references.
fn path_of(of: &Type) -> Option<&syn::Path> {
    match of {
        Type::Path(found) => Some(&found.path),
        Type::Reference(inner) => path_of(&inner.elem),
        _ => None,
    }
}

/// The types among the arguments of a path.
fn arguments(path: &syn::Path) -> impl Iterator<Item = &syn::Path> {
    let last = path.segments.last().map(|segment| &segment.arguments);
    let arguments = match last {
        Some(syn::PathArguments::AngleBracketed(inside)) => Some(&inside.args),
        _ => None,
    };
    arguments
        .into_iter()
        .flatten()
        .filter_map(|argument| match argument {
            syn::GenericArgument::Type(of) => path_of(of),
            _ => None,
        })
}

fn resolve(library: &Library, module: &ModulePath, path: &syn::Path) -> Option<Definition> {
    let segments = path.segments.iter();
    let segments: Vec<String> = segments.map(|segment| segment.ident.to_string()).collect();
    library.resolve(module, &segments)
}

fn text(tokens: &impl ToTokens) -> String {
    tidy(&tokens.to_token_stream().to_string())
}

/// Tokens with the usual spaces.
fn tidy(tokens: &str) -> String {
    const SPACES: [(&str, &str); 24] = [
        ("\n", " "),
        (" :: ", "::"),
        (":: ", "::"),
        (" ::", "::"),
        (" ,", ","),
        (" ;", ";"),
        (" :", ":"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("& ", "&"),
        (" [ ", "["),
        ("[ ", "["),
        (" ]", "]"),
        ("->(", "-> ("),
        ("=(", "= ("),
        ("? ", "?"),
        (", }", " }"),
        // Irrelevant to a caller.
        ("(mut self", "(self"),
        (",(", ", ("),
        (",)", ")"),
    ];
    let mut text = tokens.to_owned();
    for (found, wanted) in SPACES {
        text = text.replace(found, wanted);
    }
    text
}
