//! Clusters as cards.

use serde::Serialize;

use crate::decide::Kind;
use crate::summary::{Examples, LedTo};

use super::super::number::{about, percent, share, thousands};
use super::super::printable::cut;
use super::super::ranking::{self, Ranked};
use super::super::window::Window;
use super::super::{date, phrase};
use super::chart;
use super::spans::{Span, spans};
use super::view::LONGEST;

/// How much of an example's value is shown.
const VALUE: usize = 600;

/// How many models, rules and values are named; the rest is counted.
const NAMED: usize = 6;

#[derive(Serialize)]
pub(super) struct Card {
    number: usize,
    /// `edge_case`, `unclear` or `bug`.
    kind: &'static str,
    kind_word: &'static str,
    why: &'static str,
    tool: String,
    side: &'static str,
    path: String,
    code: String,
    issue: String,
    shape: String,
    calls_number: u64,
    calls: String,
    share: String,
    share_of: &'static str,
    first: String,
    last: String,
    last_number: i64,
    sessions: String,
    alone: String,
    repaired: String,
    models: Named,
    rules: Named,
    values: Named,
    range: String,
    /// The path of a small chart, and its width.
    time: Option<(String, i64)>,
    led_to: Vec<Outcomes>,
    score_number: i32,
    score: String,
    reasons: Vec<(String, &'static str, Vec<Span>)>,
    proposals: Vec<usize>,
    examples: Vec<Sample>,
}

/// Some names with their counts, and how many more there are.
#[derive(Serialize)]
pub(super) struct Named {
    shown: Vec<(String, String)>,
    more: String,
}

/// One bar of outcomes that exclude each other.
#[derive(Serialize)]
struct Outcomes {
    what: &'static str,
    parts: Vec<Outcome>,
}

#[derive(Serialize)]
struct Outcome {
    /// The name of a colour.
    class: &'static str,
    what: &'static str,
    calls: String,
    percent: String,
    /// Where the part begins and how long it is, between 0 and 100.
    from: f64,
    length: f64,
}

/// One call.
#[derive(Serialize)]
pub(super) struct Sample {
    value: String,
    whole: bool,
    place: String,
    time: String,
    session: String,
    model: String,
}

/// How many clusters there are of each kind.
#[derive(Serialize, Default)]
pub(super) struct Kinds {
    all: usize,
    edge_case: usize,
    unclear: usize,
    bug: usize,
}

impl Kinds {
    pub(super) fn of(ranked: &[Ranked<'_>]) -> Self {
        let mut kinds = Kinds::default();
        for cluster in ranked {
            kinds.all += 1;
            match cluster.kind() {
                Kind::EdgeCase => kinds.edge_case += 1,
                Kind::Unclear => kinds.unclear += 1,
                Kind::Bug => kinds.bug += 1,
            }
        }
        kinds
    }
}

/// The name of a kind in the style and the script.
pub(super) fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::EdgeCase => "edge_case",
        Kind::Unclear => "unclear",
        Kind::Bug => "bug",
    }
}

pub(super) fn card(ranked: &Ranked<'_>, window: Option<Window>) -> Card {
    let Ranked { key, cluster, .. } = ranked;
    let judgement = ranked.judgement;
    let score_number = judgement.map_or(0, |judgement| judgement.score);
    let time = |time: Option<i64>| time.map_or_else(|| "unknown".to_owned(), date::to_the_minute);
    Card {
        number: ranked.number,
        kind: class(ranked.kind()),
        kind_word: phrase::kind(ranked.kind()),
        why: match ranked.kind() {
            Kind::EdgeCase => "Why it looks like an edge case",
            Kind::Unclear => "Why it is unclear",
            Kind::Bug => "Why it looks like a bug",
        },
        tool: cut(&key.tool, LONGEST),
        side: phrase::side(key.side),
        path: cut(&key.path, LONGEST),
        code: cut(&key.issue, LONGEST),
        issue: phrase::issue(&key.issue),
        shape: cut(&key.shape, LONGEST),
        calls_number: cluster.calls,
        calls: thousands(cluster.calls),
        share: percent(cluster.calls, ranked.of),
        share_of: match key.side {
            crate::summary::Side::Input => "of its calls",
            crate::summary::Side::Output => "of its results",
        },
        first: time(cluster.first),
        last: time(cluster.last),
        last_number: cluster.last.unwrap_or(i64::MIN),
        sessions: about(cluster.sessions.count()),
        alone: format!(
            "{} ({})",
            thousands(cluster.alone),
            percent(cluster.alone, cluster.calls)
        ),
        repaired: format!(
            "{} ({})",
            thousands(cluster.repaired),
            percent(cluster.repaired, cluster.calls)
        ),
        models: named(cluster.models.iter(), cluster.models.dropped()),
        rules: named(cluster.rules.iter(), 0),
        values: named(cluster.values.iter(), cluster.values.dropped()),
        range: range(cluster.smallest, cluster.largest),
        time: chart::small(&cluster.time, window),
        led_to: led_to(cluster.led_to),
        score_number,
        score: signed(score_number),
        reasons: judgement
            .iter()
            .flat_map(|judgement| &judgement.reasons)
            .map(|reason| {
                let direction = match reason.points {
                    1.. => "for",
                    0 => "neither",
                    _ => "against",
                };
                (signed(reason.points), direction, spans(&reason.why, 400))
            })
            .collect(),
        proposals: ranked.proposals.clone(),
        examples: samples(&cluster.examples),
    }
}

