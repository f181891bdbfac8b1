//! Counts the instructions of this program under valgrind: stable on a noisy machine.

use std::process::Command;

/// How many instructions this program takes with these arguments; `None` if valgrind does not run.
pub(crate) fn instructions(arguments: &[&str]) -> Option<u64> {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .output()
        .ok()?;
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{report}");
    let line = report.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}
