//! From refused to accepted, one edit at a time.
//!
//! Takes a value and the validator's objections; the rules propose edits at those places, in the order of their grade and cost,
//! and the validator is asked again after each. The cheapest edit that removes the objection is kept. The search is bounded and
//! deterministic.

mod allowed;
mod apply;
mod progress;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use ahash::{AHashMap, AHashSet};
use smallvec::{SmallVec, smallvec};

use self::allowed::tiers;
pub(super) use self::allowed::{Allowed, depend_on_stakes};
use self::apply::apply;
use self::progress::{improves, none_new};
use super::rules::{ObjectionSite, ProposedEdit, RULES, RepairRule, Scope};
use super::{Edit, Grade, Healing, Trace, Trial};
use crate::json::{Indexed, Path, Value};
use crate::validate::{CompiledSchema, LocatedIssue};
use crate::vocabulary::{Cause, Code, Failure, Issue, IssueCode, Received, Work};

/// How many edits one call may need. Real ones need one to five; a list of numbers sent as strings needs one for each.
const MOST_EDITS: usize = 64;

/// How many objections are worked on in one step: two for each place that may be edited. If there are more, only an edit of
/// what surrounds them can help, and the first few call for that as well as all of them.
const MOST_ISSUES: usize = 2 * MOST_EDITS;
const FEW_ISSUES: usize = 8;

/// The cost, in steps, of copying or validating one nested value, and a few bytes of text; of explaining one objection; and of
/// trying one rule on it.
const PER_VALUE: usize = 100;
const BYTES_PER_STEP: usize = 4;
const PER_ISSUE: usize = 1_500;
const PER_RULE: usize = 50;

/// Searches for edits while there is work left; each trial is recorded in `trace`, if there is one. `objections` are those of
/// the schema, if it was asked.
pub(super) fn search(
    original: &Value<'_>,
    objections: Option<&[LocatedIssue]>,
    schema: &CompiledSchema,
    rules: Allowed<'_>,
    work: &Work,
    trace: &mut Trace,
) -> Healing {
    let scope = Scope::new(schema, work, rules);
    let mut edits = Vec::new();
    // The value as edited so far, and the objections to it.
    let mut edited: Option<Value<'static>> = None;
    let mut found: Vec<LocatedIssue>;
    let mut issues = match objections {
        Some(objections) => objections,
        None => match issues_of(&scope, original) {
            Some(all) => {
                found = all;
                &found
            }
            None => return Healing::Hopeless,
        },
    };
    // The number of objections when each was last known to be addressed by some rule.
    let mut hopeful = 0;
    while edits.len() < MOST_EDITS {
        let value = edited.as_ref().unwrap_or(original);
        if issues.is_empty() {
            return Healing::Healed {
                arguments: edited.unwrap_or_else(|| original.clone().into_owned()),
                edits,
            };
        }
        let mut trials = Trials {
            scope: &scope,
            rules,
            trace,
            edits_left: MOST_EDITS - edits.len(),
            halves: Some(Vec::new()),
        };
        let may_be_hopeless = issues.len() >= hopeful;
        hopeful = issues.len();
        match trials.next_step(value, issues, may_be_hopeless) {
            SearchStep::Edits(better, more, after) => {
                edits.extend(more);
                (edited, found) = (Some(better), after);
                issues = &found;
            }
            SearchStep::Ambiguous(path, first, second) => {
                let cause = Cause::TwoReadings {
                    path,
                    first,
                    second,
                };
                return Healing::Refused(Failure::new(Code::AmbiguousCall, cause).into());
            }
            SearchStep::TooMany | SearchStep::None => return Healing::Hopeless,
        }
    }
    Healing::Hopeless
}

/// Whether no rule addresses one of the objections. Keys are left out: an edit of one may settle the objection to another. Two
/// objections to one value, such as its type and its allowed values, are taken together.
fn is_hopeless(sites: &[ObjectionSite<'_, '_>], scope: &Scope<'_>, rules: Allowed<'_>) -> bool {
    let unknown_keys = sites
        .iter()
        .any(|site| site.located.issue.code == IssueCode::UnknownKey);
    let may_wait = |site: &&ObjectionSite<'_, '_>| match site.located.issue.code {
        IssueCode::UnknownKey => true,
        IssueCode::Required => unknown_keys,
        _ => false,
    };
    let speaks = |site: &ObjectionSite<'_, '_>| {
        scope.work.take(PER_RULE * RULES.len()) && proposes(site, rules)
    };
    // Most calls have one.
    if let [only] = sites {
        return !may_wait(&only) && !speaks(only);
    }
    // Whether a rule has something to say about a place. It is looked up once: a path is as long as its place is deep.
    let mut spoken: AHashMap<&Path, bool> = AHashMap::new();
    for site in sites.iter().filter(|site| !may_wait(site)) {
        let spoken = spoken.entry(&site.located.issue.path).or_default();
        *spoken = *spoken || speaks(site);
    }
    for site in sites.iter().filter(may_wait) {
        if let Some(spoken) = spoken.get_mut(&site.located.issue.path) {
            *spoken = *spoken || speaks(site);
        }
    }
    spoken.values().any(|spoken| !spoken)
}

