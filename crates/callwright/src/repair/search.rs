//! From refused to accepted, one edit at a time.
//!
//! The validator names the places, the rules propose edits there, in the order of their grade and cost,
//! and the validator is asked again after each. The cheapest edit that removes the objection stays. The
//! search is bounded and always takes the same way.

use super::rules::{Change, RULES, Rule, Site};
use super::{Edit, Grade, Healing, Trace, Trial};
use crate::json::{Path, Value};
use crate::validate::{CompiledSchema, Finding, IssueCode};

/// How many edits one call may need. Real ones need one to five; a list of numbers sent as texts needs
/// one for each.
const MOST_EDITS: usize = 64;

/// How much may be tried: the number of trials times the size of the value. Each trial copies and judges
/// the value, so a large one gets fewer; a call of 100 bytes gets all that it could need, one of a
/// megabyte four, and a larger one none.
const MOST_WORK: usize = 4 * 1024 * 1024;

/// How many objections are worked on in one step. With more of them than edits, only an edit of what is
/// around them can help, and the first ones ask for that as well as the last.
const MOST_FINDINGS: usize = 4 * MOST_EDITS;

/// Looks for edits up to `cap`; each trial is noted in `trace`, if there is one.
pub(super) fn search(
    mut value: Value<'static>,
    schema: &CompiledSchema,
    cap: Grade,
    trace: &mut Trace,
) -> Healing {
    let mut edits = Vec::new();
    let size = crate::parse::size(&value);
    if size > MOST_WORK / 4 {
        return Healing::Hopeless;
    }
    let mut trials_left = (MOST_WORK / size.max(1)).min(1_000);
    while edits.len() < MOST_EDITS {
        let findings = findings(schema, &value);
        if findings.is_empty() {
            return Healing::Healed {
                arguments: value,
                edits,
            };
        }
        if is_hopeless(&value, &findings, schema, cap) {
            return Healing::Hopeless;
        }
        match next_edit(&value, &findings, schema, cap, &mut trials_left, trace) {
            Step::Edit(better, edit) => {
                value = better;
                edits.push(edit);
            }
            Step::Ambiguous(path, first, second) => {
                return Healing::Ambiguous {
                    path,
                    first,
                    second,
                };
            }
            Step::None => return Healing::Hopeless,
        }
    }
    Healing::Hopeless
}

/// Whether some objection is one about which no rule has anything to say. Keys are left out: an edit of
/// one may settle the objection to another.
fn is_hopeless(
    root: &Value<'static>,
    findings: &[Finding],
    schema: &CompiledSchema,
    cap: Grade,
) -> bool {
    let unknown_keys = findings
        .iter()
        .any(|finding| finding.issue.code == IssueCode::UnknownKey);
    findings.iter().take(MOST_FINDINGS).any(|finding| {
        let site = Site::new(finding, root, schema);
        let stands_alone = match finding.issue.code {
            IssueCode::UnknownKey => false,
            IssueCode::Required => !unknown_keys,
            _ => true,
        };
        stands_alone
            && !proposes(&site, cap)
            // Two objections to one value, such as its type and its allowed values, go together.
            && !findings.iter().any(|other| {
                let same_place = other.issue.path == finding.issue.path;
                let site = Site::new(other, root, schema);
                same_place && proposes(&site, cap)
            })
    })
}

fn proposes(site: &Site<'_>, cap: Grade) -> bool {
    let allowed = RULES.iter().filter(|rule| rule.grade <= cap);
    allowed
        .into_iter()
        .any(|rule| (rule.propose)(site).is_some())
}

/// What the validator objects to; arguments that are no object are always objected to.
fn findings(schema: &CompiledSchema, value: &Value<'_>) -> Vec<Finding> {
    let found = schema.findings(value);
    if found.is_empty() && !matches!(value, Value::Object(_)) {
        return vec![Finding::not_an_object(value)];
    }
    found
}

