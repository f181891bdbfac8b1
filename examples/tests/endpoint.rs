//! What `self_correction` prints when its model cannot be reached.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use support::{example, run};

/// Starts a server that answers every request with the same bytes; returns its address.
fn server(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that hangs up early is not a failure.
            let _ = serve(stream, &answer);
        }
    });
    format!("http://{address}/v1/")
}

/// Reads one complete request and answers it.
fn serve(mut stream: TcpStream, answer: &str) -> io::Result<()> {
    let mut request = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    let mut line = String::new();
    // The header ends with an empty line.
    while request.read_line(&mut line)? > 2 {
        let header = line.to_ascii_lowercase();
        if let Some(bytes) = header.strip_prefix("content-length:") {
            length = bytes.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    io::copy(&mut request.take(length), &mut io::sink())?;
    stream.write_all(answer.as_bytes())
}

fn http(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

/// The error line of a run against this address, without the address.
#[track_caller]
fn error_line(base: &str) -> String {
    let mut command = example("self_correction");
    command
        .env("OPENAI_BASE_URL", base)
        .env("OPENAI_MODEL", "any");
    let output = run(command);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let error = String::from_utf8(output.stderr).expect("text");
    let url = format!("{}/chat/completions", base.trim_end_matches('/'));
    assert_eq!(error.lines().count(), 1, "{error}");
    error.trim_end().replace(&url, "URL")
}

#[test]
fn a_server_that_fails() {
    let base = server(http(
        "500 Internal Server Error",
        "out of memory\n\u{1b}[2J",
    ));
    assert_eq!(
        error_line(&base),
        "error: URL answered 500 Internal Server Error: out of memory\\n\\u{1b}[2J; \
         the server failed: try again later, or look into its log"
    );
}

#[test]
fn a_server_that_wants_a_key() {
    let body = r#"{"error": {"message": "Incorrect API key provided."}}"#;
    assert_eq!(
        error_line(&server(http("401 Unauthorized", body))),
        "error: URL answered 401 Unauthorized: Incorrect API key provided; \
         set OPENAI_API_KEY to a key that is valid for this server"
    );
}

#[test]
fn an_address_that_is_something_else() {
    assert_eq!(
        error_line(&server(http("200 OK", "<html>Welcome to nginx</html>"))),
        "error: URL did not answer with a chat completion (expected value at line 1 column 1): \
         <html>Welcome to nginx</html>; \
         OPENAI_BASE_URL must be the part before /chat/completions, such as http://localhost:11434/v1"
    );
    assert_eq!(
        error_line(&server(http("404 Not Found", ""))),
        "error: URL answered 404 Not Found: nothing; \
         check OPENAI_BASE_URL (it usually ends with /v1) and OPENAI_MODEL"
    );
}

#[test]
fn an_answer_without_choices() {
    let error = error_line(&server(http("200 OK", r#"{"choices": []}"#)));
    assert!(error.contains("(no choices)"), "{error}");
}

#[test]
fn an_answer_without_end() {
    // Five megabytes where a few kilobytes are usual.
    let error = error_line(&server(http("200 OK", &" ".repeat(5 * 1024 * 1024))));
    assert_eq!(
        error,
        "error: URL sent more than 4194304 bytes; ask for shorter answers"
    );
}

#[test]
fn an_answer_that_is_interrupted() {
    let whole = http(
        "200 OK",
        r#"{"choices": [{"message": {"content": "Hi."}}]}"#,
    );
    let error = error_line(&server(whole[..whole.len() - 10].to_owned()));
    assert!(
        error.starts_with("error: the connection to URL broke: "),
        "{error}"
    );
}

#[test]
fn nothing_listening() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
    drop(listener);
    let error = error_line(&base);
    assert!(
        error.starts_with("error: cannot connect to URL: "),
        "{error}"
    );
    assert!(
        error.ends_with("; check OPENAI_BASE_URL and whether the server runs"),
        "{error}"
    );
}

#[test]
fn a_model_must_be_named() {
    let mut command = example("self_correction");
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    let output = run(command);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: OPENAI_BASE_URL is set and OPENAI_MODEL is not: name the model to be asked\n"
    );
}

#[cfg(not(feature = "tls"))]
#[test]
fn https_needs_a_feature() {
    assert_eq!(
        error_line("https://127.0.0.1:9/v1"),
        "error: cannot speak TLS: add `--features tls` for an https address"
    );
}

/// A real endpoint without a user at the terminal: an answer in words ends the run, a truncated one does not.
#[test]
fn answers_in_words() {
    for (reason, code) in [("stop", 0), ("length", 1)] {
        let body = format!(
            r#"{{"choices": [{{"message": {{"role": "assistant", "content": "Hi."}}, "finish_reason": "{reason}"}}]}}"#
        );
        let mut command = example("self_correction");
        command
            .arg("Say hi.")
            .env("OPENAI_BASE_URL", server(http("200 OK", &body)))
            .env("OPENAI_MODEL", "any");
        let output = run(command);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(
            printed.contains("user        Say hi.\nmodel       Hi.\n"),
            "{printed}"
        );
    }
}

/// A model that ignores instructions, and no user to ask: callwright stops it.
#[test]
fn a_model_that_repeats_itself_is_stopped() {
    let body = r#"{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "track_parcel", "arguments": "{}"}}
    ]}, "finish_reason": "tool_calls"}]}"#;
    let mut command = example("self_correction");
    command
        .env("OPENAI_BASE_URL", server(http("200 OK", body)))
        .env("OPENAI_MODEL", "any");
    let output = run(command);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "not finished: callwright stopped the model\n"
    );
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("repeated_call -> stop\n"), "{printed}");
}
