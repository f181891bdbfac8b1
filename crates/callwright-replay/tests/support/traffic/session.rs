//! One conversation: what the model calls, how the calls turn out, and what it does next.
//!
//! After a refusal a model corrects the call in 44% of the cases, sends it again unchanged in 7%, never uses the tool
//! again in 28%, and otherwise does something else first. Some models do not notice that they repeat themselves.

use serde_json::{Value, json};

use super::World;
use super::pattern::{Damage, Label, Pattern, cut};
use super::random::Random;
use super::world::{self, MODELS};

/// A call with its place and its outcome.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) time: i64,
    pub(crate) session: String,
    pub(crate) turn: u64,
    pub(crate) round: u64,
    pub(crate) model: &'static str,
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) sent: Sent,
    pub(crate) output: Option<Value>,
    pub(crate) is_error: bool,
    pub(crate) latency_us: i64,
    /// The patterns that were planted, by their index in the list.
    pub(crate) planted: Vec<usize>,
}

/// Arguments as they were sent.
#[derive(Debug, Clone)]
pub(crate) enum Sent {
    Text(String),
    Value(Value),
}

/// A call that the model is about to make.
#[derive(Debug, Clone)]
struct Plan {
    tool: usize,
    name: String,
    /// The arguments without mistakes.
    meant: Value,
    sent: Sent,
    planted: Vec<usize>,
}

/// The outcome as the model sees it.
#[derive(PartialEq)]
enum Came {
    Fine,
    /// Because of the call itself.
    Refused,
    /// Because of something else.
    Failed,
}

/// A conversation in progress.
pub(crate) struct Session<'w> {
    world: &'w World,
    random: Random,
    name: String,
    model: usize,
    tools: Vec<usize>,
    time: i64,
    turn: u64,
    round: u64,
    length: usize,
    next_id: u64,
    records: Vec<Record>,
}

impl<'w> Session<'w> {
    pub(crate) fn new(
        world: &'w World,
        mut random: Random,
        name: String,
        time: i64,
        next_id: u64,
    ) -> Self {
        let shares: Vec<f64> = MODELS.iter().map(|model| model.share).collect();
        let model = random.weighted(&shares);
        let mut tools = Vec::new();
        for _ in 0..2 + random.below(5) {
            tools.push(random.weighted(&world.popularity));
        }
        tools.sort_unstable();
        tools.dedup();
        Session {
            world,
            random,
            name,
            model,
            tools,
            time,
            turn: 0,
            round: 0,
            length: 0,
            next_id,
            records: Vec::new(),
        }
    }

    /// A conversation of at most this many calls.
    pub(crate) fn talk(mut self, length: usize) -> Vec<Record> {
        self.length = length;
        while self.records.len() < length && !self.tools.is_empty() {
            if self.records.is_empty() || self.random.chance(0.3) {
                self.turn += 1;
                self.time += world::seconds(&mut self.random, 5, 240);
            }
            self.next_round();
            let side_by_side = if self.random.chance(0.15) {
                1 + self.random.below(3)
            } else {
                1
            };
            for _ in 0..side_by_side {
                if self.tools.is_empty() || self.records.len() >= length {
                    break;
                }
                let tool = self.tools[self.random.below(self.tools.len())];
                let plan = self.plan(tool);
                let came = self.make(&plan);
                self.react(&plan, &came);
            }
        }
        self.records
    }

    /// A program that makes the same mistake over and over, within an hour.
    pub(crate) fn burst(mut self, pattern: usize, calls: usize) -> Vec<Record> {
        self.turn = 1;
        let tool = self.world.tool(self.world.patterns[pattern].tool);
        self.length = calls;
        let mut step = 3_600_000_000 / calls.max(1) as i64;
        step -= step / 10;
        while self.records.len() < calls {
            self.round += 1;
            self.time += self.random.between(step / 2, step);
            let meant = self.world.tools[tool].arguments(&mut self.random);
            let plan = self.send(tool, meant, vec![pattern]);
            self.make(&plan);
        }
        self.records
    }

    fn next_round(&mut self) {
        self.round += 1;
        self.time += world::seconds(&mut self.random, 1, 20);
    }

    /// The model's next call: usually without a fault, rarely with two.
    fn plan(&mut self, tool: usize) -> Plan {
        let meant = self.world.tools[tool].arguments(&mut self.random);
        let mut planted = Vec::new();
        let mut left = self.random.share();
        for &at in &self.world.tools[tool].patterns {
            left -= self.likelihood(&self.world.patterns[at]);
            if left < 0.0 {
                planted.push(at);
                break;
            }
        }
        if let Some(&first) = planted.first()
            && self.random.chance(0.03)
        {
            let others = &self.world.tools[tool].patterns;
            let other = others[self.random.below(others.len())];
            if self.go_together(first, other) {
                planted.push(other);
            }
        }
        self.send(tool, meant, planted)
    }

