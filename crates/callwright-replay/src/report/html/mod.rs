//! A report → one page that needs nothing else: no network, no other file, and no script to show everything.
//!
//! What is on the page is put together here as texts and numbers; the template only arranges them, and escapes every one
//! of them. The only things that are not escaped are the style and the script, which are ours. A policy in the page
//! forbids everything else that a text from a log could ask for.

mod chart;
mod clusters;
mod compared;
mod diff;
mod proposals;
mod spans;
mod tables;
mod ticks;
mod view;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};

use super::{Error, Report};
use view::View;

/// The parts of the page in their order.
const TEMPLATE: &str = concat!(
    include_str!("page/macros.html"),
    include_str!("page/top.html"),
    include_str!("page/compared.html"),
    include_str!("page/time.html"),
    include_str!("page/proposals.html"),
    include_str!("page/clusters.html"),
    include_str!("page/tables.html"),
    include_str!("page/end.html"),
);

const STYLE: &str = include_str!("page/page.css");

const SCRIPT: &str = include_str!("page/page.js");

/// The only script that the page may run, by its SHA-256. A test says what it must be when the script changes.
const SCRIPT_HASH: &str = "sha256-pN+ZgvR8E/pqkPdElgqKghSQMEqjFMLB7RvvN3vTlOs=";

/// What a page says about itself.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// What the report is about, in a few words: the name of the log, of a product, of a week.
    pub about: Option<String>,
    /// When it was made, in microseconds since 1970.
    pub made: Option<i64>,
}

/// The report as one HTML page.
///
/// # Errors
///
/// If the template does not fit what it is given: our own fault.
pub fn html(report: &Report, page: &Page) -> Result<String, Error> {
    let mut environment = Environment::empty();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // A name that is spelled wrongly fails every test instead of leaving a hole.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(Error::new)?;
    environment.set_syntax(syntax);
    environment
        .add_template("page", TEMPLATE)
        .map_err(Error::new)?;
    let context = minijinja::context! {
        page => Value::from(Serde(View::of(report, page))),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        script_hash => SCRIPT_HASH,
    };
    let template = environment.get_template("page").map_err(Error::new)?;
    template.render(context).map_err(Error::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_the_script() {
        use base64::Engine as _;
        use sha2::{Digest as _, Sha256};
        // A browser hashes the script with the line ends of HTML.
        let digest = Sha256::digest(SCRIPT.replace("\r\n", "\n"));
        let hash = base64::engine::general_purpose::STANDARD.encode(digest);
        assert_eq!(
            SCRIPT_HASH,
            format!("sha256-{hash}"),
            "the script has changed: set SCRIPT_HASH"
        );
    }
}
