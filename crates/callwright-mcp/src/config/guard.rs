//! Puts the guard in front of the servers of a client's configuration.
//!
//! Takes the text of a file; returns which of its servers are guarded, or the text with the guard added or removed.
//! Only the command and the arguments of a server are edited, in place: comments, order, indentation and everything
//! else stay as they are.

use callwright::internal::{Replacement, Replacements};
use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;

use super::ConfigError;
use super::file::{self, Reached};

/// The word that separates our options from the server's command.
const SEPARATOR: &str = "--";

/// All keys under which clients keep servers.
pub const ANY_KEY: [&str; 3] = file::KEYS;

/// A server in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name in the configuration.
    pub name: String,
    /// Whether it is guarded.
    pub state: State,
}

/// Whether a server is guarded, or why it cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Started by its own command.
    Plain,
    /// Started through `callwright mcp`.
    Guarded,
    /// Reached over HTTP. The client may have to sign in there, which a guard in front of it cannot do.
    ByUrl,
    /// Neither a command nor a URL: an extension, for example.
    NoCommand,
    /// A command with its arguments in one string, arguments that are not strings, or a URL as well.
    Unusual,
}

/// An edit to the servers of a file.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// Puts a guard in front of those that have none.
    Guard {
        /// The program that the client starts as callwright.
        program: &'a str,
        /// The options of `callwright mcp`.
        options: &'a [String],
    },
    /// Removes the guard.
    Undo,
}

/// The servers under these keys, in file order.
///
/// # Errors
/// If the text is not JSON (with the position), or not an object.
///
/// ```
/// use callwright_mcp::config::guard::{ANY_KEY, State, list};
///
/// let text = r#"{"mcpServers": {"git": {"command": "callwright", "args": ["mcp", "--", "mcp-server-git"]}}}"#;
/// assert_eq!(list(text, &ANY_KEY)?[0].state, State::Guarded);
/// # Ok::<(), callwright_mcp::config::ConfigError>(())
/// ```
pub fn list(text: &str, keys: &[&str]) -> Result<Vec<Listed>, ConfigError> {
    let Some(file) = file::parse(body(text))? else {
        return Ok(Vec::new());
    };
    let found = entries(&file, keys).into_iter();
    Ok(found
        .map(|(name, entry)| Listed {
            name: name.to_owned(),
            state: CommandLine::of(entry).map_or_else(|state| state, |command| command.state()),
        })
        .collect())
}

/// The text with a change made to the servers selected by name.
///
/// # Errors
/// If the text is not JSON (with the position), or not an object.
pub fn edit(
    text: &str,
    keys: &[&str],
    wanted: &dyn Fn(&str) -> bool,
    change: Change<'_>,
) -> Result<String, ConfigError> {
    let body = body(text);
    let Some(file) = file::parse(body)? else {
        return Ok(text.to_owned());
    };
    let mut changes = Replacements::default();
    for (name, entry) in entries(&file, keys) {
        let Ok(command) = CommandLine::of(entry) else {
            continue;
        };
        if !wanted(name) {
            continue;
        }
        match change {
            Change::Guard { program, options } => {
                changes.extend(command.guarded(body, program, options));
            }
            Change::Undo => changes.extend(command.unguarded(body)),
        }
    }
    let edited = changes.in_text(body);
    // Never produce a file that its client could no longer read.
    file::parse(&edited)?;
    Ok(text[..text.len() - body.len()].to_owned() + &edited)
}