    fn go_together(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|at| &self.world.patterns[at]);
        let parameters = (one.parameter(), other.parameter());
        matches!(parameters, (Some(left), Some(right)) if left != right)
            && self.likelihood(other) > 0.0
    }

    fn likelihood(&self, pattern: &Pattern) -> f64 {
        let is_theirs = pattern.models.is_empty() || pattern.models.contains(&self.model);
        let day = world::day(self.time);
        let is_their_time = (pattern.since_day..=pattern.until_day).contains(&day);
        if !is_theirs || pattern.burst.is_some() || !is_their_time {
            return 0.0;
        }
        let habit = match pattern.label {
            // Every model makes edge-case calls, some a little more often than others.
            Label::EdgeCase => 0.7 + 0.15 * ((pattern.number + self.model) % 5) as f64,
            Label::Bug if pattern.models.is_empty() && !pattern.is_in_result() => {
                MODELS[self.model].mistakes
            }
            Label::Bug => 1.0,
        };
        pattern.share * habit
    }

    fn send(&mut self, tool: usize, meant: Value, planted: Vec<usize>) -> Plan {
        let mut arguments = meant.clone();
        let mut name = self.world.tools[tool].name().to_owned();
        let mut is_cut = false;
        for &at in &planted {
            match self.world.patterns[at].damage {
                Damage::Cut => is_cut = true,
                Damage::Tool(names) => (*self.random.pick(names)).clone_into(&mut name),
                damage => damage.arguments(&mut self.random, &mut arguments),
            }
        }
        let sent = if is_cut {
            Sent::Text(cut(&mut self.random, &arguments.to_string()))
        } else if MODELS[self.model].sends_text {
            Sent::Text(arguments.to_string())
        } else {
            Sent::Value(arguments)
        };
        Plan {
            tool,
            name,
            meant,
            sent,
            planted,
        }
    }

    /// Makes the call and records its outcome.
    fn make(&mut self, plan: &Plan) -> Came {
        let tool = &self.world.tools[plan.tool];
        let patterns: Vec<&Pattern> = plan
            .planted
            .iter()
            .map(|&at| &self.world.patterns[at])
            .collect();
        let mut output = tool.result(&mut self.random);
        let is_refused = patterns.iter().any(|pattern| {
            world::day(self.time) < pattern.taken_since || self.random.chance(pattern.refused)
        });
        let errors = patterns
            .iter()
            .map(|pattern| pattern.more_errors)
            .sum::<f64>();
        let in_result = patterns.iter().find(|pattern| pattern.is_in_result());
        let mut came = Came::Fine;
        let mut error = None;
        if is_refused {
            error = Some(tool.refusal(&mut self.random, patterns[0]));
            came = Came::Refused;
        } else if let Some(pattern) = in_result {
            while !pattern.damage.result(&mut self.random, &mut output) {
                output = tool.result(&mut self.random);
            }
            if self.random.chance(pattern.noticed) {
                came = Came::Refused;
            }
        } else if self.random.chance(world::error_rate(tool.name()) + errors) {
            error = Some(world::error_of_another_cause(&mut self.random).to_owned());
            came = Came::Failed;
        }
        let is_error = error.is_some() && world::marks_errors(tool.name());
        let output = match error {
            Some(text) if is_error => json!(text),
            Some(text) => json!({"error": text}),
            None => output,
        };
        // Some results never reach the log.
        let is_kept =
            world::is_recorded(tool.name()) && (in_result.is_some() || !self.random.chance(0.03));
        let id = patterns
            .iter()
            .map(|pattern| format!("-p{}", pattern.number))
            .collect::<String>();
        let latency_us = (20_000.0 / (self.random.share() + 0.01)) as i64;
        self.records.push(Record {
            time: self.time,
            session: self.name.clone(),
            turn: self.turn,
            round: self.round,
            model: MODELS[self.model].name,
            id: format!("c{}{id}", self.next_id + self.records.len() as u64),
            tool: plan.name.clone(),
            sent: plan.sent.clone(),
            output: is_kept.then_some(output),
            is_error: is_kept && is_error,
            latency_us,
            planted: plan.planted.clone(),
        });
        came
    }

    fn react(&mut self, plan: &Plan, came: &Came) {
        match came {
            Came::Fine => {
                if world::is_polled(&plan.name) && self.random.chance(0.05) {
                    self.poll(plan);
                }
            }
            Came::Refused => match self.random.share() {
                share if share < 0.44 => self.mend(plan),
                share if share < 0.51 => self.again(plan),
                share if share < 0.79 => self.give_up(plan.tool),
                _ => {}
            },
            Came::Failed => {
                if self.random.chance(0.15) {
                    self.again(plan);
                }
            }
        }
    }

    /// The same call without its mistakes. Edge cases stay.
    fn mend(&mut self, plan: &Plan) {
        if self.records.len() >= self.length {
            return;
        }
        self.next_round();
        // If the result was useless, the model asks for something else.
        let meant = if plan
            .planted
            .iter()
            .any(|at| self.world.patterns[*at].is_in_result())
        {
            self.world.tools[plan.tool].arguments(&mut self.random)
        } else {
            plan.meant.clone()
        };
        let is_fine = |at: &usize| self.world.patterns[*at].label == Label::EdgeCase;
        let planted = plan.planted.iter().copied().filter(is_fine).collect();
        let mended = self.send(plan.tool, meant, planted);
        self.make(&mended);
    }

    /// The same call again, usually once, sometimes many times.
    fn again(&mut self, plan: &Plan) {
        let times = if self.random.chance(0.15) {
            2 + self.random.below(12)
        } else {
            1
        };
        for _ in 0..times {
            if self.records.len() >= self.length {
                return;
            }
            self.next_round();
            if self.make(plan) == Came::Fine {
                return;
            }
        }
    }

    /// The same question a few more times, as when waiting for a change. Not a fault.
    fn poll(&mut self, plan: &Plan) {
        for _ in 0..=self.random.below(4) {
            if self.records.len() >= self.length {
                return;
            }
            self.next_round();
            self.make(plan);
        }
    }

    /// The model stops using this tool; half of the time the user leaves.
    fn give_up(&mut self, tool: usize) {
        self.tools.retain(|known| *known != tool);
        if self.random.chance(0.5) {
            self.tools.clear();
        }
    }
}
