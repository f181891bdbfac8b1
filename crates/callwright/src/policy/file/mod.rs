//! A policy file → a [`Policy`], or every mistake in it with its place.
//!
//! In comes TOML text, out go settings; a key that is not known is a mistake, never ignored. `values` knows how
//! numbers, steps and names are read, `settings` and `checks` what may stand at the top and at a tool, `keys` what they are
//! called, `fault` how a mistake is told.

mod checks;
mod fault;
mod keys;
mod settings;
mod tools;
mod values;

use toml::de::{DeTable, DeValue};

pub use self::keys::known_keys;

use self::fault::Fault;
use self::keys::Section;
use self::values::{Entry, Reader, entries};
use super::{Pattern, Policy, ToolPolicy};
use crate::admit::{AdmissionPolicy, Escalation, Steps, ToolAdmission, WhenAway};
use crate::error::{Error, ErrorKind};
use crate::repair::RepairPolicy;
use crate::words::Grade;

impl Policy {
    /// The longest policy file that is read, in bytes. One with a table for each of 10,000 tools has about this much.
    pub const LONGEST_FILE: usize = 1024 * 1024;

    /// Reads a policy file.
    ///
    /// ```
    /// use callwright::policy::Policy;
    ///
    /// let policy = Policy::from_toml("[tool.'get_*']\neffect = 'read'\n")?;
    /// let error = Policy::from_toml("[loops]\nask_afer = 3\n").unwrap_err();
    /// assert_eq!(error.to_string(), "\
    /// line 2, column 1: unknown key `ask_afer` in [loops], did you mean `ask_after`?
    ///   2 | ask_afer = 3
    ///     | ^^^^^^^^");
    /// # Ok::<(), callwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the text is too long or no TOML, or says something that is not known or makes no sense. The error
    /// names every such place with line and column, and proposes what may have been meant.
    pub fn from_toml(text: &str) -> Result<Policy, Error> {
        if text.len() > Policy::LONGEST_FILE {
            let longest = Policy::LONGEST_FILE;
            return Err(ErrorKind::LongPolicy { longest }.into());
        }
        // What editors put there is no part of the first line.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let told = |faults| Error::from(ErrorKind::Policy(fault::tell(text, faults)));
        let table =
            DeTable::parse(text).map_err(|error| told(vec![Fault::syntax(text, &error)]))?;
        let mut reader = Reader::default();
        let mut policy = Policy::default();
        read_top(&mut reader, table.get_ref(), &mut policy);
        if !reader.faults.is_empty() {
            return Err(told(reader.faults));
        }
        policy.patterns.sort_by_key(|pattern| pattern.line);
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        for pattern in &mut policy.patterns {
            // Until here it is an offset.
            pattern.line = ends.partition_point(|end| *end < pattern.line) + 1;
        }
        Ok(policy)
    }
}

fn read_top(reader: &mut Reader, table: &DeTable<'_>, policy: &mut Policy) {
    let mut attended = true;
    let mut asks = true;
    let mut all = ToolPolicy::default();
    for entry in entries(table) {
        match entry.key {
            "repair" => policy.repair = repair(reader, &entry).unwrap_or_default(),
            "budget" => budgets(reader, &entry, &mut policy.admission),
            "attended" => attended = reader.flag(&entry).unwrap_or(attended),
            "loops" => {
                if let Some(table) = reader.table(&entry, "a table of settings") {
                    read_loops(reader, table, policy, &mut asks);
                }
            }
            // Settings for single tools come last: they beat the others.
            "tool" => {}
            _ if settings::read(reader, &entry, &mut all) => {}
            _ => reader.unknown(&entry, Section::Top),
        }
    }
    policy.validation = all.validation.unwrap_or_default();
    (policy.output, policy.advice, policy.run) = (all.output, all.advice, all.run);
    policy.admission.escalation = match (asks, attended) {
        (false, _) => Escalation::Never,
        (true, true) => Escalation::Ask,
        (true, false) => Escalation::Stop,
    };
    if let Some(entry) = entries(table).iter().find(|entry| entry.key == "tool") {
        tools::read(reader, entry, policy);
    }
}

fn repair(reader: &mut Reader, entry: &Entry<'_>) -> Option<RepairPolicy> {
    reader.choice(
        entry,
        &[
            ("none", RepairPolicy::Never),
            ("lossless", RepairPolicy::UpTo(Grade::Lossless)),
            ("lossy", RepairPolicy::UpTo(Grade::Lossy)),
            ("guess", RepairPolicy::UpTo(Grade::Guess)),
            ("by_effect", RepairPolicy::ByEffect),
        ],
    )
}

