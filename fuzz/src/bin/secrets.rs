//! Generates calls with a secret in any place and any form: no output about them shows it.
//!
//! Input: bytes that choose the tool, the call and what is wrong with it.
#![no_main]

#[path = "../../../crates/callwright/tests/secrets/cases.rs"]
mod cases;
#[path = "../../../crates/callwright/tests/secrets/shown.rs"]
mod shown;

use callwright_fuzz::{Bounds, bounded, plant};
use cases::{Case, leak};
use libfuzzer_sys::fuzz_target;

const BOUNDS: Bounds = Bounds {
    reads: (50_000_000, 0),
    allocated: (128 << 20, 0),
    held: (64 << 20, 16 << 10),
};

/// Every first choice with every second one; the fuzzer continues from there.
fn seeds() -> Vec<Vec<u8>> {
    let pairs = (0..=255_u8).map(|byte| {
        let bytes = (0..32_u8).map(|at| byte.wrapping_mul(31).wrapping_add(at.wrapping_mul(byte)));
        bytes.collect()
    });
    pairs.collect()
}

fuzz_target!(
    init: plant(seeds()),
    |data: &[u8]| bounded(data, BOUNDS, || {
        // A case has about thirty choices; further bytes would only change the token.
        let case = Case::new(&data[..data.len().min(48)], "log_in");
        for (what, text) in shown::everything(&case) {
            let found = leak(&case.token, &text);
            assert!(found.is_none(), "{what} shows {found:?}:\n{text}\n{case:?}");
        }
    })
);