fn proposes(site: &ObjectionSite<'_, '_>, rules: Allowed<'_>) -> bool {
    let mut tried = RULES.iter().filter(|rule| rules.may_try(rule));
    tried.any(|rule| site.propose(rule).is_some() && rules.allow(rule))
}

/// The validator's objections; arguments that are not an object always have one. `None` if there is no work left.
fn issues_of(scope: &Scope<'_>, value: &Value<'_>) -> Option<Vec<LocatedIssue>> {
    let judging = weight(value) + scope.schema.judging_steps();
    scope.work.take(judging).then_some(())?;
    let found = scope.schema.located_issues(value);
    if found.is_empty() && !matches!(value, Value::Object(_)) {
        return Some(vec![LocatedIssue {
            issue: Issue::not_an_object(Received::value(value)),
            owner: Path::root(),
        }]);
    }
    scope.work.take(found.len() * PER_ISSUE).then_some(found)
}

/// How many steps it takes to copy and to validate a value.
pub(super) fn weight(value: &Value<'_>) -> usize {
    let inside = match value {
        Value::String(text) => text.len() / BYTES_PER_STEP,
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(_, inner)| weight(inner)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    PER_VALUE + inside
}

enum SearchStep {
    /// The value with these edits, and the remaining objections.
    Edits(Value<'static>, SmallVec<[Edit; 1]>, Vec<LocatedIssue>),
    Ambiguous(Path, String, String),
    /// More edits than a call may need.
    TooMany,
    None,
}

/// The trials of one step.
struct Trials<'t, 'c> {
    scope: &'t Scope<'c>,
    rules: Allowed<'t>,
    trace: &'t mut Trace,
    edits_left: usize,
    /// Lossless edits that did not help by themselves, while they are being collected.
    halves: Option<Vec<Half>>,
}

/// A lossless edit after which the edited place still has an objection.
struct Half {
    value: Value<'static>,
    edit: Edit,
    /// The remaining objections.
    left: Vec<LocatedIssue>,
    /// The objection it was tried for.
    tried_for: usize,
}

/// How many of them are remembered. Each holds a copy of the value, and real calls have one or two.
const MOST_HALVES: usize = 8;

impl Trials<'_, '_> {
    /// The cheapest edit that removes an objection, or two that do so together.
    fn next_step(
        &mut self,
        value: &Value<'_>,
        issues: &[LocatedIssue],
        may_be_hopeless: bool,
    ) -> SearchStep {
        let places = Indexed::new(value);
        let sites = issues.iter().take(if issues.len() > MOST_ISSUES {
            FEW_ISSUES
        } else {
            MOST_ISSUES
        });
        let sites: Vec<ObjectionSite<'_, '_>> = sites
            .map(|located| ObjectionSite::new(located, value, &places, self.scope))
            .collect();
        if may_be_hopeless && is_hopeless(&sites, self.scope, self.rules) {
            return SearchStep::None;
        }
        match self.next_edit(value, &sites, issues) {
            SearchStep::None => self.next_pair(issues),
            step => step,
        }
    }

    /// The cheapest edit that removes an objection.
    fn next_edit(
        &mut self,
        value: &Value<'_>,
        sites: &[ObjectionSite<'_, '_>],
        issues: &[LocatedIssue],
    ) -> SearchStep {
        for tier in tiers(self.rules) {
            match self.settle_together(value, sites, issues, tier) {
                SearchStep::None => {}
                step => return step,
            }
            for (at, site) in sites.iter().enumerate() {
                match self.settle(value, site, issues, at, tier) {
                    SearchStep::None => {}
                    step => return step,
                }
            }
        }
        SearchStep::None
    }

    /// All edits of one tier that each remove an objection: the validator is asked once for all of them. Only lossless edits
    /// that depend on their own place alone, where each place has one; anything else is tried one by one.
    fn settle_together(
        &mut self,
        value: &Value<'_>,
        sites: &[ObjectionSite<'_, '_>],
        issues: &[LocatedIssue],
        tier: &'static [RepairRule],
    ) -> SearchStep {
        if sites.len() < 2 || tier.iter().any(|rule| rule.row.grade != Grade::Lossless) {
            return SearchStep::None;
        }
        let mut proposed = self.independent_edits(sites, tier);
        if proposed.len() > self.edits_left {
            return SearchStep::TooMany;
        }
        // Edits that do not help along with the others are deferred, once.
        for _ in 0..2 {
            if proposed.len() < 2 || !self.scope.work.take(weight(value)) {
                return SearchStep::None;
            }
            let mut better = value.clone().into_owned();
            let mut edits: SmallVec<[Edit; 1]> = SmallVec::new();
            for (rule, _, change) in &proposed {
                let Some(edit) = apply(&mut better, rule, change) else {
                    return SearchStep::None;
                };
                edits.push(edit);
            }
            let Some(after) = issues_of(self.scope, &better) else {
                return SearchStep::None;
            };
            let still_open: AHashSet<&Path> = after.iter().map(|it| &it.issue.path).collect();
            let is_open: Vec<bool> = proposed
                .iter()
                .zip(&edits)
                .map(|((_, removed, _), edit)| {
                    still_open.contains(&removed.issue.path) || still_open.contains(&edit.path)
                })
                .collect();
            if !is_open.contains(&true) && none_new(issues, &edits, &after) {
                for ((rule, ..), edit) in proposed.iter().zip(&edits) {
                    self.note(edit, rule, true);
                }
                return SearchStep::Edits(better, edits, after);
            }
            let mut is_open = is_open.into_iter();
            let before = proposed.len();
            proposed.retain(|_| !is_open.next().unwrap_or(true));
            if proposed.len() == before {
                return SearchStep::None;
            }
        }
        SearchStep::None
    }

    /// For each objection, the edit that the rules of one tier propose, if it is the only one and does not depend on the
    /// others.
    fn independent_edits<'s>(
        &self,
        sites: &'s [ObjectionSite<'_, '_>],
        tier: &'static [RepairRule],
    ) -> Vec<(&'static RepairRule, &'s LocatedIssue, Rc<ProposedEdit>)> {
        let mut all: Vec<(&RepairRule, &LocatedIssue, Rc<ProposedEdit>)> = Vec::new();
        let mut places = AHashSet::new();
        for site in sites {
            if !self.scope.work.take(PER_RULE * tier.len()) {
                return Vec::new();
            }
            let tried = tier.iter().filter(|rule| self.rules.may_try(rule));
            let proposed = tried.filter_map(|rule| Some((rule, site.propose(rule)?)));
            let mut proposed = proposed.filter(|(rule, _)| self.rules.allow(rule));
            let (Some((rule, change)), None) = (proposed.next(), proposed.next()) else {
                continue;
            };
            // Two objections to one place have one edit.
            if site.is_independent(&change) && places.insert(change.path().clone()) {
                all.push((rule, site.located, change));
            }
            // More than may be made: the others change nothing about that.
            if all.len() > self.edits_left {
                break;
            }
        }
        all
    }

    /// The edit of one tier that removes an objection, if all that do agree.
    fn settle(
        &mut self,
        value: &Value<'_>,
        site: &ObjectionSite<'_, '_>,
        issues: &[LocatedIssue],
        at: usize,
        tier: &'static [RepairRule],
    ) -> SearchStep {
        if !self.scope.work.take(PER_RULE * tier.len()) {
            return SearchStep::None;
        }
        let mut found: Option<(Value<'static>, Edit, Vec<LocatedIssue>)> = None;
        let rules = self.rules;
        for rule in tier.iter().filter(|rule| rules.may_try(rule)) {
            let Some((better, edit, after)) = self.attempt(value, rule, site) else {
                continue;
            };
            let helps = improves(issues, site.located, &edit, &after);
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
        // If the work ran out, a different edit may not have been tried.
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

    /// Two lossless edits of one place that remove an objection together: `{"Limit": "5"}`, `["5"]` for a number. Each would be
    /// made if it were the only fault.
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
                    let site = ObjectionSite::new(located, &half.value, &places, self.scope);
                    let step = self.settle(&half.value, &site, &half.left, at, tier);
                    let SearchStep::Edits(better, second, after) = step else {
                        continue;
                    };
                    if improves(issues, removed, &half.edit, &after) {
                        let both = std::iter::once(half.edit).chain(second).collect();
                        return SearchStep::Edits(better, both, after);
                    }
                }
            }
        }
        SearchStep::None
    }

    /// The result of a rule for an objection, and the remaining objections.
    fn attempt(
        &mut self,
        value: &Value<'_>,
        rule: &RepairRule,
        site: &ObjectionSite<'_, '_>,
    ) -> Option<(Value<'static>, Edit, Vec<LocatedIssue>)> {
        let change = site.propose(rule).filter(|_| self.rules.allow(rule))?;
        // Before anything is copied: once the work is used up, the other objections must not cost a copy each.
        self.scope.work.take(weight(value)).then_some(())?;
        let mut better = value.clone().into_owned();
        let edit = apply(&mut better, rule, &change)?;
        let after = issues_of(self.scope, &better)?;
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
