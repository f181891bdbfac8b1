//! Conditions over a call and its result, in the Common Expression Language (CEL).
//!
//! Takes the text of an expression and returns an [`Expression`] that can be evaluated for `arguments` and `output`, or a
//! [`Mistake`] with its position. Only this folder uses the `cel` crate. The text is the operator's and may be wrong; the
//! values come from models and tools and may be anything: both are bounded, and neither can cause a panic.

mod prepare;
mod words;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;

use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt,
};
use cel::common::value::{CowVal, Val};
use cel::{Context, Env, ExecutionError, FunctionContext, IdedExpr};
use regex::Regex;

use crate::json::Value;
use crate::json::size;

/// The longest expression that is parsed, in bytes: a page of text. A longer condition can be split into two checks.
const LONGEST: usize = 4096;

/// How many brackets may be opened. The parser recurses for each, and takes up to 256 KB of stack for it.
const MOST_BRACKETS: usize = 64;

/// The stack on which an expression is parsed: twice what that many brackets take. Only the used part is committed.
const STACK: usize = 2 * MOST_BRACKETS * 256 * 1024;

/// The longest arguments or results that are evaluated, in bytes: four times what a model usually gets.
const LONGEST_VALUE: usize = 1024 * 1024;

/// How many items an expression may iterate over in all its lists, with nested iterations counted each time: a second of work,
/// which no honest check needs.
const MOST_ITEMS: usize = 1_000_000;

/// How many bytes of values an expression may iterate over, compare and search, with repetitions counted each time: two lists
/// of a thousand records, each compared with each.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// The weight of a byte that becomes part of a new text, list or map, which is kept until the evaluation ends, and of a byte
/// that a pattern is matched against.
const KEPT: usize = 8;

/// Counts the items of a list or the keys of a map that are iterated over.
const COUNTED: &str = "@counted";

/// Counts the items of a list that is searched. A map lookup is immediate.
const SEARCHED: &str = "@searched";

/// Counts the bytes of a value that is compared with another.
const COMPARED: &str = "@compared";

/// Counts the bytes of a value that becomes part of another, or that a pattern is matched against.
const COPIED: &str = "@copied";

/// `matches` with a precompiled pattern, by its number.
const MATCHES: &str = "@matches";

/// The environment of every expression. Nothing is ever added.
static STANDARD: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// A compiled condition.
#[derive(Debug)]
pub(crate) struct Expression {
    tree: IdedExpr,
    patterns: Arc<[Regex]>,
    asks_arguments: bool,
    asks_output: bool,
}

/// A mistake in an expression.
#[derive(Debug)]
pub(crate) struct Mistake {
    /// Its position in the text, in bytes; `None` if it is the text as a whole.
    pub(crate) at: Option<Range<usize>>,
    /// A description for the author.
    pub(crate) what: String,
}

impl Mistake {
    fn whole(what: impl Into<String>) -> Self {
        Mistake {
            at: None,
            what: what.into(),
        }
    }
}

/// Compiles an expression.
pub(crate) fn compile(source: &str) -> Result<Expression, Mistake> {
    if source.trim().is_empty() {
        return Err(Mistake::whole("the condition is empty"));
    }
    if source.len() > LONGEST {
        let what = format!("it is longer than {LONGEST} bytes");
        return Err(Mistake::whole(what));
    }
    // Brackets inside string literals count as well: only the parser knows where those end.
    let brackets = source.bytes().filter(|byte| b"([{".contains(byte)).count();
    if brackets > MOST_BRACKETS {
        let what = format!("it has more than {MOST_BRACKETS} brackets; write two checks");
        return Err(Mistake::whole(what));
    }
    // On its own stack, since the space left on the caller's is unknown.
    thread::scope(|scope| {
        let read = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || parse(source));
        let read = read
            .map_err(|error| Mistake::whole(format!("cannot start a thread to parse it: {error}")));
        let broken = || Err(Mistake::whole("the parser fails on it"));
        read?.join().unwrap_or_else(|_| broken())
    })
}

fn parse(source: &str) -> Result<Expression, Mistake> {
    let parsed = STANDARD.parser().parse_with_source_info(source);
    let (tree, places) = parsed.map_err(|errors| words::syntax(source, &errors))?;
    prepare::prepare(source, tree, &places)
}

impl Expression {
    /// Whether the condition holds for a call and its result. If it refers to something absent, it does not hold.
    ///
    /// # Errors
    /// Fails if there is no answer: it compares things that cannot be compared, or takes too long. Says why, without quoting
    /// the values.
    pub(crate) fn holds(&self, arguments: &Value<'_>, output: &Value<'_>) -> Result<bool, String> {
        let mut context = Context::with_env(Arc::clone(&STANDARD));
        let asked = [
            ("arguments", self.asks_arguments, arguments),
            ("output", self.asks_output, output),
        ];
        for (name, _, value) in asked.into_iter().filter(|(_, is_asked, _)| *is_asked) {
            if size(value) > LONGEST_VALUE {
                return Err(format!("`{name}` is longer than {LONGEST_VALUE} bytes"));
            }
            context.add_variable_as_val(name, converted(value));
        }
        let meter = Arc::new(Meter::default());
        let functions = [
            (
                COUNTED,
                metered(&meter, &["list", "map"], |it| (it.1, it.0)),
            ),
            (SEARCHED, metered(&meter, &["list"], |it| (it.1, it.0))),
            (COMPARED, metered(&meter, &[], |it| (0, it.0))),
            (
                COPIED,
                metered(&meter, &[], |it| (0, it.0.saturating_mul(KEPT))),
            ),
            (MATCHES, matches(Arc::clone(&self.patterns))),
        ];
        for (name, function) in functions {
            let added = context.add_function(name, function);
            added.map_err(|error| error.to_string())?;
        }
        let answer = cel::Value::resolve_val(&self.tree, &context);
        if meter.items.load(Ordering::Relaxed) > MOST_ITEMS {
            return Err(format!(
                "it iterates over more than {MOST_ITEMS} items; use fewer nested lists"
            ));
        }
        if meter.bytes.load(Ordering::Relaxed) > MOST_BYTES {
            return Err(
                "it compares or copies too much; use smaller parts of the values".to_owned(),
            );
        }
        match answer {
            Ok(value) => match value.downcast_ref::<CelBool>() {
                Some(answer) => Ok(*answer.inner()),
                None => Err(format!(
                    "it gives a value of type {}, not true or false",
                    value.get_type().name()
                )),
            },
            Err(error) if words::is_absence(&error) => Ok(false),
            Err(error) => Err(words::no_answer(&error)),
        }
    }
}