fn range(smallest: Option<f64>, largest: Option<f64>) -> String {
    match (smallest, largest) {
        #[expect(clippy::float_cmp, reason = "the same number")]
        (Some(smallest), Some(largest)) if smallest == largest => smallest.to_string(),
        (Some(smallest), Some(largest)) => format!("{smallest} to {largest}"),
        _ => String::new(),
    }
}

/// With a sign that is as wide as a digit.
fn signed(points: i32) -> String {
    match points {
        1.. => format!("+{points}"),
        0 => "0".to_owned(),
        _ => format!("−{}", points.unsigned_abs()),
    }
}

fn named<'m>(map: impl Iterator<Item = (&'m String, &'m u64)>, dropped: u64) -> Named {
    let all = ranking::most(map);
    let more = (all.len().saturating_sub(NAMED) as u64).saturating_add(dropped);
    Named {
        shown: all
            .into_iter()
            .take(NAMED)
            .map(|(name, count)| (cut(name, LONGEST), thousands(count)))
            .collect(),
        more: if more == 0 {
            String::new()
        } else {
            format!("{} more", thousands(more))
        },
    }
}

fn led_to(led_to: LedTo) -> Vec<Outcomes> {
    let bars = [
        (
            "The tool",
            [
                ("good", "ran fine anyway", led_to.ran_fine),
                ("bad", "refused", led_to.tool_refused),
                ("none", "result unknown", led_to.unknown),
            ],
        ),
        (
            "Then the model",
            [
                ("good", "corrected it", led_to.corrected),
                ("bad", "repeated it", led_to.repeated),
                ("none", "gave up", led_to.gave_up),
            ],
        ),
    ];
    bars.into_iter()
        .filter_map(|(what, parts)| outcomes(what, parts))
        .collect()
}

fn outcomes(what: &'static str, parts: [(&'static str, &'static str, u64); 3]) -> Option<Outcomes> {
    let all = parts
        .iter()
        .fold(0u64, |sum, (_, _, calls)| sum.saturating_add(*calls));
    if all == 0 {
        return None;
    }
    let mut from = 0.0;
    let parts = parts
        .into_iter()
        .filter(|(_, _, calls)| *calls > 0)
        .map(|(class, what, calls)| {
            let length = (10_000.0 * share(calls, all)).round() / 100.0;
            let start = from;
            from += length;
            Outcome {
                class,
                what,
                calls: thousands(calls),
                percent: percent(calls, all),
                from: start,
                length,
            }
        })
        .collect();
    Some(Outcomes { what, parts })
}

pub(super) fn samples(examples: &Examples) -> Vec<Sample> {
    let text = |text: &Option<String>| {
        text.as_deref()
            .map_or_else(String::new, |text| cut(text, LONGEST))
    };
    examples
        .iter()
        .map(|example| {
            let value = cut(&example.value, VALUE);
            Sample {
                whole: example.whole && !value.ends_with('…'),
                value,
                place: cut(&example.place, LONGEST),
                time: example.time.map_or_else(String::new, date::to_the_minute),
                session: text(&example.session),
                model: text(&example.model),
            }
        })
        .collect()
}
