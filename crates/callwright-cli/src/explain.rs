//! `callwright explain`: the tables of codes and of repairs, for people.

mod codes;
mod repairs;

use std::io::{self, Write as _};

use anyhow::{Result, bail};
use callwright::classify::{Code, TABLE};
use callwright::repair::rules;

use crate::Outcome;
use crate::args::ExplainArguments;

pub(crate) fn run(arguments: &ExplainArguments) -> Result<Outcome> {
    let text = match &arguments.name {
        Some(name) => one(name, arguments)?,
        None if arguments.repairs => repairs::all(&rules(), arguments.format),
        None => codes::all(TABLE, arguments.format),
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Outcome::Clean)
}

/// What is known by one name.
fn one(name: &str, arguments: &ExplainArguments) -> Result<String> {
    if let Some(code) = Code::from_name(name) {
        return Ok(codes::one(code.row(), arguments.format));
    }
    if let Some(rule) = rules().iter().find(|rule| rule.name == name) {
        return Ok(repairs::one(rule, arguments.format));
    }
    let near = Code::nearest(name);
    let advice = if near.is_empty() {
        "`callwright explain` lists all codes, `callwright explain --repairs` all rules".to_owned()
    } else {
        format!("did you mean `{}`?", near.join("`, `"))
    };
    bail!(
        "unknown code or rule `{}`; {advice}",
        crate::input::printable(name)
    );
}
