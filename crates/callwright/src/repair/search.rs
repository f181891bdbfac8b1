//! From refused to accepted, one edit at a time.
//!
//! The validator names the places, the rules propose edits there, in the order of their grade and cost,
//! and the validator is asked again after each. The cheapest edit that removes the objection stays. The
//! search is bounded and always takes the same way.

use ahash::AHashSet;
use smallvec::{SmallVec, smallvec};

use super::rules::{ProposedEdit, RULES, RepairRule, Scope, Site};
use super::{Edit, Grade, Healing, Stakes, Trace, Trial};
use crate::json::{Indexed, Member, Path, Value};
use crate::validate::{CompiledSchema, LocatedIssue};
use crate::words::{Cause, Code, Failure, Issue, IssueCode, Received, Work};

/// How many edits one call may need. Real ones need one to five; a list of numbers sent as texts needs
/// one for each.
const MOST_EDITS: usize = 64;

/// How many objections are worked on in one step. With more of them than edits, only an edit of what is
/// around them can help, and the first ones ask for that as well as the last.
const MOST_ISSUES: usize = 4 * MOST_EDITS;

/// What it costs in steps to copy or to judge one value inside of another, and a few bytes of text; to explain one
/// objection; and to ask one rule about one.
const PER_VALUE: usize = 100;
const BYTES_PER_STEP: usize = 4;
const PER_ISSUE: usize = 1_500;
const PER_RULE: usize = 50;

