//! Module dependencies: checks the sources against the table in DESIGN.md.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The heading of the table in DESIGN.md.
const HEADING: &str = "| module | takes → returns | may import |";

type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_modules_import_what_the_table_allows_and_nothing_else() {
    let (allowed, found) = (table(), imports());
    for (module, imported) in &found {
        let Some(allowed) = allowed.get(module) else {
            panic!("`{module}` has no row in the table of DESIGN.md; add one");
        };
        let forbidden: Vec<_> = imported.difference(allowed).collect();
        assert!(
            forbidden.is_empty(),
            "`{module}` imports {forbidden:?}, which DESIGN.md does not allow; move the type into `vocabulary`, or say in \
             the table why not"
        );
    }
    for (module, allowed) in &allowed {
        let Some(imported) = found.get(module) else {
            panic!("DESIGN.md has a row for `{module}`, which does not exist");
        };
        let unused: Vec<_> = allowed.difference(imported).collect();
        assert!(
            unused.is_empty(),
            "`{module}` may import {unused:?} and does not; strike it from DESIGN.md"
        );
    }
}

#[test]
fn the_table_has_no_cycle() {
    let mut left = table();
    // A module whose imports have all been removed is at the bottom; remove such modules until none is left.
    while !left.is_empty() {
        let names: BTreeSet<String> = left.keys().cloned().collect();
        let before = left.len();
        left.retain(|_, imports| imports.intersection(&names).next().is_some());
        assert!(left.len() < before, "these import each other: {names:?}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the table: a module, and what it may import.
fn table() -> Imports {
    let design = fs::read_to_string(root().join("DESIGN.md")).expect("DESIGN.md");
    let rows = design.lines().skip_while(|line| *line != HEADING).skip(2);
    let rows: Imports = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
            let (name, allowed) = (names(cells[0]), names(cells[2]));
            (name.into_iter().next().expect("a module"), allowed)
        })
        .collect();
    assert!(!rows.is_empty(), "no table under {HEADING:?}");
    rows
}

/// The words in backticks.
fn names(cell: &str) -> BTreeSet<String> {
    let words = cell.split('`').skip(1).step_by(2);
    words
        .map(|word| word.trim_end_matches('/').to_owned())
        .collect()
}

/// What the top modules of the crate import from each other.
fn imports() -> Imports {
    let source = root().join("crates/callwright/src");
    let homes = homes(&sources(&source.join("lib.rs")).concat());
    let mut found = Imports::new();
    for entry in fs::read_dir(&source).expect("the sources") {
        let path = entry.expect("an entry").path();
        let module = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let is_source = path.is_dir() || path.extension().is_some_and(|it| it == "rs");
        if module == "lib" || !is_source {
            continue;
        }
        let mut imported = BTreeSet::new();
        for text in sources(&path) {
            for name in imported_names(&text) {
                let home = homes.get(&name).unwrap_or(&name);
                if *home != module {
                    imported.insert(home.clone());
                }
            }
        }
        found.insert(module, imported);
    }
    found
}

/// Names re-exported at the root of the crate, with the module that they come from.
fn homes(lib: &str) -> BTreeMap<String, String> {
    let uses = lib
        .split(';')
        .filter_map(|item| item.split_once("use "))
        .map(|(_, path)| path);
    let mut homes = BTreeMap::new();
    for path in uses {
        let Some((module, names)) = path.trim().trim_start_matches("crate::").split_once("::")
        else {
            continue;
        };
        for name in names.split(|c: char| !c.is_alphanumeric() && c != '_') {
            homes.insert(name.to_owned(), module.to_owned());
        }
    }
    homes
}

/// The texts of a module's files, without comments and without tests.
fn sources(path: &Path) -> Vec<String> {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder");
        return entries
            .flat_map(|entry| sources(&entry.expect("an entry").path()))
            .collect();
    }
    if path.extension().is_none_or(|it| it != "rs")
        || path.file_stem().is_some_and(|it| it == "tests")
    {
        return Vec::new();
    }
    let text = fs::read_to_string(path).expect("a source");
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    vec![code.collect::<Vec<_>>().join("\n")]
}

/// The first name after each `crate::`, also in a group: `crate::{admit::Place, check}`.
fn imported_names(code: &str) -> BTreeSet<String> {
    let first = |path: &str| {
        let name: String = path
            .trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        (!name.is_empty()).then_some(name)
    };
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        // `pub(crate)` and `$crate::` are not imports.
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => found.extend(first(rest)),
            Some(group) => {
                let (mut depth, mut starts) = (0, vec![0]);
                for (at, sign) in group.char_indices() {
                    match sign {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => starts.push(at + 1),
                        _ => {}
                    }
                }
                found.extend(
                    starts
                        .into_iter()
                        .filter_map(|start| first(&group[start..])),
                );
            }
        }
    }
    found
}
