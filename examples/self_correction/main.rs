//! Self-correction: a whole agent over HTTP whose model makes every mistake once, and recovers from each with
//! callwright's feedback.
//!
//! Run it with `cargo run -p callwright-examples --example self_correction`. It needs no model: a scripted one is
//! started on this machine, which reads the instructions in each request and continues only if they are there.
//!
//! With a real one, of any provider that speaks OpenAI's chat completions:
//!
//! ```text
//! OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_MODEL=qwen3 \
//!     cargo run -p callwright-examples --example self_correction -- "I am C-1042. Where is my lamp?"
//! ```
//!
//! `OPENAI_API_KEY` is sent if it is set. For `https` addresses add `--features tls`. The exit code is 0 if the model
//! finished, 1 if it did not, and 3 if it could not be reached.

mod agent;
mod counts;
mod endpoint;
mod person;
mod script;
mod tools;
mod transcript;

use std::error::Error;
use std::process::ExitCode;

use callwright::Policy;
use callwright::admit::Steps;
use callwright::event::On;
use callwright::toolbox::Toolbox;

use agent::{Agent, Ending};
use counts::Counts;
use endpoint::Endpoint;
use person::Person;

/// The task if none is given.
const TASK: &str = "I am customer C-1042. Where is the parcel with my lamp?";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(Ending::Finished) => ExitCode::SUCCESS,
        Ok(Ending::GaveUp(why)) => {
            eprintln!("not finished: {why}");
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

async fn run() -> Result<Ending, Box<dyn Error>> {
    let (endpoint, person) = match Endpoint::from_environment()? {
        Some(endpoint) => (endpoint, Person::at_terminal()),
        None => (
            Endpoint::scripted(&script::start().await?)?,
            Person::Scripted,
        ),
    };
    let counts = Counts::default();
    let counting = counts.clone();
    let toolbox = Toolbox::builder()
        .tool(tools::search_orders()?)
        .tool(tools::track_parcel())
        .policy(policy(&person))
        .on(On::Any, move |event| counting.count(event))
        .build()?;

    let task = std::env::args().nth(1);
    let ending = Agent::new(&endpoint, &toolbox, person)
        .run(task.as_deref().unwrap_or(TASK))
        .await?;

    toolbox.sinks().flush(counts::LONGEST_WAIT);
    transcript::say("events", &counts.to_string());
    Ok(ending)
}

/// One step fewer on each rung than usual, so that the whole ladder fits into a short transcript.
fn policy(person: &Person) -> Policy {
    let mut policy = Policy::default();
    policy.admission.repeated_call = Steps::new(2, 3);
    policy.admission.ask_after = 2;
    policy.admission.escalation = person.escalation();
    policy
}
