//! Shared by the text and page templates: the fields of the [`View`], and the filters that put them into words.
//!
//! Texts from a log are made printable when they are written, so a template cannot forget it.

use callwright::internal::visible;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, Output, State, UndefinedBehavior, Value, context};
use serde::Serialize;

use super::next::WrittenFiles;
use super::printable::cut;
use super::view::{LoopView, TroublePlace, View};
use super::{date, next, phrase};
use crate::number::{about, bytes, conversations, count, duration, percent, thousands};

/// How many clusters, tools, models, proposals, changed verdicts and pieces of advice are shown; the rest are
/// counted. On the page a cluster takes about six kilobytes.
pub(super) const ROWS: usize = 500;

/// What every template may show.
pub(super) fn content(view: &View<'_>, written: WrittenFiles<'_>) -> Value {
    let sum = |part: fn(&LoopView<'_>) -> u64| {
        let parts = view.loops.iter().map(part);
        parts.fold(0, u64::saturating_add)
    };
    context! {
        sentences => &view.sentences,
        compared => view.compared,
        changes => rows(&view.changes),
        all_changes => view.changes.len(),
        read => Serde(&view.read),
        // As people write places: `file:line`.
        troubles => view.read.troubles.iter().map(|trouble| context! {
            what => trouble.what,
            records => trouble.records,
            places => trouble.places.iter().map(TroublePlace::shown).collect::<Vec<_>>(),
        }).collect::<Vec<_>>(),
        unread => view.read.unread(),
        calls => Serde(&view.calls),
        tools => rows(&view.tools),
        all_tools => view.tools.len(),
        models => rows(&view.models),
        all_models => view.models.len(),
        clusters => rows(&view.clusters),
        all_clusters => view.clusters.len(),
        proposals => rows(&view.proposals),
        all_proposals => view.proposals.len(),
        steps => Serde(next::steps(view, written)),
        loops => Serde(&view.loops),
        loops_latency => sum(|it| it.latency_us),
        loops_bytes => sum(|it| it.result_bytes),
        repairs => Serde(&view.repairs),
        all_repairs => view.repairs.sum(),
        advice => rows(view.advice),
        all_advice => view.advice.len(),
        shown => ROWS,
    }
}

fn rows<T: Serialize>(all: &[T]) -> Value {
    Value::from(Serde(&all[..all.len().min(ROWS)]))
}

/// A template with the filters shared by all of them.
pub(super) fn environment(
    template: &'static str,
    escape: AutoEscape,
) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::empty();
    environment.set_auto_escape_callback(move |_| escape.clone());
    environment.set_formatter(print);
    // A misspelt name fails every test instead of leaving a gap.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let mut syntax = SyntaxConfig::builder();
    let syntax = syntax.trim_blocks(true).lstrip_blocks(true).build()?;
    environment.set_syntax(syntax);
    environment.add_filter("about", about);
    environment.add_filter("bytes", bytes);
    environment.add_filter("conversations", conversations);
    environment.add_filter("count", count);
    environment.add_filter("cut", cut);
    environment.add_filter("duration", duration);
    environment.add_filter("minute", date::to_the_minute);
    environment.add_filter("percent", percent);
    environment.add_filter("thousands", thousands);
    environment.add_filter("issue", phrase::issue);
    environment.add_filter("objection", phrase::objection);
    environment.add_filter("stopped", phrase::stopped);
    environment.add_filter("direction", phrase::direction);
    environment.add_filter("change_kind", phrase::change);
    environment.add_filter("words", |name: &str| name.replace('_', " "));
    environment.add_filter("length", |list: Value| list.len());
    // How many there are besides those shown.
    environment.add_filter("beyond", |all: u64, shown: u64, more: Option<u64>| {
        (all.saturating_sub(shown)).saturating_add(more.unwrap_or_default())
    });
    environment.add_template("report", template)?;
    Ok(environment)
}

/// Writes a value: output of a template or a filter as it is, everything else with invisible characters escaped.
fn print(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let printable = match value.as_str() {
        Some(text) if !value.is_safe() => &Value::from(visible(text)),
        _ => value,
    };
    match state.auto_escape() {
        AutoEscape::Custom(_) => Ok(out.write_str(&printable.to_string())?),
        _ => minijinja::escape_formatter(out, state, printable),
    }
}
