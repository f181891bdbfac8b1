//! The module for browsers and edge runtimes: judge, rescue and feedback, without I/O, threads or a clock.
//!
//! Plain exports over the module's memory, without generated glue: text is passed in as a pointer and a length, and
//! returned as a pointer to an [`Answer`]. `lib/callwright.js` is the only caller. Decides nothing itself.
//!
//! The target cannot unwind, so a panic is a trap that ends the instance; the caller then creates a new one. The memory
//! of an instance that trapped is never used again.

mod seed;

use callwright::json::read_value;
use callwright::rescue::Message;
use callwright::wire;
use callwright_bindings::{Guard, Options, provider};
use serde_json::json;

/// The return value of a function: a text, and whether it is an error message. Freed with [`callwright_release`].
#[repr(C)]
#[derive(Debug)]
pub struct Answer {
    text: *mut u8,
    length: usize,
    is_error: u32,
    capacity: usize,
}

type Told = Result<String, String>;

/// Passes an answer to the caller.
fn answer(told: Told) -> *mut Answer {
    let (text, is_error) = match told {
        Ok(text) => (text, 0),
        Err(text) => (text, 1),
    };
    let mut bytes = std::mem::ManuallyDrop::new(text.into_bytes());
    Box::into_raw(Box::new(Answer {
        text: bytes.as_mut_ptr(),
        length: bytes.len(),
        is_error,
        capacity: bytes.capacity(),
    }))
}

/// Allocates room for a text of this length.
#[unsafe(no_mangle)]
pub extern "C" fn callwright_room(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Takes a text that the caller wrote into room from [`callwright_room`].
///
/// # Safety
/// `text` is such room, of exactly this length, filled with UTF-8, and is not used afterwards.
unsafe fn taken(text: *mut u8, length: usize) -> String {
    // SAFETY: as the caller promises. `TextEncoder` writes nothing but UTF-8.
    unsafe {
        let bytes = Box::from_raw(std::ptr::slice_from_raw_parts_mut(text, length));
        String::from_utf8_unchecked(bytes.into_vec())
    }
}

/// Frees an answer.
///
/// # Safety
/// `answer` is what a function returned, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn callwright_release(answer: *mut Answer) {
    // SAFETY: as the caller promises.
    unsafe {
        let answer = Box::from_raw(answer);
        drop(Vec::from_raw_parts(
            answer.text,
            answer.length,
            answer.capacity,
        ));
    }
}

/// Compiles tools under options, both as JSON. The answer is the number of the gate, or the reason why there is none.
///
/// # Safety
/// Both texts are as [`callwright_room`] requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn callwright_open(
    tools: *mut u8,
    tools_length: usize,
    options: *mut u8,
    options_length: usize,
) -> *mut Answer {
    // SAFETY: as the caller promises.
    let (tools, options) = unsafe { (taken(tools, tools_length), taken(options, options_length)) };
    let opened = serde_json::from_str::<Options>(&options)
        .map_err(|error| error.to_string())
        .and_then(|options| options.guard(&tools, None));
    answer(opened.map(|guard| (Box::into_raw(Box::new(guard)) as usize).to_string()))
}

/// Frees a gate.
///
/// # Safety
/// `gate` is the number of a gate, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn callwright_close(gate: *mut Guard) {
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(gate) });
}

/// The exports that pass one text to a gate.
macro_rules! questions {
    ($($(#[doc = $doc:literal])+ $name:ident => $answer:path;)+) => {
        $($(#[doc = $doc])+
        ///
        /// # Safety
        /// `gate` is the number of an open gate, and the text is as [`callwright_room`] requires.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(gate: *const Guard, text: *mut u8, length: usize) -> *mut Answer {
            // SAFETY: as the caller promises.
            let (gate, text) = unsafe { (&*gate, taken(text, length)) };
            answer($answer(gate, &text))
        })+
    };
}

questions! {
    /// Judges a call line in any format: its verdict line.
    callwright_judge => judge;
    /// Extracts calls from the text of a message and judges them.
    callwright_rescue => rescue;
    /// The verdict on a call line in a provider's format: `["provider", line]`.
    callwright_render => render;
    /// Every repair that was tried for a call line, and whether it helped.
    callwright_explain => explain;
    /// The tools as the gate read them; the text is ignored.
    callwright_tools => tools;
    /// The tools as a provider's API accepts them.
    callwright_declare => declare;
}

fn judge(guard: &Guard, line: &str) -> Told {
    let call = wire::read_line(line).map_err(|error| error.to_string())?;
    Ok(guard.verdict_line(&call))
}

fn rescue(guard: &Guard, text: &str) -> Told {
    let message = Message::from_text(text);
    Ok(match guard.rescue(&message) {
        Ok((calls, rest)) => {
            let lines: Vec<String> = calls.iter().map(|call| guard.verdict_line(call)).collect();
            format!(
                "{{\"calls\":[{}],\"rest\":{}}}",
                lines.join(","),
                json!(rest)
            )
        }
        Err((name, why)) => json!({"no_call": name, "why": why}).to_string(),
    })
}

fn render(guard: &Guard, asked: &str) -> Told {
    let asked = read_value(asked).map_err(|error| format!("{:?}", error.problem))?;
    let [name, line] = asked.as_array().unwrap_or_default() else {
        return Err("expected a provider and a call line".to_owned());
    };
    let shape = provider(name.as_str().unwrap_or_default())?;
    let call =
        wire::read_line(line.as_str().unwrap_or_default()).map_err(|error| error.to_string())?;
    Ok(guard.render(shape, &call, &guard.gate().judge(&call)))
}

fn explain(guard: &Guard, line: &str) -> Told {
    let call = wire::read_line(line).map_err(|error| error.to_string())?;
    let trials = guard.gate().explain(&call);
    let told = trials.iter().map(|trial| {
        json!({
            "rule": trial.edit.rule,
            "grade": trial.edit.grade,
            "path": trial.edit.path,
            "helps": trial.helps,
            "words": guard.feedback().edit_line(&trial.edit),
        })
    });
    Ok(told.collect::<serde_json::Value>().to_string())
}

fn tools(guard: &Guard, _: &str) -> Told {
    Ok(guard.tools())
}

fn declare(guard: &Guard, name: &str) -> Told {
    Ok(guard.declarations(provider(name)?))
}
