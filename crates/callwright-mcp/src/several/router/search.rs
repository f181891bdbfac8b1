//! Resources that nobody has listed: one server after the other is asked, until one has it.

use std::collections::VecDeque;

use super::list::List;
use super::{Mail, Pending, State};
use crate::answer;
use crate::message::Id;

/// What the protocol says of a resource that nobody has.
const NO_RESOURCE: i32 = -32_002;

/// A resource that some server may have.
#[derive(Debug)]
pub(super) struct Search {
    id: String,
    message: Vec<u8>,
    uri: String,
    /// Who is still to be asked.
    left: VecDeque<usize>,
    /// What the first one answered.
    error: Option<Vec<u8>>,
}

impl State {
    /// Asks for a resource that nobody has listed: one server after the other, until one has it.
    pub(super) fn search<'m>(
        &mut self,
        message: &'m [u8],
        id: Id<'_>,
        uri: &str,
        mail: &mut Mail<'m>,
    ) {
        let mut left: VecDeque<usize> = self.listers(List::Resources).into();
        if left.len() == 1
            && let Some(server) = left.pop_front()
        {
            let pending = Pending::passes(id);
            return self.send(server, id, message.into(), pending, mail);
        }
        self.questions += 1;
        let search = Search {
            id: id.0.to_owned(),
            message: message.to_vec(),
            uri: uri.to_owned(),
            left,
            error: None,
        };
        self.searches.insert(self.questions, search);
        self.search_on(self.questions, mail);
    }

    /// The next one is asked.
    pub(super) fn search_on(&mut self, number: u64, mail: &mut Mail<'_>) {
        let Some(search) = self.searches.get_mut(&number) else {
            return;
        };
        while let Some(server) = search.left.pop_front() {
            if self.standing[server].gone.is_none() {
                let (id, message) = (search.id.clone(), search.message.clone());
                let pending = Pending::Search(number);
                return self.send(server, Id(&id), message.into(), pending, mail);
            }
        }
        if let Some(search) = self.searches.remove(&number) {
            let nobody = || {
                let why = format!("no MCP server has the resource {:?}", search.uri);
                answer::error(&search.id, NO_RESOURCE, &why)
            };
            let error = search.error.unwrap_or_else(nobody);
            mail.to_client.push(error.into());
        }
    }

    /// One of them answers.
    pub(super) fn search_answered<'m>(
        &mut self,
        number: u64,
        server: usize,
        message: &'m [u8],
        is_error: bool,
        mail: &mut Mail<'m>,
    ) {
        let Some(search) = self.searches.get_mut(&number) else {
            return;
        };
        if is_error {
            search.error.get_or_insert_with(|| message.to_vec());
            return self.search_on(number, mail);
        }
        if let Some(search) = self.searches.remove(&number) {
            let _others = self.routes.has_resource(server, &search.uri);
        }
        mail.to_client.push(message.into());
    }
}
