//! Which server has which resource and which task.
//!
//! Takes what servers list; returns the server to ask. What two servers have belongs to the first one.

use std::collections::HashMap;

/// How many URIs and how many tasks are remembered; beyond that, servers are asked in order. At a hundred bytes each
/// they take ten megabytes.
const MOST_KNOWN: usize = 100_000;

/// How many templates are remembered. Each is compared with a URI that no server has listed; real servers have a
/// handful.
const MOST_TEMPLATES: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Routes {
    uris: HashMap<String, usize>,
    templates: Vec<(usize, String)>,
    tasks: HashMap<String, usize>,
}

impl Routes {
    /// Records that a server has a resource. Returns the server that had it before, if that is another one.
    pub(crate) fn has_resource(&mut self, server: usize, uri: &str) -> Option<usize> {
        if let Some(other) = self.uris.get(uri) {
            return (*other != server).then_some(*other);
        }
        if self.uris.len() < MOST_KNOWN {
            self.uris.insert(uri.to_owned(), server);
        }
        None
    }

    /// Records that a server has a template. Returns the server that had it before, if that is another one.
    pub(crate) fn has_template(&mut self, server: usize, template: &str) -> Option<usize> {
        let known = self.templates.iter().find(|(_, known)| known == template);
        if let Some((other, _)) = known {
            return (*other != server).then_some(*other);
        }
        if self.templates.len() < MOST_TEMPLATES {
            self.templates.push((server, template.to_owned()));
        }
        None
    }

    pub(crate) fn has_task(&mut self, server: usize, task: &str) {
        if self.tasks.len() < MOST_KNOWN {
            self.tasks.insert(task.to_owned(), server);
        }
    }

    /// The server that has a resource, as far as known.
    pub(crate) fn of_uri(&self, uri: &str) -> Option<usize> {
        let by_template = || {
            let fits = |(_, template): &&(usize, String)| fits(template, uri);
            self.templates.iter().find(fits).map(|(server, _)| *server)
        };
        self.uris.get(uri).copied().or_else(by_template)
    }

    pub(crate) fn of_task(&self, task: &str) -> Option<usize> {
        self.tasks.get(task).copied()
    }

    /// A server is gone: another one may have its resources.
    pub(crate) fn forget(&mut self, server: usize) {
        self.uris.retain(|_, of| *of != server);
        self.templates.retain(|(of, _)| *of != server);
    }
}

/// Whether a URI may match a template: it contains everything outside the braces, in order. The template itself
/// matches too, since completions ask for it.
fn fits(template: &str, uri: &str) -> bool {
    if template == uri {
        return true;
    }
    let Some((first, mut rest)) = template.split_once('{') else {
        return false;
    };
    let Some(mut left) = uri.strip_prefix(first) else {
        return false;
    };
    while let Some((_, after)) = rest.split_once('}') {
        let Some((literal, next)) = after.split_once('{') else {
            return left.ends_with(after);
        };
        let Some(at) = left.find(literal) else {
            return false;
        };
        left = &left[at + literal.len()..];
        rest = next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_fit_their_templates() {
        for (template, uri) in [
            ("file:///{path}", "file:///a/b"),
            ("demo://text/{id}", "demo://text/{id}"),
            ("db://{table}/rows/{id}.json", "db://users/rows/7.json"),
            ("x://{a}{b}", "x://ab"),
            ("x://list{?page}", "x://list?page=2"),
        ] {
            assert!(fits(template, uri), "{template} {uri}");
        }
        for (template, uri) in [
            ("file:///{path}", "http://a"),
            ("db://{table}/rows/{id}.json", "db://users/rows/7.xml"),
            ("db://{table}/rows/{id}", "db://users/columns/7"),
            ("plain://a", "plain://b"),
            ("broken://{a", "broken://b"),
        ] {
            assert!(!fits(template, uri), "{template} {uri}");
        }
    }

    #[test]
    fn the_first_server_wins() {
        let mut routes = Routes::default();
        assert_eq!(routes.has_resource(1, "a://x"), None);
        assert_eq!(routes.has_resource(1, "a://x"), None);
        assert_eq!(routes.has_resource(0, "a://x"), Some(1));
        assert_eq!(routes.has_template(1, "b://{y}"), None);
        assert_eq!(routes.has_template(2, "b://{x}"), None);
        assert_eq!(routes.has_template(2, "b://{y}"), Some(1));
        assert_eq!(routes.of_uri("b://1"), Some(1));
        routes.forget(1);
        assert_eq!(
            (routes.of_uri("a://x"), routes.of_uri("b://1")),
            (None, Some(2))
        );
    }
}