/// Looks for edits up to `cap`, as long as there is work left; each trial is noted in `trace`, if there is one.
pub(super) fn search(
    mut value: Value<'static>,
    schema: &CompiledSchema,
    cap: Grade,
    stakes: Stakes,
    work: &Work,
    trace: &mut Trace,
) -> Healing {
    let scope = Scope::new(schema, work);
    let mut edits = Vec::new();
    let Some(mut issues) = issues(&scope, &value) else {
        return Healing::Hopeless;
    };
    // How many objections there were when each was one that a rule has something to say about.
    let mut hopeful = 0;
    while edits.len() < MOST_EDITS {
        if issues.is_empty() {
            return Healing::Healed {
                arguments: value,
                edits,
            };
        }
        let rules = Allowed { cap, stakes };
        let places = Indexed::new(&value);
        let sites = issues.iter().take(MOST_ISSUES);
        let sites: Vec<Site<'_, '_>> = sites
            .map(|located| Site::new(located, &value, &places, &scope))
            .collect();
        if issues.len() >= hopeful && is_hopeless(&sites, &scope, rules) {
            return Healing::Hopeless;
        }
        hopeful = issues.len();
        let mut trials = Trials {
            scope: &scope,
            rules,
            trace,
            halves: Some(Vec::new()),
        };
        let next = match trials.next_edit(&value, &sites, &issues) {
            SearchStep::None => trials.next_pair(&issues),
            step => step,
        };
        match next {
            SearchStep::Edits(better, more, after) => {
                (value, issues) = (better, after);
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
/// one may settle the objection to another. Two objections to one value, such as its type and its allowed values, go
/// together.
fn is_hopeless(sites: &[Site<'_, '_>], scope: &Scope<'_>, rules: Allowed) -> bool {
    let unknown_keys = sites
        .iter()
        .any(|site| site.located.issue.code == IssueCode::UnknownKey);
    let may_wait = |site: &&Site<'_, '_>| match site.located.issue.code {
        IssueCode::UnknownKey => true,
        IssueCode::Required => unknown_keys,
        _ => false,
    };
    let speaks =
        |site: &Site<'_, '_>| scope.work.take(PER_RULE * RULES.len()) && proposes(site, rules);
    let (mut silent, mut spoken) = (AHashSet::new(), AHashSet::new());
    for site in sites.iter().filter(|site| !may_wait(site)) {
        let path = &site.located.issue.path;
        if !spoken.contains(path) && speaks(site) {
            silent.remove(path);
            spoken.insert(path);
        } else if !spoken.contains(path) {
            silent.insert(path);
        }
    }
    for site in sites.iter().filter(may_wait) {
        if silent.contains(&site.located.issue.path) && speaks(site) {
            silent.remove(&site.located.issue.path);
        }
    }
    !silent.is_empty()
}

fn proposes(site: &Site<'_, '_>, rules: Allowed) -> bool {
    let mut allowed = RULES.iter().filter(|rule| rules.allow(rule));
    allowed.any(|rule| (rule.propose)(site).is_some())
}

/// What the validator objects to; arguments that are not an object are always objected to. Nothing, if there is no work
/// left to ask it.
fn issues(scope: &Scope<'_>, value: &Value<'_>) -> Option<Vec<LocatedIssue>> {
    scope.work.take(weight(value)).then_some(())?;
    let found = scope.schema.located_issues(value);
    if found.is_empty() && !matches!(value, Value::Object(_)) {
        return Some(vec![LocatedIssue {
            issue: Issue::not_an_object(Received::value(value)),
            owner: Path::root(),
        }]);
    }
    scope.work.take(found.len() * PER_ISSUE).then_some(found)
}

/// How many steps it takes to copy a value, and to judge it.
fn weight(value: &Value<'_>) -> usize {
    let inside = match value {
        Value::String(text) => text.len() / BYTES_PER_STEP,
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(_, inner)| weight(inner)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    PER_VALUE + inside
}

enum SearchStep {
    /// The value with these edits, and what is objected to then.
    Edits(Value<'static>, SmallVec<[Edit; 1]>, Vec<LocatedIssue>),
    Ambiguous(Path, String, String),
    None,
}

/// The trials of one step.
struct Trials<'t, 'c> {
    scope: &'t Scope<'c>,
    rules: Allowed,
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

impl Trials<'_, '_> {
    /// The cheapest edit that removes an objection.
    fn next_edit(
        &mut self,
        value: &Value<'static>,
        sites: &[Site<'_, '_>],
        issues: &[LocatedIssue],
    ) -> SearchStep {
        for tier in tiers(self.rules) {
            for (at, site) in sites.iter().enumerate() {
                match self.settle(value, site, issues, at, tier) {
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
        site: &Site<'_, '_>,
        issues: &[LocatedIssue],
        at: usize,
        tier: &'static [RepairRule],
    ) -> SearchStep {
        if !self.scope.work.take(PER_RULE * tier.len()) {
            return SearchStep::None;
        }
        let mut found: Option<(Value<'static>, Edit, Vec<LocatedIssue>)> = None;
        let rules = self.rules;
        for rule in tier.iter().filter(|rule| rules.allow(rule)) {
            let Some((better, edit, after)) = self.attempt(value, rule, site) else {
                continue;
            };
            let helps = improves(issues, site.located, &edit.path, &after);
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
                Some((other, first, _)) if *other != better => {
                    let (first, second) = (first.after.to_string(), edit.after.to_string());
                    return SearchStep::Ambiguous(edit.path, first, second);
                }
                Some(_) => {}
                None => found = Some((better, edit, after)),
            }
        }
        // Without work another edit that differs may have gone untried.
        match found.filter(|_| self.scope.work.left() > 0) {
            Some((better, edit, after)) => SearchStep::Edits(better, smallvec![edit], after),
            None => SearchStep::None,
        }
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
            let places = Indexed::new(&half.value);
            for tier in tiers(self.rules) {
                for (at, located) in half.left.iter().enumerate().take(MOST_ISSUES) {
                    let at_place = located.issue.path == half.edit.path;
                    let Some(removed) = issues.get(half.tried_for).filter(|_| at_place) else {
                        continue;
                    };
                    let site = Site::new(located, &half.value, &places, self.scope);
                    let step = self.settle(&half.value, &site, &half.left, at, tier);
                    let SearchStep::Edits(better, second, after) = step else {
                        continue;
                    };
                    if improves(issues, removed, &half.edit.path, &after) {
                        let both = std::iter::once(half.edit).chain(second).collect();
                        return SearchStep::Edits(better, both, after);
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
        site: &Site<'_, '_>,
    ) -> Option<(Value<'static>, Edit, Vec<LocatedIssue>)> {
        // Before anything is copied: once the work is done for, the other objections must not cost a copy each.
        let change = (rule.propose)(site).filter(|_| self.scope.work.take(weight(value)))?;
        let (better, edit) = apply(value, rule, change)?;
        let after = issues(self.scope, &better)?;
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
    let is_inside = |path: &Path| at.contains(path) && path != at;
    let mut outside = after.iter().filter(|it| !is_inside(&it.issue.path));
    // Both lists are in the order of the engine, so what is old is found where the last one was.
    let mut old = before.iter().cycle();
    !after.iter().any(|located| same(located, removed))
        && outside.all(|located| {
            old.by_ref()
                .take(before.len())
                .any(|old| same(old, located))
        })
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

#[cfg(test)]
mod tests {
    use serde_json::{Value as Schema, json};

    use super::super::SEARCHING;
    use super::*;

    /// The verdict on arguments of a tool that reads, how many edits were tried, and how many steps that took.
    fn cost(schema: &Schema, arguments: &Schema) -> (bool, usize, usize) {
        let schema = CompiledSchema::compile(schema.clone()).expect("a schema");
        let (work, mut trace) = (Work::new(SEARCHING), Some(Vec::new()));
        let value = Value::from(arguments).into_owned();
        let healing = search(
            value,
            &schema,
            Grade::Guess,
            Stakes::Reads,
            &work,
            &mut trace,
        );
        let is_healed = matches!(healing, Healing::Healed { .. });
        let trials = trace.map_or(0, |trials| trials.len());
        (is_healed, trials, SEARCHING - work.left())
    }

    fn object(count: usize, key: impl Fn(usize) -> String, value: &Schema) -> Schema {
        (0..count).map(|at| (key(at), value.clone())).collect()
    }

    fn closed(count: usize, key: fn(usize) -> String) -> Schema {
        let properties = object(count, key, &json!({"type": "integer"}));
        json!({"properties": properties, "additionalProperties": false})
    }

    #[test]
    fn what_is_repaired_takes_a_fraction_of_the_budget() {
        let values: Vec<String> = (0..10_000).map(|at| format!("value_{at}_name")).collect();
        let mut values = values.clone();
        values.push("delivered".to_owned());
        let schema = json!({"properties": {"status": {"enum": values}}});
        let (is_healed, _, steps) = cost(&schema, &json!({"status": "delivred"}));
        assert!(is_healed && steps < SEARCHING / 3 * 2, "{steps}");

        let numbers: Vec<String> = (0..60).map(|at| at.to_string()).collect();
        let schema = json!({"properties": {"n": {"items": {"type": "integer"}}}});
        let (is_healed, trials, steps) = cost(&schema, &json!({"n": numbers}));
        assert!(is_healed && trials == 60 && steps < SEARCHING, "{steps}");
    }

    /// 2.6 kB of such arguments once took six seconds.
    #[test]
    fn unknown_keys_end_with_the_budget() {
        for count in [64, 200, 2_000] {
            let schema = closed(count, |at| format!("some_{at}_field"));
            let sent = object(count, |at| format!("sone_{at}_feild"), &json!("x"));
            let (is_healed, trials, _) = cost(&schema, &sent);
            assert!(!is_healed && trials <= 64, "{count}: {trials}");
        }
    }

    #[test]
    fn respelt_keys_end_with_the_budget() {
        for (count, healed) in [(20, true), (200, false), (4_000, false)] {
            let schema = closed(count, |at| format!("some_{}_field", letters(at)));
            let sent = object(count, |at| format!("some_{}Field", letters(at)), &json!(1));
            let (is_healed, trials, _) = cost(&schema, &sent);
            assert!(is_healed == healed && trials <= 64, "{count}: {trials}");
        }
    }

    /// Digits may be all that tells two names apart.
    fn letters(number: usize) -> String {
        let digits = number.to_string();
        let letter = |digit: u8| char::from(b'a' + digit - b'0');
        digits.bytes().map(letter).collect()
    }

    /// Steps grow with what was sent, not with its square.
    #[test]
    fn steps_grow_with_the_arguments() {
        let missing = |count: usize| {
            let mut schema = closed(count, |at| format!("some_{at}_field"));
            schema["required"] = (0..count).map(|at| format!("some_{at}_field")).collect();
            cost(&schema, &json!({"note": "x"})).2
        };
        let items = |count: usize| {
            let schema = json!({"properties": {"n": {"items": {"type": "integer"}}}});
            cost(&schema, &json!({"n": vec!["x"; count]})).2
        };
        for (name, steps) in [
            ("missing", &missing as &dyn Fn(usize) -> usize),
            ("items", &items),
        ] {
            let (small, large) = (steps(60), steps(240));
            assert!(large < 5 * small, "{name}: {small} {large}");
        }
    }
}
