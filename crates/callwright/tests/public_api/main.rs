//! `public-api.txt` of each library lists what it exports, so that a change of the API shows in a diff. Update it with
//!
//! ```console
//! $ UPDATE_PUBLIC_API=1 cargo test -p callwright --test public_api
//! ```
//!
//! The list is read from the sources, not from rustdoc's JSON, which needs a nightly feature and changes its format
//! every few releases of Rust. So it is the same on every toolchain, and covers all features at once (`cfg` is shown).
//! It leaves out hidden items, automatic traits and generated items; the test fails if a macro generates a public item.

mod exports;
mod sources;

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use self::exports::list;
use self::sources::Library;

const LIBRARIES: [&str; 5] = [
    "callwright",
    "callwright-redis",
    "callwright-replay",
    "callwright-rig",
    "callwright-rmcp",
];

#[test]
fn every_change_of_the_api_is_in_the_list() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut changes = String::new();
    for name in LIBRARIES {
        let library = Library::read(&name.replace('-', "_"), &crates.join(name).join("src"));
        let new = list(&library);
        let file = crates.join(name).join("public-api.txt");
        if std::env::var_os("UPDATE_PUBLIC_API").is_some() {
            fs::write(&file, new).expect("the file can be written");
            continue;
        }
        let old = fs::read_to_string(&file).unwrap_or_default();
        if old != new {
            changes += &format!("{name}:\n{}", difference(&old, &new));
        }
    }
    assert!(
        changes.is_empty(),
        "the public API has changed:\n{changes}\nIf that is intended, run \
         `UPDATE_PUBLIC_API=1 cargo test -p callwright --test public_api` and commit the lists."
    );
}

/// The removed and the added lines.
fn difference(old: &str, new: &str) -> String {
    let only_in = |one: &str, other: &str, sign: &str| {
        let other: HashSet<&str> = other.lines().collect();
        let lines = one.lines().filter(|line| !other.contains(line));
        lines
            .map(|line| format!("{sign} {line}\n"))
            .collect::<String>()
    };
    only_in(old, new, "-") + &only_in(new, old, "+")
}
