//! What the program prints about itself: first lines, version, completions, manual pages.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::process::{Command, Stdio};

use support::{Folder, program, run};

#[test]
fn without_arguments_it_names_the_first_step() {
    let first = run(&mut program());
    assert_eq!(first.code, 0);
    // Every line that starts with the program's name is a command that exists.
    let lines = first.stdout.lines().map(str::trim);
    let commands = lines.filter_map(|line| line.strip_prefix("callwright "));
    let mut named = 0;
    for command in commands.filter(|line| !line.starts_with("guards")) {
        let name = command.split(' ').next().expect("a word");
        let help = run(program().args([name, "--help"]));
        assert_eq!(help.code, 0, "{command}: {help:?}");
        named += 1;
    }
    assert!(named >= 5, "{first:?}");
    assert_eq!(first.stderr, "");
}

#[test]
fn the_version_names_the_features() {
    let short = run(program().arg("-V"));
    assert_eq!(
        short.stdout,
        concat!("callwright ", env!("CARGO_PKG_VERSION"), "\n")
    );
    let long = run(program().arg("--version")).stdout;
    let features = if cfg!(feature = "tls") {
        "cel, policy, tls"
    } else {
        "cel, policy"
    };
    assert_eq!(long, format!("{}features  {features}\n", short.stdout));
}

#[test]
fn completions_are_scripts() {
    for (shell, says) in [
        ("bash", "_callwright()"),
        ("zsh", "#compdef callwright"),
        ("fish", "complete -c callwright"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion:arg-completer[callwright]"),
    ] {
        let made = run(program().args(["completions", shell]));
        assert_eq!((made.code, made.stderr.as_str()), (0, ""), "{shell}");
        assert!(made.stdout.contains(says), "{shell}");
        assert!(made.stdout.contains("trust-annotations"), "{shell}");
    }
    let unknown = run(program().args(["completions", "tcsh"]));
    assert_eq!(unknown.code, 2);
}

/// A real bash loads the completions.
#[cfg(target_os = "linux")]
#[test]
fn bash_completes() {
    let script = run(program().args(["completions", "bash"])).stdout;
    let folder = Folder::new();
    let file = folder.file("callwright.bash", script);
    let ask = format!(
        "source {}; COMP_WORDS=(callwright mcp --trust); COMP_CWORD=2; \
         _callwright callwright --trust mcp; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        file.display()
    );
    let bash = Command::new("bash")
        .args(["--norc", "-c", &ask])
        .stdin(Stdio::null())
        .output();
    let output = bash.expect("bash runs");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "--trust-annotations\n",
        "{output:?}"
    );
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    let made = run(program().args(["man", "--out"]).arg(folder.path()));
    assert_eq!(made.code, 0, "{made:?}");
    let mut pages: Vec<String> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    pages.sort();
    let help = run(program().arg("--help")).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.split_whitespace().next());
    let mut expected: Vec<String> = names
        .filter(|name| *name != "help")
        .map(|name| format!("callwright-{name}.1"))
        .collect();
    expected.push("callwright.1".to_owned());
    expected.sort();
    assert_eq!(pages, expected);
    let page = fs::read_to_string(folder.path().join("callwright-mcp.1")).expect("a page");
    assert!(
        page.contains(".TH callwright-mcp 1  \"callwright 0.1.0\""),
        "{page}"
    );
    let printed = run(program().args(["man", "mcp"]));
    assert_eq!(printed.stdout, page);
    let unknown = run(program().args(["man", "sell"]));
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("unknown command `sell`"),
        "{unknown:?}"
    );
}
