//! Time per call, next to a reference in the same run: `cargo bench --bench gate`.
#![allow(missing_docs, clippy::expect_used, clippy::wildcard_imports)]

#[path = "support/mod.rs"]
mod support;

use std::cell::Cell;
use std::sync::LazyLock;

use callwright::feedback::Feedback;
use callwright::repair::{Grade, RepairPolicy};
use callwright::validate::{CompiledSchema, SchemaCache};
use callwright::{Call, Gate, ToolSpec};
use divan::{Bencher, black_box};
use serde_json::Value;
use support::{Traffic, traffic};

static TRAFFIC: LazyLock<Traffic> = LazyLock::new(traffic);
static GATE: LazyLock<Gate> = LazyLock::new(|| gate(RepairPolicy::Never));
static REPAIRING: LazyLock<Gate> = LazyLock::new(|| gate(RepairPolicy::UpTo(Grade::Guess)));

fn gate(policy: RepairPolicy) -> Gate {
    let specs = TRAFFIC
        .tools
        .iter()
        .map(|(name, schema)| ToolSpec::new(name, schema.clone()));
    Gate::builder()
        .tools(specs)
        .repair(policy)
        .build()
        .expect("tools")
}

fn main() {
    LazyLock::force(&GATE);
    LazyLock::force(&REPAIRING);
    divan::main();
}

/// Runs `work` on one item after the other, over and over.
fn each<T: Sync, U>(bencher: Bencher<'_, '_>, items: &'static [T], work: impl Fn(&'static T) -> U) {
    let next = Cell::new(0);
    bencher.bench_local(|| {
        let at = next.get();
        next.set((at + 1) % items.len());
        work(&items[at])
    });
}

mod valid {
    use super::*;

    /// The unavoidable part: the bare parse.
    #[divan::bench(sample_size = 1000)]
    fn serde_json(bencher: Bencher<'_, '_>) {
        each(bencher, &TRAFFIC.valid, |(_, text)| {
            serde_json::from_str::<Value>(text)
        });
    }

    /// From text to a value that may be passed to the tool.
    #[divan::bench(sample_size = 1000)]
    fn gate(bencher: Bencher<'_, '_>) {
        each(bencher, &TRAFFIC.valid, |(tool, text)| {
            let call = Call::from_text(tool.as_str(), text.as_str());
            let passed = GATE.judge(black_box(&call)).failure().is_none();
            assert!(passed, "{tool} {text}");
        });
    }
}

mod failing {
    use super::*;

    /// From text to the instruction for the model.
    #[divan::bench(sample_size = 100)]
    fn gate(bencher: Bencher<'_, '_>) {
        let feedback = Feedback::default();
        each(bencher, &TRAFFIC.failing, move |(tool, text)| {
            let call = Call::from_text(tool.as_str(), text.as_str());
            let verdict = GATE.judge(black_box(&call));
            verdict.failure().map(|failure| feedback.render(failure))
        });
    }
}

mod repair {
    use super::*;

    /// From text to the verdict, repaired if possible.
    #[divan::bench(sample_size = 100)]
    fn gate(bencher: Bencher<'_, '_>) {
        each(bencher, &TRAFFIC.failing, |(tool, text)| {
            let call = Call::from_text(tool.as_str(), text.as_str());
            REPAIRING.judge(black_box(&call)).name()
        });
    }
}

mod schema {
    use super::*;

    /// A schema that has never been seen.
    #[divan::bench]
    fn compile(bencher: Bencher<'_, '_>) {
        each(bencher, &TRAFFIC.tools, |(_, schema)| {
            CompiledSchema::compile(schema.clone())
        });
    }

    /// A schema that was seen before.
    #[divan::bench]
    fn cache_hit(bencher: Bencher<'_, '_>) {
        let cache = SchemaCache::new(1 << 30);
        for (_, schema) in &TRAFFIC.tools {
            let _ = cache.compile(&std::sync::Arc::new(schema.clone()));
        }
        each(bencher, &TRAFFIC.tools, move |(_, schema)| {
            cache.compile(&std::sync::Arc::new(schema.clone()))
        });
    }
}
