//! `callwright`: the program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(callwright_cli::run(std::env::args_os()))
}
