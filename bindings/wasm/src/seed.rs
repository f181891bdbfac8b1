//! Random numbers for the seeds of hash maps, so that colliding keys cannot be prepared.
//!
//! The module has no imports: the caller passes in a seed when it creates an instance. Nothing else is random here.

use std::sync::atomic::{AtomicU64, Ordering};

static STATE: AtomicU64 = AtomicU64::new(0);

/// Sets the seed. The caller does this once, before anything else.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn callwright_seed(low: u32, high: u32) {
    STATE.store(u64::from(high) << 32 | u64::from(low), Ordering::Relaxed);
}

/// Fills memory with numbers that follow from the seed (splitmix64).
///
/// # Safety
/// `memory` has room for this many bytes.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    memory: *mut u8,
    length: usize,
) -> Result<(), getrandom::Error> {
    for at in 0..length {
        let state = STATE.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mut mixed = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // SAFETY: as the caller promises.
        unsafe { memory.add(at).write((mixed >> 56) as u8) };
    }
    Ok(())
}
