//! A starter policy file: every tool has its table, with the possible settings as comments.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use callwright::{Policy, ToolSpec};

use crate::input::{self, shown};
use crate::say;

/// The beginning of the file.
const TOP: &str = r#"# What callwright may do with calls of these tools. Every setting is commented out and shows its
# default, or what the tool declares; remove the `#` to change it. docs/policy.md
# explains every key.

# attended = true          # false: no user is there to ask, so the model is told to stop instead
# validate = "strict"      # "warn": only report bad calls, for schemas that are not trusted yet
# repair = "by_effect"     # "none", "lossless", "lossy" or "guess" for all tools, whatever they do

[loops]
# repeated_call = { notice = 2, refuse = 4 }     # the same call fails the same way
# repeated_result = { notice = 2, refuse = 4 }   # the same call returns the same result
"#;

/// Writes a policy for the tools of a file. Never replaces an existing file.
pub(super) fn write(tools: &Path, file: &Path) -> Result<()> {
    let text = input::read_tools_text(tools)?;
    let specs = input::read_tools(tools, &text, "the policy has no tables for tools")?;
    let policy = text_for(&specs);
    // Never leave an unreadable file behind.
    Policy::from_toml(&policy).context("these tool names cannot be written into a policy file")?;
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    let mut opened = opened.map_err(|error| {
        let next = match error.kind() {
            ErrorKind::AlreadyExists if file.is_dir() => "give a file with --policy",
            ErrorKind::AlreadyExists => "remove it, or give another file with --policy",
            ErrorKind::NotFound => "create its directory first",
            _ => "check the path and its permissions",
        };
        anyhow!("cannot create {}: {error}; {next}", shown(file))
    })?;
    opened
        .write_all(policy.as_bytes())
        .with_context(|| format!("cannot write {}", shown(file)))?;
    let count = specs.len();
    let plural = if count == 1 { "" } else { "s" };
    say(
        "written",
        &format!("{}, with {count} tool{plural}", shown(file)),
    );
    Ok(())
}

fn text_for(specs: &[ToolSpec]) -> String {
    let mut text = TOP.to_owned();
    // A table needs a name.
    let mut names: Vec<&ToolSpec> = specs.iter().filter(|spec| !spec.name.is_empty()).collect();
    // Two tools with the same name share a table.
    names.sort_by(|one, other| one.name.cmp(&other.name));
    names.dedup_by(|one, other| one.name == other.name);
    for spec in names {
        let (effect, why) = effect_of(spec);
        text += &format!(
            "\n[tool.{}]\n# effect = {effect:?}   # {why}\n",
            key(&spec.name)
        );
        if spec.idempotent {
            text += "# idempotent = true   # as declared: calling twice has the same effect as calling once\n";
        }
    }
    text
}

/// What a tool does, as far as known, and how that is known.
fn effect_of(spec: &ToolSpec) -> (&'static str, &'static str) {
    use callwright::tool::Effect;
    match spec.effect {
        Effect::Read => ("read", "as declared: calls are repaired up to a guess"),
        Effect::Write => (
            "write",
            "as declared; set it here to run the same call only once per turn",
        ),
        Effect::Destructive => (
            "destructive",
            "as declared; set it here to run the same call only once per turn",
        ),
        Effect::Unknown if spec.may_destroy() || spec.spends() => (
            "destructive",
            "by its name; set it here to run the same call only once per turn",
        ),
        Effect::Unknown => (
            "unknown",
            "not declared: \"read\" if it only reads, \"write\" if it changes something",
        ),
    }
}

/// A TOML key. `*` in a name would be a pattern, and cannot be escaped any other way.
fn key(name: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !name.is_empty() && name.chars().all(is_bare) {
        return name.to_owned();
    }
    // TOML escapes like JSON, except that DEL must be escaped too.
    serde_json::Value::from(name)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_gives_a_valid_file_that_changes_nothing() {
        for name in [
            "a",
            "a.b",
            "a b",
            "é\"\\",
            "x\u{7f}\u{1}\n",
            "a*",
            "",
            "-",
            "[x]",
            "#",
        ] {
            let text = text_for(&[ToolSpec::without_schema(name)]);
            let policy = Policy::from_toml(&text);
            policy.unwrap_or_else(|error| panic!("{name:?}: {error}\n{text}"));
        }
    }

    #[test]
    fn commented_settings_are_valid() {
        let specs = ["get_x", "delete_x", "pay"].map(ToolSpec::without_schema);
        let text = text_for(&specs);
        let on: String = text
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(rest) if rest.contains(" = ") => format!("{rest}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        Policy::from_toml(&on).expect("every comment with a setting is one");
        assert!(
            on.contains("[tool.delete_x]\neffect = \"destructive\""),
            "{on}"
        );
    }
}
