//! Bounds on the cost of one input, counted and never timed, so that they hold on any machine and under any load.
//!
//! Work is counted in memory reads by our own crates (`fuzz/watch` makes the compiler report them), and in bytes
//! allocated, which also covers what other crates do for us. Memory is the peak; an allocation beyond the bound fails,
//! and ends the target.

use std::alloc::System;
use std::sync::atomic::{AtomicU64, Ordering};

use cap::Cap;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

static READS: AtomicU64 = AtomicU64::new(0);

/// Called wherever our crates read from memory, by size. A target has one thread, so a plain increment will do.
macro_rules! count_reads {
    ($($name:ident)+) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() {
            READS.store(READS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    )+};
}
count_reads!(
    __sanitizer_cov_load1 __sanitizer_cov_load2 __sanitizer_cov_load4 __sanitizer_cov_load8 __sanitizer_cov_load16
);

/// What an input may cost: a fixed amount, and an amount per byte. About eight times what the costliest inputs of the
/// corpus and their mutations take, so that anything that grows faster than the input is found at 4 kB.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Reads from memory by our own crates.
    pub reads: (u64, u64),
    /// Bytes allocated, freed or not.
    pub allocated: (u64, u64),
    /// Bytes held at the same time.
    pub held: (u64, u64),
}

/// Runs one input and checks its bounds. New maxima go to the log, so that the bounds can be kept tight.
pub fn bounded(input: &[u8], bounds: Bounds, run: impl FnOnce()) {
    static MOST: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
    let length = u64::try_from(input.len()).expect("a length");
    let most = |(base, per_byte): (u64, u64)| base + per_byte * length;
    let held = usize::try_from(most(bounds.held)).expect("a size");
    MEMORY
        .set_limit(MEMORY.allocated() + held)
        .expect("a limit");
    let before = MEMORY.total_allocated();
    READS.store(0, Ordering::Relaxed);
    run();
    let reads = READS.load(Ordering::Relaxed);
    let allocated = u64::try_from(MEMORY.total_allocated() - before).expect("a size");
    MEMORY.set_limit(usize::MAX).expect("no limit");
    let costs = [
        ("reads", reads, most(bounds.reads)),
        ("allocated bytes", allocated, most(bounds.allocated)),
    ];
    for ((what, cost, most), highest) in costs.into_iter().zip(&MOST) {
        assert!(
            cost <= most,
            "{cost} {what} for {length} bytes; the bound is {most}"
        );
        // In thousandths of the limit.
        let share = cost * 1000 / most;
        if share > highest.fetch_max(share, Ordering::Relaxed) {
            eprintln!("COST {share} of 1000: {cost} {what} for {length} bytes");
        }
    }
}