enum Step {
    Edit(Value<'static>, Edit),
    Ambiguous(Path, String, String),
    None,
}

fn next_edit(
    value: &Value<'static>,
    findings: &[Finding],
    schema: &CompiledSchema,
    cap: Grade,
    trials_left: &mut usize,
    trace: &mut Trace,
) -> Step {
    for rule_tier in tiers(cap) {
        for finding in findings.iter().take(MOST_FINDINGS) {
            let site = Site::new(finding, value, schema);
            let mut found: Option<(Value<'static>, Edit)> = None;
            for rule in rule_tier {
                let Some(change) = (rule.propose)(&site) else {
                    continue;
                };
                if *trials_left == 0 {
                    return Step::None;
                }
                *trials_left -= 1;
                let Some((better, edit)) = apply(value, rule, change) else {
                    continue;
                };
                let after = self::findings(schema, &better);
                let helps = improves(findings, finding, &edit.path, &after);
                if let Some(trials) = trace {
                    trials.push(Trial {
                        edit: edit.clone(),
                        cost: rule.cost,
                        helps,
                    });
                }
                if !helps {
                    continue;
                }
                match &found {
                    Some((other, first)) if *other != better => {
                        return Step::Ambiguous(
                            edit.path,
                            first.after.to_string(),
                            edit.after.to_string(),
                        );
                    }
                    Some(_) => {}
                    None => found = Some((better, edit)),
                }
            }
            if let Some((better, edit)) = found {
                return Step::Edit(better, edit);
            }
        }
    }
    Step::None
}

/// The rules up to a grade, those of one grade and cost together.
fn tiers(cap: Grade) -> impl Iterator<Item = &'static [Rule]> {
    RULES
        .chunk_by(|left, right| (left.grade, left.cost) == (right.grade, right.cost))
        .filter(move |tier| tier.iter().all(|rule| rule.grade <= cap))
}

/// Whether an edit removed the objection without raising others: what is new may only lie within the
/// place that was edited (a list that was text may have items to repair).
fn improves(before: &[Finding], removed: &Finding, at: &Path, after: &[Finding]) -> bool {
    let same = |left: &Finding, right: &Finding| {
        left.issue.path == right.issue.path
            && left.issue.code == right.issue.code
            && left.issue.expected == right.issue.expected
    };
    let still_there = after.iter().any(|finding| same(finding, removed));
    let is_new = |finding: &&Finding| !before.iter().any(|old| same(old, finding));
    let only_inside = after
        .iter()
        .filter(is_new)
        .all(|finding| at.contains(&finding.issue.path) && finding.issue.path != *at);
    !still_there && only_inside
}

fn apply(value: &Value<'static>, rule: &Rule, change: Change) -> Option<(Value<'static>, Edit)> {
    let mut better = value.clone();
    let (path, before, after) = match change {
        Change::Replace(path, new) => {
            let place = better.at_mut(&path)?;
            let old = std::mem::replace(place, new.clone());
            (path, old, new)
        }
        Change::Insert(path, new) => {
            let Value::Object(members) = better.at_mut(&path.parent())? else {
                return None;
            };
            members.push((path.last()?.into_owned().into(), new.clone()));
            (path, Value::Null, new)
        }
        Change::Remove(path) => {
            let Value::Object(members) = better.at_mut(&path.parent())? else {
                return None;
            };
            let key = path.last()?.into_owned();
            let at = members.iter().position(|(name, _)| *name == key)?;
            let (_, old) = members.remove(at);
            (path, old, Value::Null)
        }
        Change::Unwrap(path) => {
            let place = better.at_mut(&path)?;
            let old = std::mem::replace(place, Value::Null);
            let only = match &old {
                Value::Array(items) => items.first()?.clone(),
                _ => return None,
            };
            *place = only.clone();
            (path, old, only)
        }
        Change::Rename(path, to) => {
            let Value::Object(members) = better.at_mut(&path.parent())? else {
                return None;
            };
            let from = path.last()?.into_owned();
            if members.iter().any(|(name, _)| *name == to) {
                return None;
            }
            let member = members.iter_mut().find(|(name, _)| *name == from)?;
            member.0 = to.clone().into();
            let to_path = path.parent().key(&to);
            let names = (Value::String(from.into()), Value::String(to.into()));
            (to_path, names.0, names.1)
        }
    };
    let edit = Edit {
        path,
        rule: rule.name,
        grade: rule.grade,
        before,
        after,
        masked: None,
    };
    Some((better, edit))
}
