//! Looks up the names that callers of all languages use. An unknown name is an error that lists the known ones.

use callwright::check::FindingKind;
use callwright::event::Values;
use callwright::failure::Next;
use callwright::feedback::Style;
use callwright::repair::RepairPolicy;
use callwright::tool::Effect;
use callwright::wire::Provider;

use crate::Fault;

/// A provider: `openai_chat`, `openai_responses`, `anthropic`, `gemini`, `mcp`.
///
/// # Errors
/// Fails if the provider is unknown.
pub fn provider(name: &str) -> Result<Provider, Fault> {
    named("provider", name, &Provider::ALL)
}

/// A feedback style: `instruction`, `numbered`, `json`, `tool_error`.
///
/// # Errors
/// Fails if the style is unknown.
pub fn style(name: &str) -> Result<Style, Fault> {
    named("style", name, &Style::ALL)
}

/// The highest grade of repair: `none`, `lossless`, `lossy`, `guess`, or `by_effect`.
///
/// # Errors
/// Fails if the grade is unknown.
pub fn repair(name: &str) -> Result<RepairPolicy, Fault> {
    named("grade of repair", name, &RepairPolicy::ALL)
}

/// What a tool does to the world: `unknown`, `read`, `write`, `destructive`.
///
/// # Errors
/// Fails if the effect is unknown.
pub fn effect(name: &str) -> Result<Effect, Fault> {
    named("effect", name, &Effect::ALL)
}

/// Which values events show: `all`, `masked`, `none`.
///
/// # Errors
/// Fails if the choice is unknown.
pub fn values(name: &str) -> Result<Values, Fault> {
    named("choice of values", name, &Values::ALL)
}

/// What is wrong with a result: `schema_mismatch`, `partial_data`, `semantic_garbage`.
///
/// # Errors
/// Fails if the class is unknown.
pub(crate) fn finding(class: &str) -> Result<FindingKind, Fault> {
    named("class of finding", class, &FindingKind::ALL)
}

/// What the model should do next: `fix_arguments`, `ask_user`, …
///
/// # Errors
/// Fails if the next step is unknown.
pub fn next(name: &str) -> Result<Next, Fault> {
    named("next step", name, &Next::ALL)
}

fn named<T: Copy>(what: &str, name: &str, known: &[(&str, T)]) -> Result<T, Fault> {
    let found = known.iter().find(|(known, _)| *known == name);
    let found = found.map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        format!("unknown {what} `{name}`; known are {}", known.join(", "))
    })
}