/// A value in the `cel` crate's types. Texts are borrowed.
fn converted<'v>(value: &'v Value<'_>) -> Box<dyn Val + 'v> {
    match value {
        Value::Null => Box::new(CelNull),
        Value::Bool(flag) => Box::new(CelBool::from(*flag)),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Box::new(CelInt::from(number)),
            (None, Some(number)) => Box::new(CelUInt::from(number)),
            (None, None) => Box::new(CelDouble::from(number.as_f64())),
        },
        Value::String(text) => Box::new(CelString::from(Cow::Borrowed(&**text))),
        Value::Array(items) => {
            let items: Vec<Box<dyn Val + 'v>> = items.iter().map(converted).collect();
            Box::new(CelList::from(items))
        }
        Value::Object(members) => {
            let mut map: HashMap<CelMapKey<'v>, Box<dyn Val + 'v>> =
                HashMap::with_capacity(members.len());
            for (key, value) in members {
                map.entry(CelMapKey::from(&**key))
                    .or_insert_with(|| converted(value));
            }
            Box::new(CelMap::from(map))
        }
    }
}

/// The type of our own functions. The `cel` crate does not export its name for it.
type CelFunction = Box<
    dyn for<'c, 'v> Fn(&mut FunctionContext<'c, 'v>) -> Result<CowVal<'c, 'v>, ExecutionError>
        + Send
        + Sync,
>;

/// What an evaluation has used so far.
#[derive(Debug, Default)]
struct Meter {
    items: AtomicUsize,
    bytes: AtomicUsize,
}

impl Meter {
    /// Adds to the counts; returns whether they are still within the limits.
    fn add(&self, items: usize, bytes: usize) -> bool {
        let add =
            |sum: &AtomicUsize, part| sum.fetch_add(part, Ordering::Relaxed).saturating_add(part);
        let items = add(&self.items, items);
        add(&self.bytes, bytes.min(MOST_BYTES + 1)) <= MOST_BYTES && items <= MOST_ITEMS
    }
}

/// A function that returns its value and counts what `cost` makes of the value's bytes and items, if it has one of these types;
/// if there are none, for any type.
fn metered(
    meter: &Arc<Meter>,
    types: &'static [&'static str],
    cost: fn((usize, usize)) -> (usize, usize),
) -> CelFunction {
    let meter = Arc::clone(meter);
    Box::new(move |call| {
        let value = call.args.pop();
        let value = value.ok_or_else(|| call.error("no value"))?;
        if types.is_empty() || types.contains(&value.get_type().name()) {
            let left = MOST_BYTES.saturating_sub(meter.bytes.load(Ordering::Relaxed));
            let size = value.as_sizer().filter(|_| !types.is_empty());
            let items = size.and_then(|sizer| usize::try_from(*sizer.size().inner()).ok());
            let (items, bytes) = cost((weight(value.as_ref(), left), items.unwrap_or(0)));
            if !meter.add(items, bytes) {
                return Err(call.error("too much"));
            }
        }
        Ok(value)
    })
}

/// The approximate size of a value in bytes; a little more than `most` if it is larger.
fn weight(value: &dyn Val, most: usize) -> usize {
    let add = |sum: usize, (key, inner): (usize, &dyn Val)| match most.checked_sub(sum) {
        Some(left) => sum + key + weight(inner, left),
        None => sum,
    };
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        text.inner().len()
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        let items = list.inner().iter();
        items.map(|item| (8, item.as_ref())).fold(8, add)
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        let members = map.inner().values();
        members.map(|member| (16, member.as_ref())).fold(8, add)
    } else {
        8
    }
}

/// Whether a text matches the pattern with a number.
fn matches(patterns: Arc<[Regex]>) -> CelFunction {
    Box::new(move |call| {
        let number = call.args.pop();
        let number = number.as_ref().and_then(|number| {
            let number = number.downcast_ref::<CelInt>()?;
            usize::try_from(*number.inner()).ok()
        });
        let pattern = number.and_then(|number| patterns.get(number));
        let pattern = pattern.ok_or_else(|| call.error("no pattern"))?;
        let text = call.args.pop();
        let text = text.ok_or_else(|| call.error("no text"))?;
        match text.downcast_ref::<CelString<'_>>() {
            Some(text) => Ok(CowVal::owned(CelBool::from(pattern.is_match(text.inner())))),
            None => Err(ExecutionError::no_such_overload(
                "matches",
                vec![text.get_type().name().to_owned()],
            )),
        }
    })
}
