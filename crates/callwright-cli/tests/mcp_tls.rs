//! `callwright mcp` in front of an `https` server, in a build with the feature `tls`.
//!
//! If `openssl` or the Python package is missing, the test says so and passes.
#![cfg(all(unix, feature = "tls"))]
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::path::Path;
use std::process::Command;

use serde_json::json;
use support::http::{Guard, Server, call, post, rest, session};
use support::mcp::{python, script};
use support::{Folder, program};

/// Creates a self-signed certificate and its key.
fn make(certificate: &Path, key: &Path) -> bool {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-nodes", "-newkey", "ec", "-days", "2"])
        .args(["-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-subj", "/CN=127.0.0.1"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args([Path::new("-keyout"), key, Path::new("-out"), certificate])
        .output();
    made.is_ok_and(|output| output.status.success())
}

#[test]
fn a_server_behind_https_is_guarded_if_it_is_known() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let certificate = folder.path().join("certificate.pem");
    let key = folder.path().join("key.pem");
    if !make(&certificate, &key) {
        eprintln!("skipped: there is no `openssl` that makes certificates");
        return;
    }
    let server = Server::start_with(
        &python,
        &script("conformance/server.py"),
        &[&certificate, &key],
    );
    let knows = |path: &Path| {
        let mut knows = program();
        knows.env("SSL_CERT_FILE", path).env_remove("SSL_CERT_DIR");
        knows
    };
    let guard = Guard::start_by(&mut knows(&certificate), &server.url, &[]);
    let name = session(&guard.url);
    let fine = call(1, "test_simple_text", &json!({}));
    let fine = rest(post(&guard.url, Some(&name), &fine));
    assert!(fine.contains("plain words"), "{fine}");
    let bad = call(2, "test_sampling", &json!({"prompt": {}}));
    let bad = rest(post(&guard.url, Some(&name), &bad));
    assert!(bad.contains("Please rewrite the input"), "{bad}");
    assert_eq!(guard.end().0, Some(0));

    // A server with an untrusted certificate is refused.
    let other = folder.path().join("other.pem");
    assert!(make(&other, &folder.path().join("other-key.pem")));
    let guard = Guard::start_by(&mut knows(&other), &server.url, &[]);
    let refused = rest(post(
        &guard.url,
        None,
        &call(3, "test_simple_text", &json!({})),
    ));
    assert!(refused.starts_with("HTTP/1.1 502"), "{refused}");
    assert!(refused.contains("cannot be reached"), "{refused}");
    assert!(refused.contains("certificate"), "{refused}");
}
