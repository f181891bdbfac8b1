//! Runs the examples as programs.

use std::path::PathBuf;
use std::process::{Command, Output};

/// An example as a program. Cargo builds them all with the tests, next to the folder that contains this test.
pub(crate) fn example(name: &str) -> Command {
    let test = std::env::current_exe().expect("a test is a file");
    let built = test.ancestors().nth(2).expect("target/PROFILE/deps/TEST");
    let program: PathBuf = built
        .join("examples")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.exists(),
        "{} is not built; run `cargo test -p callwright-examples`, without `--test`",
        program.display()
    );
    let mut command = Command::new(program);
    for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"] {
        command.env_remove(name);
    }
    // A proxy on this machine must not get between the example and the test's server.
    command.env("NO_PROXY", "127.0.0.1");
    command
}

/// Runs a program to its end.
pub(crate) fn run(mut command: Command) -> Output {
    command
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the example starts")
}
