//! Failures, edits and results in a form that may be shown.
//!
//! Everything that leaves the gate passes through here once, so that renderers need not know about secrets.

use super::{MASKED, Secrecy, masked_value};
use crate::json::{Path, Value, read_value};
use crate::tool::Tool;
use crate::verdict::{Refused, Verdict};
use crate::vocabulary::{
    Cause, Checked, Correction, Edit, EditKind, Expected, Failure, Issue, IssueCode, Output,
    OutputFault, Received, Trial,
};

impl Secrecy {
    /// Removes from a verdict what must not be shown, except for the arguments and the edits themselves, which programs need.
    pub(crate) fn clean(&self, verdict: &mut Verdict<'_>) {
        if self.hides_nothing() {
            return;
        }
        match verdict {
            Verdict::Valid(valid) => valid.warning.iter_mut().for_each(|it| self.failure(it)),
            Verdict::Repaired(repaired) => self.edits(&mut repaired.edits),
            Verdict::Refused(refused) => self.refused(refused),
        }
    }

    /// The same for a refusal.
    pub(crate) fn refused(&self, refused: &mut Refused<'_>) {
        if self.hides_nothing() {
            return;
        }
        self.failure(&mut refused.failure);
        if refused.tool.is_none() {
            let of_notice = refused.notice.iter_mut().map(|notice| &mut notice.tool);
            let of_objection = match &mut refused.failure.cause {
                Cause::Objection(objection) => Some(&mut objection.tool),
                _ => None,
            };
            for name in of_notice.chain(of_objection) {
                *name = self.name(name).into_owned();
            }
        }
    }

    /// The same for trials of repair.
    pub(crate) fn trials(&self, trials: &mut [Trial]) {
        for trial in trials {
            self.edits(std::slice::from_mut(&mut trial.edit));
        }
    }

    /// The same for edits: they keep their values, and also hold a form that may be shown.
    fn edits(&self, edits: &mut [Edit]) {
        if self.hides_nothing() {
            return;
        }
        for edit in edits {
            let shown = self.edit(edit);
            edit.masked = (shown != *edit).then(|| Box::new(shown));
        }
    }

