//! From refused to accepted, one edit at a time.
//!
//! The validator names the places, the rules propose edits there, in the order of their grade and cost,
//! and the validator is asked again after each. The cheapest edit that removes the objection stays. The
//! search is bounded and always takes the same way.

use smallvec::{SmallVec, smallvec};

use super::rules::{ProposedEdit, RULES, RepairRule, Site};
use super::{Edit, Grade, Healing, Stakes, Trace, Trial};
use crate::json::{Member, Path, Value};
use crate::validate::{CompiledSchema, LocatedIssue};
use crate::words::{Cause, Code, Failure, Issue, IssueCode, Received};

/// How many edits one call may need. Real ones need one to five; a list of numbers sent as texts needs
/// one for each.
const MOST_EDITS: usize = 64;

/// How much may be tried: the number of trials times the size of the value. Each trial copies and judges
/// the value, so a large one gets fewer; a call of 100 bytes gets all that it could need, one of a
/// megabyte four, and a larger one none.
const MOST_WORK: usize = 4 * 1024 * 1024;

/// How many objections are worked on in one step. With more of them than edits, only an edit of what is
/// around them can help, and the first ones ask for that as well as the last.
const MOST_ISSUES: usize = 4 * MOST_EDITS;

/// Looks for edits up to `cap`; each trial is noted in `trace`, if there is one.
pub(super) fn search(
    mut value: Value<'static>,
    schema: &CompiledSchema,
    cap: Grade,
    stakes: Stakes,
    trace: &mut Trace,
) -> Healing {
    let mut edits = Vec::new();
    let size = crate::json::size(&value);
    if size > MOST_WORK / 4 {
        return Healing::Hopeless;
    }
    let mut trials_left = (MOST_WORK / size.max(1)).min(1_000);
    while edits.len() < MOST_EDITS {
        let issues = issues(schema, &value);
        if issues.is_empty() {
            return Healing::Healed {
                arguments: value,
                edits,
            };
        }
        let rules = Allowed { cap, stakes };
        if is_hopeless(&value, &issues, schema, rules) {
            return Healing::Hopeless;
        }
        let mut trials = Trials {
            schema,
            rules,
            left: &mut trials_left,
            trace,
            halves: Some(Vec::new()),
        };
        let next = match trials.next_edit(&value, &issues) {
            SearchStep::None => trials.next_pair(&issues),
            step => step,
        };
        match next {
            SearchStep::Edits(better, more) => {
                value = better;
                edits.extend(more);
            }
            SearchStep::Ambiguous(path, first, second) => {
                let cause = Cause::TwoReadings {
                    path,
                    first,
                    second,
                };
                return Healing::Refused(Failure::new(Code::AmbiguousCall, cause).into());
            }
            SearchStep::None => return Healing::Hopeless,
        }
    }
    Healing::Hopeless
}

/// Whether some objection is one about which no rule has anything to say. Keys are left out: an edit of
/// one may settle the objection to another.
fn is_hopeless(
    root: &Value<'static>,
    issues: &[LocatedIssue],
    schema: &CompiledSchema,
    rules: Allowed,
) -> bool {
    let unknown_keys = issues
        .iter()
        .any(|located| located.issue.code == IssueCode::UnknownKey);
    issues.iter().take(MOST_ISSUES).any(|located| {
        let site = Site::new(located, root, schema);
        let stands_alone = match located.issue.code {
            IssueCode::UnknownKey => false,
            IssueCode::Required => !unknown_keys,
            _ => true,
        };
        stands_alone
            && !proposes(&site, rules)
            // Two objections to one value, such as its type and its allowed values, go together.
            && !issues.iter().any(|other| {
                let same_place = other.issue.path == located.issue.path;
                let site = Site::new(other, root, schema);
                same_place && proposes(&site, rules)
            })
    })
}

fn proposes(site: &Site<'_>, rules: Allowed) -> bool {
    let mut allowed = RULES.iter().filter(|rule| rules.allow(rule));
    allowed.any(|rule| (rule.propose)(site).is_some())
}

