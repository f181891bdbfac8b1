//! Every command line that we show anywhere is one that the program accepts.

use std::fs;
use std::path::Path;

use clap::{Command as ClapCommand, CommandFactory as _};

use super::*;

/// Fails unless the program accepts this command line. Quotes, pipes and redirections are the shell's.
fn parse(place: &str, line: &str) {
    let line = line.split(" #").next().unwrap_or(line);
    let line = line.split(" > ").next().unwrap_or(line);
    let own = |part: &str| {
        let part = part.trim();
        let ours = part.strip_prefix("cargo run -- ");
        ours.or_else(|| part.strip_prefix("callwright "))
            .map(str::to_owned)
    };
    let Some(ours) = line.split(" | ").find_map(own) else {
        panic!("{place}: {line} does not start our program");
    };
    let words = ["callwright"].into_iter().chain(ours.split_whitespace());
    if let Err(error) = Arguments::try_parse_from(words) {
        panic!("{place}: {line}\n{error}");
    }
}

/// The help of every command ends with examples, which the program accepts, and has one line for each option.
#[test]
fn every_command_has_examples_that_work() {
    fn look(command: &ClapCommand, path: &str, seen: &mut usize) {
        for option in command.get_arguments().filter(|it| !it.is_hide_set()) {
            let about = option
                .get_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                (1..=100).contains(&about.chars().count()),
                "{path}, {}: {about:?}",
                option.get_id()
            );
        }
        let subcommands: Vec<_> = command
            .get_subcommands()
            .filter(|it| it.get_name() != "help")
            .collect();
        for subcommand in &subcommands {
            look(
                subcommand,
                &format!("{path} {}", subcommand.get_name()),
                seen,
            );
        }
        if path == "callwright" {
            return;
        }
        let help = command
            .get_after_long_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(help.contains("Examples:\n"), "{path} has no examples");
        let help = help.replace(" \\\n", " ");
        let examples = help
            .lines()
            .filter(|line| line.starts_with("    ") && line.contains("callwright "));
        let of_this = examples
            .filter(|line| line.contains(path))
            .inspect(|line| parse(path, line));
        assert!(of_this.count() > 0, "{path} has no example");
        *seen += 1;
    }
    let mut seen = 0;
    let mut whole = Arguments::command();
    whole.build();
    look(&whole, "callwright", &mut seen);
    assert!(seen >= 12, "only {seen} commands were found");
}

/// Every command shown in a document is accepted by the program.
#[test]
fn documents_show_commands_as_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // A packaged crate has no documents.
    let Ok(docs) = fs::read_dir(root.join("docs")) else {
        return;
    };
    let docs = docs.map(|entry| entry.expect("an entry").path());
    let documents = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let mut commands = 0;
    for document in documents.chain([root.join("README.md"), root.join("examples/README.md")]) {
        let text = fs::read_to_string(&document).expect("a document");
        let blocks = text.split("```console\n").skip(1);
        let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or("").lines());
        let lines = lines.filter_map(|line| line.strip_prefix("$ "));
        let is_ours =
            |line: &&str| line.starts_with("callwright ") || line.starts_with("cargo run -- ");
        for line in lines.filter(is_ours) {
            parse(&document.display().to_string(), line);
            commands += 1;
        }
    }
    assert!(commands > 15, "only {commands} commands were found");
}
