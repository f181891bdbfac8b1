//! Servers that speak HTTP, and guards in front of them.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use super::program;

/// A server that says its port on its first line, and ends with its input.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(python: &str, script: &Path) -> Self {
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Python runs");
        let mut port = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        stdout.read_line(&mut port).expect("a line");
        let url = format!("http://127.0.0.1:{}/mcp", port.trim());
        Server { child, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `callwright mcp --upstream … --listen …`.
pub(crate) struct Guard {
    pub(crate) child: Child,
    pub(crate) url: String,
    said: Option<JoinHandle<String>>,
}

impl Guard {
    pub(crate) fn start(upstream: &str, options: &[&str]) -> Self {
        let mut child = program()
            .args(["mcp", "--upstream", upstream, "--listen", "127.0.0.1:0"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("a line");
        let at = line
            .split_whitespace()
            .find(|word| word.starts_with("http"));
        let url = format!("{}mcp", at.unwrap_or_else(|| panic!("{line:?}")));
        let said = std::thread::spawn(move || {
            let mut said = String::new();
            let _ = stderr.read_to_string(&mut said);
            said
        });
        Guard {
            child,
            url,
            said: Some(said),
        }
    }

    /// Asks it to end; its exit code and what it said.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let number = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &number]).status();
        assert!(sent.expect("kill runs").success());
        let status = self.child.wait().expect("it ends");
        let said = self.said.take().expect("it is taken once");
        (status.code(), said.join().expect("no panic"))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