/// What the validator objects to; arguments that are not an object are always objected to.
fn issues(schema: &CompiledSchema, value: &Value<'_>) -> Vec<LocatedIssue> {
    let found = schema.located_issues(value);
    if found.is_empty() && !matches!(value, Value::Object(_)) {
        return vec![LocatedIssue {
            issue: Issue::not_an_object(Received::value(value)),
            owner: Path::root(),
        }];
    }
    found
}

enum SearchStep {
    Edits(Value<'static>, SmallVec<[Edit; 1]>),
    Ambiguous(Path, String, String),
    None,
}

/// The trials that one call may cost.
struct Trials<'t> {
    schema: &'t CompiledSchema,
    rules: Allowed,
    left: &'t mut usize,
    trace: &'t mut Trace,
    /// Lossless edits that did not help by themselves, while they are collected.
    halves: Option<Vec<Half>>,
}

/// A lossless edit after which there is still an objection to the place that was edited.
struct Half {
    value: Value<'static>,
    edit: Edit,
    /// What is objected to then.
    left: Vec<LocatedIssue>,
    /// Which objection it was tried for.
    tried_for: usize,
}

/// How many of them are remembered. Each holds a copy of the value, and real calls have one or two.
const MOST_HALVES: usize = 8;

impl Trials<'_> {
    /// The cheapest edit that removes an objection.
    fn next_edit(&mut self, value: &Value<'static>, issues: &[LocatedIssue]) -> SearchStep {
        for tier in tiers(self.rules) {
            for at in 0..issues.len().min(MOST_ISSUES) {
                match self.settle(value, issues, at, tier) {
                    SearchStep::None => {}
                    step => return step,
                }
            }
        }
        SearchStep::None
    }

    /// The edit of one tier that removes an objection, if all that do agree.
    fn settle(
        &mut self,
        value: &Value<'static>,
        issues: &[LocatedIssue],
        at: usize,
        tier: &'static [RepairRule],
    ) -> SearchStep {
        let Some(located) = issues.get(at) else {
            return SearchStep::None;
        };
        let site = Site::new(located, value, self.schema);
        let mut found: Option<(Value<'static>, Edit)> = None;
        let rules = self.rules;
        for rule in tier.iter().filter(|rule| rules.allow(rule)) {
            let Some((better, edit, after)) = self.attempt(value, rule, &site) else {
                continue;
            };
            let helps = improves(issues, located, &edit.path, &after);
            self.note(&edit, rule, helps);
            if !helps {
                self.remember_half(Half {
                    value: better,
                    edit,
                    left: after,
                    tried_for: at,
                });
                continue;
            }
            match &found {
                Some((other, first)) if *other != better => {
                    let (first, second) = (first.after.to_string(), edit.after.to_string());
                    return SearchStep::Ambiguous(edit.path, first, second);
                }
                Some(_) => {}
                None => found = Some((better, edit)),
            }
        }
        found.map_or(SearchStep::None, |(better, edit)| {
            SearchStep::Edits(better, smallvec![edit])
        })
    }

    fn remember_half(&mut self, half: Half) {
        let is_open = half
            .left
            .iter()
            .any(|left| left.issue.path == half.edit.path);
        if let Some(halves) = &mut self.halves
            && half.edit.grade == Grade::Lossless
            && is_open
            && halves.len() < MOST_HALVES
        {
            halves.push(half);
        }
    }

    /// Two lossless edits of one place that remove an objection together: `{"Limit": "5"}`, `["5"]` for a number. Each
    /// would be made if it were the only fault.
    fn next_pair(&mut self, issues: &[LocatedIssue]) -> SearchStep {
        self.rules.cap = Grade::Lossless;
        for half in self.halves.take().unwrap_or_default() {
            for tier in tiers(self.rules) {
                for at in 0..half.left.len().min(MOST_ISSUES) {
                    let at_place = half.left[at].issue.path == half.edit.path;
                    let Some(removed) = issues.get(half.tried_for).filter(|_| at_place) else {
                        continue;
                    };
                    let step = self.settle(&half.value, &half.left, at, tier);
                    let SearchStep::Edits(better, second) = step else {
                        continue;
                    };
                    let after = self::issues(self.schema, &better);
                    if improves(issues, removed, &half.edit.path, &after) {
                        let both = std::iter::once(half.edit).chain(second).collect();
                        return SearchStep::Edits(better, both);
                    }
                }
            }
        }
        SearchStep::None
    }

    /// What a rule makes of an objection, and what is objected to then.
    fn attempt(
        &mut self,
        value: &Value<'static>,
        rule: &RepairRule,
        site: &Site<'_>,
    ) -> Option<(Value<'static>, Edit, Vec<LocatedIssue>)> {
        let change = (rule.propose)(site)?;
        *self.left = self.left.checked_sub(1)?;
        let (better, edit) = apply(value, rule, change)?;
        let after = self::issues(self.schema, &better);
        Some((better, edit, after))
    }

    fn note(&mut self, edit: &Edit, rule: &RepairRule, helps: bool) {
        if let Some(trials) = &mut self.trace {
            trials.push(Trial {
                edit: edit.clone(),
                cost: rule.cost,
                helps,
            });
        }
    }
}

