//! One answer for the client, when all servers have given theirs or it has waited long enough.

use std::borrow::Cow;
use std::time::Instant;

use super::gather::{Gather, Kind};
use super::{Mail, NO_METHOD, SERVER_GONE, State, hello};
use crate::answer;
use crate::message::{Id, Message};

impl State {
    pub(super) fn finish_if_done(&mut self, number: u64, mail: &mut Mail<'_>) {
        let is_done = |gather: &Gather| gather.parts.iter().all(|part| part.is_done);
        if !self.gathers.get(&number).is_some_and(is_done) {
            return;
        }
        if let Some(gather) = self.gathers.remove(&number)
            && !gather.is_answered
        {
            self.answer(&gather, mail);
        }
    }

    /// The client gives up on a question.
    pub(super) fn drop_gather(&mut self, id: Id<'_>) {
        let key = id.key();
        self.gathers.retain(|_, gather| Id(&gather.id).key() != key);
    }

    /// Who has waited long enough gets what there is.
    pub(super) fn tick(&mut self, now: Instant, mail: &mut Mail<'_>) {
        let due = |gather: &Gather| !gather.is_answered && gather.deadline <= now;
        let numbers: Vec<u64> = self
            .gathers
            .iter()
            .filter(|(_, gather)| due(gather))
            .map(|(number, _)| *number)
            .collect();
        for number in numbers {
            let Some(mut gather) = self.gathers.remove(&number) else {
                continue;
            };
            for part in gather.parts.iter().filter(|part| !part.is_done) {
                let name = &self.standing[part.server].name;
                mail.warnings.push(format!(
                    "the MCP server {name:?} is slow; the client goes on without it, and is told when it is there"
                ));
            }
            self.answer(&gather, mail);
            gather.is_answered = true;
            self.gathers.insert(number, gather);
        }
    }

    /// One answer out of those that are there.
    fn answer(&mut self, gather: &Gather, mail: &mut Mail<'_>) {
        let is_whole = gather
            .parts
            .iter()
            .all(|part| part.is_done && part.error.is_none());
        let good: Vec<(usize, &[String])> = gather
            .parts
            .iter()
            .filter(|part| part.is_done && part.error.is_none())
            .map(|part| (part.server, part.pages.as_slice()))
            .collect();
        let error = gather.parts.iter().find_map(|part| part.error.as_deref());
        let result = match &gather.kind {
            Kind::Initialize(asked) if self.is_anybody_left() => {
                Ok(hello::initialized(&self.standing, asked.as_deref()))
            }
            Kind::Initialize(_) => Err(answer::fault(SERVER_GONE, &self.why_nobody())),
            Kind::Discover if is_whole && !good.is_empty() => Ok(hello::discovered(&self.standing)),
            Kind::Discover => {
                // Then the client shakes hands, which all of them know. Those that have answered this may not take it
                // any more.
                self.is_mixed = true;
                mail.restarts.extend(good.iter().map(|(server, _)| *server));
                for standing in &mut self.standing {
                    standing.hello = None;
                }
                let why = "not all of the MCP servers know `server/discover`; initialize them";
                Err(answer::fault(NO_METHOD, why))
            }
            Kind::List(list) => match error.filter(|_| good.is_empty()) {
                Some(error) => Err(error.to_owned()),
                None => Ok(self.merged(*list, &good, is_whole, &mut mail.warnings)),
            },
            Kind::Order => match (good.first().and_then(|(_, pages)| pages.first()), error) {
                (Some(result), _) => Ok(result.clone()),
                (None, Some(error)) => Err(error.to_owned()),
                (None, None) => Ok("{}".to_owned()),
            },
        };
        let (member, value) = match &result {
            Ok(result) => ("result", result),
            Err(error) => ("error", error),
        };
        let id = &gather.id;
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":{value}}}");
        mail.to_client.push(Cow::Owned(answer.into_bytes()));
        if matches!(gather.kind, Kind::Initialize(_)) {
            self.let_go(mail);
        }
    }

    /// Whether the client waits for the answer to its `initialize`.
    pub(super) fn is_greeting(&self) -> bool {
        let mut gathers = self.gathers.values();
        gathers.any(|gather| !gather.is_answered && matches!(gather.kind, Kind::Initialize(_)))
    }

    /// What the client sent before it had the answer to its `initialize` goes on.
    fn let_go(&mut self, mail: &mut Mail<'_>) {
        for message in std::mem::take(&mut self.early) {
            let mut own = Mail::default();
            let read = Message::read(&message);
            self.client_sends(&message, read, self.latest, &mut own);
            mail.take_in(own);
        }
    }

    fn is_anybody_left(&self) -> bool {
        self.standing.iter().any(|standing| standing.gone.is_none())
    }

    fn why_nobody(&self) -> String {
        let why = self
            .standing
            .iter()
            .filter_map(|standing| standing.gone.as_deref());
        why.collect::<Vec<_>>().join("\n")
    }
}
