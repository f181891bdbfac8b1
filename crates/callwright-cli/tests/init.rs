//! `callwright init` and `callwright doctor`, on real files in temporary folders.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Folder, Run, program, repository, run};

/// A user with a home folder and a project.
struct User {
    folder: Folder,
}

impl User {
    fn new() -> Self {
        let folder = Folder::new();
        fs::create_dir_all(folder.path().join("project")).expect("a folder");
        User { folder }
    }

    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("writable");
        path
    }

    fn command(&self) -> Command {
        let mut command = program();
        let home = self.folder.path();
        command.current_dir(home.join("project"));
        for name in ["HOME", "USERPROFILE"] {
            command.env(name, home);
        }
        command.env("XDG_CONFIG_HOME", home.join(".config"));
        command.env("APPDATA", home.join(".config"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        run(self.command().args(arguments))
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("readable")
}

/// The path of a desktop program's settings, relative to the home folder.
fn settings(path: &str) -> String {
    if cfg!(target_os = "macos") {
        format!("Library/Application Support/{path}")
    } else {
        format!(".config/{path}")
    }
}

#[test]
fn every_client_is_found_guarded_and_freed() {
    let zed = if cfg!(target_os = "macos") {
        ".config/zed/settings.json".to_owned()
    } else {
        settings("zed/settings.json")
    };
    let clients = [
        (
            "claude-desktop",
            settings("Claude/claude_desktop_config.json"),
            "mcpServers",
        ),
        ("claude-code", ".claude.json".to_owned(), "mcpServers"),
        ("claude-code", "project/.mcp.json".to_owned(), "mcpServers"),
        ("cursor", ".cursor/mcp.json".to_owned(), "mcpServers"),
        (
            "cursor",
            "project/.cursor/mcp.json".to_owned(),
            "mcpServers",
        ),
        ("vscode", settings("Code/User/mcp.json"), "servers"),
        ("vscode", "project/.vscode/mcp.json".to_owned(), "servers"),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json".to_owned(),
            "mcpServers",
        ),
        ("zed", zed, "context_servers"),
    ];
    for (client, path, key) in clients {
        let user = User::new();
        let before = format!(
            "// mine\n{{\n  \"{key}\": {{\n    \"files\": {{\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"x\"], // two\n      \"env\": {{\"KEY\": \"hunter2\"}}\n    }},\n  }},\n}}\n"
        );
        let file = user.file(&path, &before);

        let shown = user.run(&["init", "--client", client, "--program", "callwright"]);
        assert_eq!(shown.code, 0, "{shown:?}");
        assert_eq!(read(&file), before, "nothing is written without an answer");
        assert!(
            shown.stderr.contains("nothing was written; add --yes"),
            "{shown:?}"
        );
        assert!(
            shown.stdout.contains("-      \"command\": \"npx\",\n"),
            "{shown:?}"
        );
        assert!(
            shown
                .stdout
                .contains("+      \"args\": [\"mcp\", \"--\", \"npx\", \"-y\", \"x\"], // two\n"),
            "{shown:?}"
        );

        let written = user.run(&[
            "init",
            "--client",
            client,
            "--program",
            "callwright",
            "--yes",
        ]);
        assert_eq!(written.code, 0, "{written:?}");
        assert!(written.stderr.contains("next: restart "), "{written:?}");
        let after = before
            .replace("\"npx\"", "\"callwright\"")
            .replace("[\"-y\"", "[\"mcp\", \"--\", \"npx\", \"-y\"");
        assert_eq!(read(&file), after);
        let backup = format!("{}.callwright-backup", file.display());
        assert_eq!(read(Path::new(&backup)), before);

        let again = user.run(&["init", "--client", client, "--yes"]);
        assert!(again.stderr.contains("files: guarded"), "{again:?}");
        assert_eq!(read(&file), after);

        let doctor = user.run(&["doctor"]);
        assert_eq!(doctor.code, 0, "{doctor:?}");
        assert!(doctor.stdout.contains("    files: guarded\n"), "{doctor:?}");

        let undone = user.run(&["init", "--client", client, "--undo", "--yes"]);
        assert_eq!(undone.code, 0, "{undone:?}");
        assert!(!undone.stderr.contains("note:"), "{undone:?}");
        assert_eq!(read(&file), before);
    }
}

#[test]
fn the_client_starts_this_program_with_the_policy() {
    let user = User::new();
    let tools = repository().join("examples/tools.json");
    let config = user.file(
        "project/servers.json",
        r#"{"mcpServers": {"a": {"command": "x"}}}"#,
    );
    let tools = tools.to_string_lossy();
    let written = user.run(&[
        "init",
        "--tools",
        &tools,
        "--config",
        "servers.json",
        "--yes",
    ]);
    assert_eq!(written.code, 0, "{written:?}");
    let file: serde_json::Value = serde_json::from_str(&read(&config)).expect("JSON");
    let entry = &file["mcpServers"]["a"];
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_callwright"));
    let args = entry["args"].as_array().expect("arguments");
    let policy = Path::new(args[2].as_str().expect("a path"));
    assert_eq!((&args[0], &args[1]), (&"mcp".into(), &"--policy".into()));
    assert_eq!(args[3..], ["--", "x"]);
    assert!(
        policy.is_absolute() && policy.ends_with("project/callwright.toml"),
        "{policy:?}"
    );

    // The file is usable at once, and is not overwritten.
    let calls = repository().join("examples/calls.jsonl");
    let check = |policy: Option<&Path>| {
        let mut command = user.command();
        command
            .args(["check", "--format", "json", "--tools", &tools])
            .arg(&calls);
        run(command.args(policy.map(|policy| format!("--policy={}", policy.display()))))
    };
    let (with, without) = (check(Some(policy)), check(None));
    assert_eq!(
        (with.code, &with.stdout),
        (1, &without.stdout),
        "it changes no verdict"
    );
    let again = user.run(&["init", "--tools", &tools]);
    assert_eq!(again.code, 2);
    assert!(
        again.stderr.contains("cannot create callwright.toml"),
        "{again:?}"
    );
}

#[test]
fn a_server_can_be_named() {
    let user = User::new();
    let text = r#"{"servers": {"a": {"command": "x"}, "b": {"command": "y"}}}"#;
    let file = user.file("project/mcp.json", text);
    let arguments = [
        "init",
        "--config",
        "mcp.json",
        "--program",
        "callwright",
        "--yes",
    ];
    let unknown = user.run(&[&arguments[..], &["--server", "c"]].concat());
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(
        unknown
            .stderr
            .contains("no server is named \"c\"; the file has a, b"),
        "{unknown:?}"
    );
    assert_eq!(read(&file), text);
    let named = user.run(&[&arguments[..], &["--server", "b"]].concat());
    assert_eq!(named.code, 0, "{named:?}");
    assert!(read(&file).contains(r#"{"a": {"command": "x"}, "b": {"command": "callwright""#));
}

#[test]
fn what_cannot_be_read_is_left_and_named() {
    let user = User::new();
    let file = user.file(".cursor/mcp.json", "{\"mcpServers\": ");
    let refused = user.run(&["init", "--client", "cursor", "--yes"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("~/.cursor/mcp.json: this is not JSON"),
        "{refused:?}"
    );
    assert_eq!(read(&file), "{\"mcpServers\": ");
    let doctor = user.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(doctor.stdout.contains("this is not JSON"), "{doctor:?}");

    let nothing = user.run(&["init"]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.stderr.contains("callwright doctor"), "{nothing:?}");
    let nowhere = user.run(&["init", "--client", "windsurf"]);
    assert_eq!(nowhere.code, 2);
    assert!(
        nowhere
            .stderr
            .contains("no configuration of Windsurf found at"),
        "{nowhere:?}"
    );
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let user = User::new();
    let target = user.file(
        "dotfiles/mcp.json",
        r#"{"mcpServers": {"a": {"command": "x"}}}"#,
    );
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("ours");
    let link = user.folder.path().join(".cursor/mcp.json");
    fs::create_dir_all(link.parent().expect("a folder")).expect("a folder");
    symlink(&target, &link).expect("a link");
    let written = user.run(&["init", "--client", "cursor", "--yes"]);
    assert_eq!(written.code, 0, "{written:?}");
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert!(read(&target).contains("\"mcp\""));
    for file in [
        &target,
        &target.with_file_name("mcp.json.callwright-backup"),
    ] {
        let mode = fs::metadata(file).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{}", file.display());
    }
    let left = fs::read_dir(target.parent().expect("a folder")).expect("a folder");
    assert_eq!(left.count(), 2, "no temporary file is left");
}

/// End to end: a real server, guarded by `init`, is started as its client would start it.
#[test]
fn a_guarded_server_answers() {
    let Some(python) = support::mcp::python() else {
        return;
    };
    let user = User::new();
    let server = repository().join("crates/callwright-cli/tests/mcp_server.py");
    let entry = serde_json::json!({"mcpServers": {"a": {"command": python, "args": [server]}}});
    let config = user.file("project/mcp.json", &entry.to_string());
    let written = user.run(&["init", "--config", "mcp.json", "--yes"]);
    assert_eq!(written.code, 0, "{written:?}");
    let file: serde_json::Value = serde_json::from_str(&read(&config)).expect("JSON");
    let entry = &file["mcpServers"]["a"];
    let args = entry["args"].as_array().expect("arguments").iter();
    let mut started = Command::new(entry["command"].as_str().expect("a program"))
        .args(args.map(|arg| arg.as_str().expect("a string")))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = started.stdin.take().expect("piped");
    let hello = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
        r#""capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
        "\n"
    );
    std::io::Write::write_all(&mut stdin, hello.as_bytes()).expect("it reads");
    // Wait for the answer: a server that is still starting is terminated with its client.
    let mut answer = String::new();
    let mut stdout = std::io::BufReader::new(started.stdout.take().expect("piped"));
    std::io::BufRead::read_line(&mut stdout, &mut answer).expect("it answers");
    assert!(answer.contains("\"serverInfo\""), "{answer}");
    drop(stdin);
    let output = started.wait_with_output().expect("it ends");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("callwright: guarded"),
        "{output:?}"
    );
}

/// The guide shows an entry before and after, and the single entry for many servers, as the program writes them.
#[cfg(unix)]
#[test]
fn the_guide_shows_what_is_written() {
    let guide = read(&repository().join("docs/mcp.md"));
    let mut blocks = guide
        .split("```json\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap_or(""));
    let (before, after) = (blocks.next().expect("one"), blocks.next().expect("another"));
    let user = User::new();
    let file = user.file("project/.mcp.json", before);
    let guarded = ["init", "--client", "claude-code", "--program", "callwright"];
    let written = user.run(&[&guarded[..], &["--yes"]].concat());
    assert_eq!(written.code, 0, "{written:?}");
    assert_eq!(read(&file), after);

    let servers = user.file("servers.json", before);
    let name = servers.to_string_lossy();
    let printed = user.run(&["mcp", "--print-config", "--servers", &name]);
    let shown = printed.stdout.replace(&*name, "/home/me/servers.json");
    let shown = format!("$ callwright mcp --print-config --servers ~/servers.json\n{shown}```");
    assert!(guide.contains(&shown), "docs/mcp.md should show:\n{shown}");
}

/// The terminal guide shows the session of a user who answers yes.
#[cfg(unix)]
#[test]
fn the_terminal_guide_shows_the_difference() {
    let guide = read(&repository().join("docs/terminal.md"));
    let user = User::new();
    let text = "{\n  \"mcpServers\": {\n    \"files\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \
                \"@modelcontextprotocol/server-filesystem\", \"/data\"]\n    }\n  }\n}\n";
    user.file(".cursor/mcp.json", text);
    let program = "/home/me/.cargo/bin/callwright";
    let written = user.run(&["init", "--client", "cursor", "--program", program, "--yes"]);
    assert!(guide.contains(&written.stdout), "{}", written.stdout);
    assert!(guide.contains(&written.stderr), "{}", written.stderr);
}