/// The text without the byte order mark that some Windows editors put before it.
fn body(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// The entries of all servers. Claude Code also has some for each project.
fn entries<'f, 'a>(file: &'f Object<'a>, keys: &[&str]) -> Vec<(&'f str, &'f Object<'a>)> {
    let within = |object: &'f Object<'a>, key: &str| file::member(object, key)?.value.as_object();
    let projects = within(file, "projects").into_iter();
    let projects = projects.flat_map(|projects| &projects.properties);
    let projects = projects.filter_map(|project| project.value.as_object());
    let places = std::iter::once(file).chain(projects);
    let groups = places.flat_map(|place| keys.iter().filter_map(move |key| within(place, key)));
    let members = groups.flat_map(|group| &group.properties);
    members
        .filter_map(|member| Some((member.name.as_str(), member.value.as_object()?)))
        .collect()
}

/// The command line of a server.
struct CommandLine<'f, 'a> {
    /// The member with the program.
    program: &'f ObjectProp<'a>,
    /// The program and its arguments.
    words: Vec<&'f str>,
    args: Option<&'f Array<'a>>,
}

impl<'f, 'a> CommandLine<'f, 'a> {
    fn of(entry: &'f Object<'a>) -> Result<Self, State> {
        let launch = match Reached::of(entry) {
            Reached::ByCommand(launch) => launch,
            Reached::ByUrl(_) => return Err(State::ByUrl),
            Reached::Both => return Err(State::Unusual),
            Reached::Neither => return Err(State::NoCommand),
        };
        let program = launch.program.ok_or(State::Unusual)?;
        let first = program.value.as_string_lit().ok_or(State::Unusual)?;
        // A null would have to be replaced, so it is not the same as an absent member.
        let args = match file::named(launch.object, "args").map(|args| &args.value) {
            None => None,
            Some(Value::Array(args)) => Some(args),
            Some(_) => return Err(State::Unusual),
        };
        let mut words = vec![first.value.as_ref()];
        for arg in args.into_iter().flat_map(|args| &args.elements) {
            words.push(arg.as_string_lit().ok_or(State::Unusual)?.value.as_ref());
        }
        // `npx -y server` in one string: a shell would split it, and not every client uses one.
        let mut parts = words[0].split_whitespace();
        let is_line = parts.next().is_some_and(|part| !part.contains(['/', '\\']));
        if is_line && parts.next().is_some() {
            return Err(State::Unusual);
        }
        Ok(CommandLine {
            program,
            words,
            args,
        })
    }

    fn state(&self) -> State {
        match self.guard() {
            Some(_) => State::Guarded,
            None => State::Plain,
        }
    }

    /// Which word is our `mcp`. We may be started by `uvx` or `npx -y`.
    fn guard(&self) -> Option<usize> {
        let pairs = self.words.windows(2).take(3);
        let ours = pairs.map(|pair| is_callwright(pair[0]) && pair[1] == "mcp");
        ours.enumerate()
            .find_map(|(at, ours)| ours.then_some(at + 1))
    }

    /// The edits that put a guard in front of the server; none if it has one.
    fn guarded(&self, text: &str, program: &str, options: &[String]) -> Vec<Replacement> {
        if self.guard().is_some() {
            return Vec::new();
        }
        let own = self.program.value.range();
        let literal = &text[own.start..own.end];
        let mut words = vec![quoted("mcp")];
        words.extend(options.iter().map(|option| quoted(option)));
        words.extend([quoted(SEPARATOR), literal.to_owned()]);
        let before = (own.start..own.end, quoted(program));
        let inserted = match self.args.map(|args| (args, args.elements.first())) {
            Some((args, Some(first))) => {
                let between = &text[args.range.start + 1..first.range().start];
                let separator = if between.contains('\n') && between.trim().is_empty() {
                    format!(",{between}")
                } else {
                    ", ".to_owned()
                };
                let at = first.range().start;
                (at..at, words.join(&separator) + &separator)
            }
            Some((args, None)) => {
                let at = args.range.start + 1;
                (at..at, words.join(", "))
            }
            None => {
                let line = line_before(text, self.program.range.start);
                let args = format!(",{line}\"args\": [{}]", words.join(", "));
                (own.end..own.end, args)
            }
        };
        vec![before, inserted]
    }

    /// The edits that remove the guard; none if there is none, or if it has no separator.
    fn unguarded(&self, text: &str) -> Vec<Replacement> {
        let (Some(mcp), Some(args)) = (self.guard(), self.args) else {
            return Vec::new();
        };
        let after = self
            .words
            .iter()
            .skip(mcp)
            .position(|word| *word == SEPARATOR);
        // The program itself is the first word, and not among the arguments.
        let Some(command) = after.and_then(|after| args.elements.get(mcp + after)) else {
            return Vec::new();
        };
        let at = mcp + after.unwrap_or_default();
        let own = self.program.value.range();
        let literal = text[command.range().start..command.range().end].to_owned();
        let program = (own.start..own.end, literal);
        let begin = args.elements[0].range().start;
        let rest = match args.elements.get(at + 1) {
            Some(next) => begin..next.range().start,
            // Only a comma and whitespace separate the two members: the second one is ours.
            None if text.get(own.end..args.range.start).is_some_and(is_next) => {
                own.end..args.range.end
            }
            None => begin..command.range().end,
        };
        vec![program, (rest, String::new())]
    }
}

/// Whether `"args":` is all that separates a command from the list.
fn is_next(between: &str) -> bool {
    let mut letters = between.chars().filter(|letter| !letter.is_whitespace());
    letters.by_ref().eq(",\"args\":".chars())
}

/// The line break and indentation before a position, or a space if it is not the first on its line.
fn line_before(text: &str, at: usize) -> &str {
    let before = &text[..at];
    let blanks = before.trim_end_matches([' ', '\t']);
    match blanks.strip_suffix('\n') {
        Some(rest) => &before[rest.strip_suffix('\r').unwrap_or(rest).len()..],
        None => " ",
    }
}

/// Whether a word names this program: a path to it, or a package with a version.
pub fn is_callwright(word: &str) -> bool {
    let file = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let file = file.split_once('@').map_or(file, |(name, _)| name);
    let file = file.strip_suffix(".exe").unwrap_or(file);
    file.eq_ignore_ascii_case("callwright")
}

fn quoted(word: &str) -> String {
    serde_json::Value::from(word).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(text: &str) -> String {
        let options = ["--policy".to_owned(), "/p q.toml".to_owned()];
        let program = "/bin/callwright";
        let options = &options;
        edit(
            text,
            &ANY_KEY,
            &|_| true,
            Change::Guard { program, options },
        )
        .expect("it can be edited")
    }

    fn undone(text: &str) -> String {
        edit(text, &ANY_KEY, &|_| true, Change::Undo).expect("it can be edited")
    }

    #[test]
    fn only_the_command_is_edited() {
        let text = r#"{
  // the files
  "mcpServers": {
    "files": {
      "command": "npx", // from npm
      "args": [
        "-y",
        "server-filesystem", /* which one */
        "/data",
      ],
      "env": {"KEY": "1"},
    },
    "git": {"command": "uvx", "args": ["mcp-server-git"]},
  },
}
"#;
        let expected = r#"{
  // the files
  "mcpServers": {
    "files": {
      "command": "/bin/callwright", // from npm
      "args": [
        "mcp",
        "--policy",
        "/p q.toml",
        "--",
        "npx",
        "-y",
        "server-filesystem", /* which one */
        "/data",
      ],
      "env": {"KEY": "1"},
    },
    "git": {"command": "/bin/callwright", "args": ["mcp", "--policy", "/p q.toml", "--", "uvx", "mcp-server-git"]},
  },
}
"#;
        assert_eq!(guarded(text), expected);
        assert_eq!(guarded(expected), expected, "guarded once is enough");
        assert_eq!(undone(expected), text);
        assert_eq!(undone(text), text);
    }

    #[test]
    fn undo_restores_every_form() {
        for text in [
            r#"{"mcpServers": {"a": {"command": "server"}}}"#,
            "{\"servers\": {\r\n\t\"a\": {\r\n\t\t\"type\": \"stdio\",\r\n\t\t\"command\": \"server\",\r\n\t\t\"env\": {}\r\n\t}\r\n}}",
            r#"{"context_servers": {"a": {"source": "custom", "command": {"path": "x", "args": ["--", "y"]}}}}"#,
            r#"{"context_servers": {"a": {"command": {"path": "x"}, "settings": {}}}}"#,
            r#"{"projects": {"/home/me/x": {"mcpServers": {"a": {"args": ["1"], "command": "x"}}}}}"#,
            r#"{"servers": {"a": {"command": "C:\\Program Files\\node.exe", "args": ["\u0041", "--", "--"]}}}"#,
            r#"{"servers": {"a": {"command": "x", "args": [ /* none */ "y" ]}}}"#,
            "{}",
            "",
            "// nothing yet\n",
        ] {
            let once = guarded(text);
            let states = list(&once, &ANY_KEY).expect("still readable");
            assert!(
                states.iter().all(|server| server.state == State::Guarded),
                "{once}"
            );
            assert_eq!(undone(&once), text);
        }
    }

    #[test]
    fn an_empty_argument_list_may_be_dropped() {
        let text = r#"{"servers": {"a": {"command": "x", "args": []}}}"#;
        let once = guarded(text);
        assert!(
            once.contains(r#""args": ["mcp", "--policy", "/p q.toml", "--", "x"]"#),
            "{once}"
        );
        assert_eq!(undone(&once), r#"{"servers": {"a": {"command": "x"}}}"#);
        let apart = r#"{"servers": {"a": {"args": [], "command": "x"}}}"#;
        assert_eq!(undone(&guarded(apart)), apart);
    }

    #[test]
    fn servers_that_cannot_be_guarded_are_left_alone() {
        let text = r#"{"mcpServers": {
            "url": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "x"}},
            "windsurf": {"serverUrl": "https://example.com/mcp"},
            "extension": {"source": "extension", "settings": {}},
            "line": {"command": "npx -y server"},
            "numbers": {"command": "x", "args": ["-p", 80]},
            "null": {"command": "x", "args": null},
            "ours": {"command": "callwright", "args": ["mcp", "npx", "server"]},
            "uvx": {"command": "uvx", "args": ["callwright@0.1.0", "mcp", "--servers", "x.json"]},
            "npx": {"command": "npx", "args": ["-y", "callwright", "mcp", "--", "server"]}
        }}"#;
        let states = list(text, &ANY_KEY).expect("readable");
        let states: Vec<State> = states.iter().map(|server| server.state).collect();
        let (url, odd, guarded_before) = (State::ByUrl, State::Unusual, State::Guarded);
        assert_eq!(
            states,
            [
                url,
                url,
                State::NoCommand,
                odd,
                odd,
                odd,
                guarded_before,
                guarded_before,
                guarded_before
            ]
        );
        assert_eq!(guarded(text), text);
        let freed = text.replace(
            r#""npx", "args": ["-y", "callwright", "mcp", "--", "server"]"#,
            r#""server""#,
        );
        assert_eq!(
            undone(text),
            freed,
            "only where the server's command is known"
        );
    }

    #[test]
    fn other_servers_are_not_edited() {
        let text = r#"{"servers": {"a": {"command": "x"}, "b": {"command": "y"}}}"#;
        let options = &[];
        let program = "callwright";
        let change = Change::Guard { program, options };
        let edited = edit(text, &ANY_KEY, &|name| name == "b", change).expect("edited");
        assert!(edited.contains(r#""a": {"command": "x"}"#), "{edited}");
        assert!(edited.contains(r#""args": ["mcp", "--", "y"]"#), "{edited}");
    }

    #[test]
    fn invalid_json_is_not_edited() {
        for text in ["{", "[]", "{'a': 1}", "x", &"[".repeat(100_000)] {
            list(text, &ANY_KEY).expect_err("not a configuration");
            edit(text, &ANY_KEY, &|_| true, Change::Undo).expect_err("not a configuration");
        }
    }
}