/// One number is for all tools but those that are declared to change something: whoever raises it may not have
/// payments in mind, so that one has to be named.
fn budgets(reader: &mut Reader, entry: &Entry<'_>, admission: &mut AdmissionPolicy) {
    let DeValue::Table(table) = entry.value else {
        let expected = "or a table like { unknown = 3, read = 10, write = 1 }";
        if let Some(number) = reader.number(entry, 1, expected) {
            (admission.budget, admission.budget_read) = (number, number);
        }
        return;
    };
    for entry in entries(table) {
        let budget = match entry.key {
            "unknown" => &mut admission.budget,
            "read" => &mut admission.budget_read,
            "write" => &mut admission.budget_write,
            _ => {
                reader.unknown(&entry, Section::Budget);
                continue;
            }
        };
        *budget = reader.number(&entry, 1, "").unwrap_or(*budget);
    }
}

/// A step of the policy, the least number that makes sense there, and where it is kept. The first of something is
/// no repetition, so most begin with two.
type Detector = (&'static str, u32, fn(&mut AdmissionPolicy) -> &mut Steps);

const DETECTORS: [Detector; 8] = [
    ("repeated_refusal", 2, |all| &mut all.repeated_refusal),
    ("repeated_call", 2, |all| &mut all.repeated_call),
    ("repeated_result", 2, |all| &mut all.repeated_result),
    ("polling", 2, |all| &mut all.polling),
    ("cycle", 2, |all| &mut all.cycle),
    ("error_streak", 2, |all| &mut all.error_streak),
    ("unknown_tools", 2, |all| &mut all.unknown_tools),
    ("tool_calls", 1, |all| &mut all.tool_calls),
];

fn read_loops(reader: &mut Reader, table: &DeTable<'_>, policy: &mut Policy, asks: &mut bool) {
    let admission = &mut policy.admission;
    for entry in entries(table) {
        if let Some((_, least, field)) = DETECTORS.iter().find(|row| row.0 == entry.key) {
            let steps = field(admission);
            *steps = reader.steps(&entry, *steps, *least).unwrap_or(*steps);
            continue;
        }
        let off = matches!(entry.value, DeValue::Boolean(false));
        match entry.key {
            "turn_calls" | "most_refusals" if off => reader.last_bound(&entry),
            "turn_calls" => {
                let steps = reader.steps(&entry, admission.turn_calls, 1);
                match steps {
                    Some(steps) if steps.refuse == u32::MAX => reader.last_bound(&entry),
                    Some(steps) => admission.turn_calls = steps,
                    None => {}
                }
            }
            "most_refusals" => {
                let number = reader.number(&entry, 1, "");
                admission.most_refusals = number.unwrap_or(admission.most_refusals);
            }
            "transient" if off => admission.transient = u32::MAX,
            "transient" => {
                let number = reader.number(&entry, 1, "or `false`");
                admission.transient = number.unwrap_or(admission.transient);
            }
            "ask_after" if off => *asks = false,
            "ask_after" => {
                let number = reader.number(&entry, 1, "or `false`");
                admission.ask_after = number.unwrap_or(admission.ask_after);
            }
            "when_away" => {
                let known = [
                    ("by_effect", WhenAway::ByEffect),
                    ("open", WhenAway::Open),
                    ("closed", WhenAway::Closed),
                ];
                let choice = reader.choice(&entry, &known);
                admission.when_away = choice.unwrap_or(admission.when_away);
            }
            "remember_results" => {
                let flag = reader.flag(&entry);
                admission.remember_results = flag.unwrap_or(admission.remember_results);
            }
            "pollers" => {
                for (name, at) in reader.names(&entry) {
                    let mut tool = ToolAdmission::new(name.clone());
                    tool.poller = Some(true);
                    admission.tools.push(tool);
                    policy.patterns.push(Pattern {
                        text: name,
                        line: at,
                    });
                }
            }
            "volatile" => {
                let mut tool = ToolAdmission::new("*");
                tool.volatile = reader.places(&entry);
                if !tool.volatile.is_empty() {
                    admission.tools.push(tool);
                }
            }
            _ => reader.unknown(&entry, Section::Loops),
        }
    }
}