    /// An edit in a form that may be shown.
    pub(crate) fn edit(&self, edit: &Edit) -> Edit {
        let shown = |value: &Value<'_>| match value {
            Value::Null => Value::Null,
            Value::String(name) if edit.kind == EditKind::ToolName => text_value(&self.name(name)),
            _ if self.unreadable => masked_value(),
            Value::String(key) if edit.kind == EditKind::Renamed => match self.key_of_rename(key) {
                Some(key) => text_value(&key),
                None => masked_value(),
            },
            other => self.value(other, &edit.path).into_owned().into_owned(),
        };
        Edit {
            path: self.path(&edit.path).into_owned(),
            before: shown(&edit.before),
            after: shown(&edit.after),
            masked: None,
            ..*edit
        }
    }

    fn key_of_rename(&self, key: &str) -> Option<String> {
        let rules = self.rules()?;
        if rules.secrets.is_nearly_listed(key) {
            return Some(key.to_owned());
        }
        Some(self.key(key, &Path::root(), Some(rules)).into_owned())
    }

    /// The same for a failure.
    pub(crate) fn failure(&self, failure: &mut Failure) {
        if self.hides_nothing() {
            return;
        }
        match &mut failure.cause {
            Cause::Arguments(issues) => self.issues(issues),
            Cause::Syntax { path, found, .. } => {
                self.place(path);
                *found = None;
            }
            Cause::CutOff { path, .. } | Cause::TooDeep { path, .. } => self.place(path),
            Cause::TwoReadings {
                path,
                first,
                second,
            } => {
                let is_shown = [&*first, &*second].iter().all(|reading| {
                    let value = read_value(reading);
                    let shown = |value: &Value<'_>| *self.value(value, path) == *value;
                    !self.unreadable && value.is_ok_and(|value| shown(&value))
                });
                if !is_shown {
                    MASKED.clone_into(first);
                    MASKED.clone_into(second);
                }
                self.place(path);
            }
            Cause::UnknownTool { name, .. } => *name = self.name(name).into_owned(),
            Cause::Objection(objection) => {
                self.rewrite(&mut objection.last);
                if let Some(original) = &mut objection.original {
                    self.failure(original);
                }
            }
            Cause::LedgerAway { why } => self.rewrite(why),
            Cause::Tool { failure, said, .. } => {
                failure.rewrite(&|text| self.text(text).into_owned());
                self.rewrite_all(said);
            }
            Cause::Output(fault) => self.fault(fault),
            Cause::Blank | Cause::SeveralValues { .. } | Cause::TooLong { .. } => {}
        }
    }

    fn issues(&self, issues: &mut [Issue]) {
        for issue in issues {
            let is_about_key = matches!(
                issue.code,
                IssueCode::Required | IssueCode::DependentRequired | IssueCode::UnknownKey
            );
            let rules = self.rules();
            let is_hidden = rules.is_some_and(|rules| rules.secrets.hide(&issue.path));
            let is_name = |meant: &Correction| match meant {
                Correction::Use(key) => rules.is_some_and(|rules| rules.secrets.lists(key)),
                _ => false,
            };
            // What a repair would make of a secret is also a secret.
            let says_value = !is_about_key || !issue.suggestion.as_ref().is_some_and(is_name);
            if is_hidden && says_value && issue.code != IssueCode::Required {
                issue.suggestion = None;
            }
            if let Some(text) = self.masked_phrase(&issue.received) {
                let type_name = self.text(issue.received.type_name()).into_owned();
                issue.received = Received::Masked { type_name, text };
            }
            if let Some(text) = self.masked_phrase(&issue.expected) {
                issue.expected = Expected::Masked(text);
            }
            match &mut issue.suggestion {
                Some(Correction::Use(text)) => self.rewrite(text),
                Some(other) => {
                    if let Some(text) = self.masked_phrase(other) {
                        *other = Correction::Masked(text);
                    }
                }
                None => {}
            }
            let shown = issue.path.clone();
            self.place(&mut issue.path);
            // The sentence refers to the original path.
            issue.item = issue.item.filter(|_| shown == issue.path);
        }
    }

    fn fault(&self, fault: &mut OutputFault) {
        match fault {
            OutputFault::Syntax { path, found, .. } => {
                self.place(path);
                self.rewrite_all(found);
            }
            OutputFault::NoJson { path } | OutputFault::CutOff { path } => self.place(path),
            OutputFault::Violation(issues) => self.issues(issues),
            OutputFault::ErrorInDisguise { said, .. } => {
                self.rewrite_all(said);
            }
            OutputFault::Empty { argument, value } => {
                self.place(argument);
                self.rewrite_all(value);
            }
            OutputFault::MorePages(pages) => {
                if let Some((argument, value)) = &mut pages.next {
                    self.rewrite(argument);
                    self.rewrite(value);
                }
            }
            OutputFault::Omitted { mark } => self.rewrite(mark),
            OutputFault::Finding(finding) => {
                let shown = |text: &str| self.text(text).into_owned().into();
                finding.code = shown(&finding.code);
                finding.detail = shown(&finding.detail);
                finding.hint = finding.hint.as_deref().map(shown);
            }
            OutputFault::Nothing
            | OutputFault::NotText { .. }
            | OutputFault::TooDeep
            | OutputFault::TooLarge { .. }
            | OutputFault::CutText
            | OutputFault::TooLong { .. } => {}
        }
    }

    fn place(&self, path: &mut Path) {
        *path = self.path(path).into_owned();
    }

    /// The part of a phrase that may be shown; `None` if that is all of it. The text is masked rather than the data it is made
    /// from: a secret may be spread over several parts, and is cut the way the phrase is.
    fn masked_phrase(&self, phrase: &impl ToString) -> Option<String> {
        let phrase = phrase.to_string();
        let shown = self.text(&phrase);
        (shown != phrase).then(|| shown.into_owned())
    }

    fn rewrite_all<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        for text in texts {
            self.rewrite(text);
        }
    }

    fn rewrite(&self, text: &mut String) {
        *text = self.text(text).into_owned();
    }
}

/// Removes from the description of a result what must not be shown. The result itself is the tool's, and stays unchanged.
pub(crate) fn clean_result(tool: &Tool, arguments: &Value<'_>, checked: &mut Checked<'_>) {
    let has_words = checked.failure.is_some() || !checked.notes.is_empty();
    if !has_words || !(tool.takes_secrets() || tool.returns_secrets()) {
        return;
    }
    let mut secrecy = Secrecy::of_arguments(tool, arguments);
    secrecy.is_about_result = true;
    if tool.returns_secrets() {
        match &checked.output {
            Some(Output::Value(value)) => secrecy.result(tool.output_secrets(), value),
            Some(Output::Text(text)) => {
                if let Ok(value) = read_value(text) {
                    secrecy.result(tool.output_secrets(), &value);
                }
            }
            _ => {}
        }
    }
    if let Some(failure) = &mut checked.failure {
        secrecy.failure(failure);
    }
    secrecy.rewrite_all(&mut checked.notes);
}

fn text_value(text: &str) -> Value<'static> {
    Value::String(text.to_owned().into())
}
