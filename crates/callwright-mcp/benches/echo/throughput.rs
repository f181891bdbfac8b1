//! Several calls in progress, and the guard's memory after many.

use std::fs;
use std::time::{Duration, Instant};

use crate::parts::{self, Client, call};

/// How many calls are in progress: as many as a busy agent with sub-agents has.
const UNDER_WAY: usize = 16;

/// How many calls come between two pauses: a turn has at most 10,000.
const PORTION: usize = 5_000;

/// How many portions each client sends.
const PORTIONS: usize = 8;

/// How many portions make a million calls.
const MILLION: usize = 1_000_000 / PORTION;

/// Any pause begins a new turn.
const OPTIONS: &[&str] = &["--quiet-turn", "0"];

pub(crate) fn measure() {
    println!("{UNDER_WAY} calls under way, in front of the server of this bench");
    let mut clients = parts::clients(&parts::fast(), OPTIONS);
    let mut took = vec![Duration::ZERO; clients.len()];
    for at in 0..PORTIONS {
        for (client, took) in clients.iter_mut().zip(&mut took) {
            let began = Instant::now();
            portion(client, at * PORTION);
            *took += began.elapsed();
        }
    }
    for (client, took) in clients.into_iter().zip(took) {
        let calls = u32::try_from(PORTION * PORTIONS).unwrap();
        let each = f64::from(calls) / took.as_secs_f64();
        println!("  {:<22} {each:>9.0} calls/s", client.name);
        client.end();
    }
}

/// Keeps this many calls in progress until all are answered, each once and in any order.
fn portion(client: &mut Client, first: usize) {
    let mut is_answered = vec![false; PORTION];
    for number in first..first + UNDER_WAY {
        client.send(&call(number));
    }
    for count in 0..PORTION {
        let line = client.receive();
        let (_, number) = line.split_once("Echo: hello ").expect("an echo");
        let number = number.split('"').next().unwrap().parse::<usize>().unwrap();
        assert!(!std::mem::replace(&mut is_answered[number - first], true));
        if count + UNDER_WAY < PORTION {
            client.send(&call(first + UNDER_WAY + count));
        }
    }
}

pub(crate) fn measure_memory() {
    let Some(mut client) = parts::guarded(&parts::fast(), OPTIONS) else {
        return;
    };
    println!("memory of the guard, in kB: resident now, and at most");
    let show = |client: &Client, calls: usize| {
        let path = format!("/proc/{}/status", client.child.id());
        let status = fs::read_to_string(path).unwrap_or_default();
        let of = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name));
            let number = line.and_then(|line| line.split_whitespace().nth(1));
            number.unwrap_or("?").to_owned()
        };
        println!(
            "  after {calls:>9} calls {:>8} {:>8}",
            of("VmRSS"),
            of("VmHWM")
        );
    };
    show(&client, 0);
    for at in 0..MILLION {
        portion(&mut client, at * PORTION);
        let calls = (at + 1) * PORTION;
        if calls == 10_000 || calls.is_multiple_of(250_000) {
            show(&client, calls);
        }
    }
    client.end();
}