/// The rules that may be tried, those of one grade and cost together.
fn tiers(rules: Allowed) -> impl Iterator<Item = &'static [RepairRule]> {
    RULES
        .chunk_by(|left, right| (left.row.grade, left.cost) == (right.row.grade, right.cost))
        .filter(move |tier| tier.iter().all(|rule| rule.row.grade <= rules.cap))
}

/// Which rules may be tried on a call.
#[derive(Debug, Clone, Copy)]
struct Allowed {
    cap: Grade,
    stakes: Stakes,
}

impl Allowed {
    fn allow(self, rule: &RepairRule) -> bool {
        rule.row.grade <= self.cap && self.stakes <= rule.row.up_to
    }
}

/// Whether an edit removed the objection without raising others: what is new may only lie within the
/// place that was edited (a list that was text may have items to repair).
fn improves(
    before: &[LocatedIssue],
    removed: &LocatedIssue,
    at: &Path,
    after: &[LocatedIssue],
) -> bool {
    let same = |left: &LocatedIssue, right: &LocatedIssue| {
        left.issue.path == right.issue.path
            && left.issue.code == right.issue.code
            && left.issue.expected == right.issue.expected
    };
    let still_there = after.iter().any(|located| same(located, removed));
    let is_new = |located: &&LocatedIssue| !before.iter().any(|old| same(old, located));
    let only_inside = after
        .iter()
        .filter(is_new)
        .all(|located| at.contains(&located.issue.path) && located.issue.path != *at);
    !still_there && only_inside
}

fn apply(
    value: &Value<'static>,
    rule: &RepairRule,
    change: ProposedEdit,
) -> Option<(Value<'static>, Edit)> {
    fn members<'v>(
        value: &'v mut Value<'static>,
        of: &Path,
    ) -> Option<&'v mut Vec<Member<'static>>> {
        match value.at_mut(&of.parent())? {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }
    let mut better = value.clone();
    let (path, before, after) = match change {
        ProposedEdit::Replace(path, new) => {
            let old = std::mem::replace(better.at_mut(&path)?, new.clone());
            (path, old, new)
        }
        ProposedEdit::Insert(path, new) => {
            let key = path.last()?.into_owned().into();
            members(&mut better, &path)?.push((key, new.clone()));
            (path, Value::Null, new)
        }
        ProposedEdit::Remove(path) => {
            let (members, key) = (members(&mut better, &path)?, path.last()?);
            let at = members.iter().position(|(name, _)| *name == key)?;
            let (_, old) = members.remove(at);
            (path, old, Value::Null)
        }
        ProposedEdit::Unwrap(path) => {
            let place = better.at_mut(&path)?;
            let old = std::mem::replace(place, Value::Null);
            *place = old.as_array()?.first()?.clone();
            let only = place.clone();
            (path, old, only)
        }
        ProposedEdit::Rename(path, to) => {
            let (members, from) = (members(&mut better, &path)?, path.last()?.into_owned());
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
        rule: rule.row.name,
        grade: rule.row.grade,
        before,
        after,
        masked: None,
    };
    Some((better, edit))
}
