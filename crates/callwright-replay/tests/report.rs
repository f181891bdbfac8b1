//! Reports for a terminal, a program and a browser. `BLESS=1` updates the expected texts.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use callwright_replay::report::{self, PageHeader, Report, WrittenFiles, html, json};
use callwright_replay::summary::Timeline;
use proptest::prelude::*;
use support::{sample, tags};

const HOSTILE: &str =
    "\"'</script></title><img src=x onerror=alert(1)><!-- {{ 7*7 }} {% raw %} \u{1b}[31m\u{202e}";

#[track_caller]
fn is_as_written(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/expected")
        .join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        return;
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        text,
        expected.replace("\r\n", "\n"),
        "it is not as in {}; if that is meant, run with BLESS=1",
        file.display()
    );
}

fn text(report: &Report, columns: usize, colours: bool) -> String {
    report::text(report, columns, colours, WrittenFiles::default()).expect("a text")
}

fn page(report: &Report) -> String {
    let about = PageHeader {
        about: Some("November, support desk".to_owned()),
        made: Some(sample::START + 31 * 86_400_000_000),
        ..PageHeader::default()
    };
    html(report, &about).expect("a page")
}

fn hostile() -> Report {
    sample::compared::compared(&|text: &str| format!("{text}{HOSTILE}"))
}

#[test]
fn the_terminal_shows_a_summary() {
    is_as_written("report.txt", &text(&sample::plain(), 100, false));
    is_as_written("report_narrow.txt", &text(&sample::plain(), 60, false));
    is_as_written("report_empty.txt", &text(&sample::empty(), 100, false));
    is_as_written(
        "report_spotless.txt",
        &text(&sample::spotless(), 100, false),
    );
}

#[test]
fn what_was_written_need_not_be_asked_for_again() {
    let written = WrittenFiles {
        page: Some("week.html"),
        suggestions: Some("week.json"),
    };
    let text = report::text(&sample::plain(), 100, false, written).expect("a text");
    // Some calls could not be judged, so there is still one reason to run it again.
    assert_eq!(text.matches("run it again with").count(), 1, "{text}");
    assert!(text.contains("run it again with --tools"), "{text}");
    assert!(text.contains("open week.html"), "{text}");
    assert!(text.contains("--suggestions week.json"), "{text}");
    let about = PageHeader {
        suggestions: Some("week.json".to_owned()),
        ..PageHeader::default()
    };
    let page = html(&sample::plain(), &about).expect("a page");
    assert!(page.contains("--suggestions week.json") && !page.contains("un it again with"));
}

fn compared() -> Report {
    sample::compared::compared(&|text: &str| text.to_owned())
}

#[test]
fn a_comparison_comes_first() {
    let text = text(&compared(), 100, false);
    let until = text.find("Tools whose calls").expect("more follows");
    is_as_written("report_compared.txt", &text[..until]);
    let value = json(&compared()).expect("JSON");
    assert_eq!(value["compared"], true);
    let changes = value["changes"].as_array().unwrap();
    let stricter: Vec<bool> = changes
        .iter()
        .map(|change| change["stricter"].as_bool().unwrap())
        .collect();
    assert_eq!(stricter, [true, true, true, false]);
    is_as_written("report_changes.json", &format!("{:#}\n", value["changes"]));
    let page = page(&compared());
    tags::elements(&page);
    let section = page.find("id=\"compared\"").expect("a section");
    assert!(section < page.find("id=\"time\"").unwrap());
    assert!(page.contains("<h1>Compared: 3 kinds of calls get stricter (1,236 calls); 1 gets looser (5,310 calls).</h1>"));
}

#[test]
fn a_comparison_without_a_change_says_so() {
    let mut report = sample::spotless();
    report.summary.compared = true;
    assert!(text(&report, 100, false).starts_with("Compared: no verdict changes.\n"));
    assert!(page(&report).contains("<p class=\"empty\">No verdict changes.</p>"));
    assert_eq!(json(&report).unwrap()["changes"], serde_json::json!([]));
    assert!(!page(&sample::spotless()).contains("id=\"compared\""));
}

#[test]
fn calls_of_undeclared_tools_are_not_called_valid() {
    use callwright_replay::summary::{Tally, ToolSummary};
    let mut report = sample::spotless();
    let tool = |calls| ToolSummary {
        tally: Tally {
            calls,
            unjudged: calls,
            ..Tally::default()
        },
        ..ToolSummary::default()
    };
    report.summary.calls.unjudged = 5;
    report.summary.tools.add("search".to_owned(), tool(5));
    let shown = text(&report, 100, false);
    assert!(shown.starts_with("All calls that could be judged fit their schema: 7 of 12.\n"));
    report.summary.calls.unjudged = 12;
    report.summary.tools.add("read".to_owned(), tool(7));
    let shown = text(&report, 100, false);
    assert!(shown.starts_with(
        "No tools are known, so none of the 12 calls could be judged by its schema: give --tools.\n"
    ));
    let note =
        "12 calls were not judged, since nothing declares their tools (give --tools): read, search";
    assert!(shown.contains(note), "{shown}");
    assert_eq!(json(&report).unwrap()["calls"]["undeclared"], 12);
    assert!(
        page(&report).contains("12 calls were not judged, since nothing declares their tools.")
    );
}

/// Commands can be typed once their lines are joined; numbers are never cut.
#[test]
fn commands_are_whole() {
    for width in [60, 100] {
        let shown = text(&sample::plain(), width, false);
        let (_, next) = shown.split_once("\nNext\n").expect("what to do next");
        let joined = next.replace(" \\\n      ", " ");
        let command = "callwright replay apply --tools TOOLS --suggestions changes.json --accept 1,2,3,4 --output new-tools.json";
        assert!(joined.contains(command), "{next}");
        assert!(page(&sample::plain()).contains(command));
    }
    let mut report = sample::plain();
    let change = report.proposals.changes[0].clone();
    report.proposals.changes = (1..=40)
        .map(|number| {
            let mut change = change.clone();
            change.number = number;
            change
        })
        .collect();
    let shown = text(&report, 100, false);
    assert!(
        shown.contains("callwright replay review changes.json\n"),
        "{shown}"
    );
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("40 are proved and allow no bugs"), "{shown}");
    assert!(!shown.contains("--accept"));
}

#[test]
fn colours_change_no_words() {
    let report = sample::plain();
    let (plain, coloured) = (text(&report, 100, false), text(&report, 100, true));
    assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
    let mut bare = String::new();
    let mut parts = coloured.split('\u{1b}');
    bare.push_str(parts.next().unwrap());
    for part in parts {
        bare.push_str(part.split_once('m').unwrap().1);
    }
    assert_eq!(bare, plain);
}

#[test]
fn the_terminal_is_not_moved_by_a_log() {
    let text = text(&hostile(), 100, false);
    let odd = |character: char| character != '\n' && character.is_control();
    assert!(!text.contains(odd) && !text.contains('\u{202e}'), "{text}");
}

#[test]
fn lines_keep_to_the_width() {
    for width in [0, 60, 80, 100, 400] {
        for line in text(&compared(), width, false).lines() {
            let columns = line.chars().count();
            assert!(columns <= width.clamp(60, 120), "{columns}: {line}");
        }
    }
}

#[test]
fn programs_get_json() {
    let mut value = json(&sample::plain()).expect("JSON");
    let pieces = value["time"].as_array_mut().unwrap();
    assert_eq!(pieces.len(), 361);
    // The others look the same, so two are enough.
    pieces.truncate(2);
    is_as_written("report.json", &format!("{value:#}\n"));
}

#[test]
fn json_has_the_same_fields_whatever_was_found() {
    let fields = |report: &Report| {
        let value = json(report).expect("JSON");
        let object = value.as_object().expect("an object").clone();
        object.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(fields(&sample::plain()), fields(&sample::empty()));
    assert_eq!(json(&sample::empty()).unwrap()["v"], 1);
}

#[test]
fn json_keeps_names_as_they_are() {
    let value = json(&hostile()).expect("JSON");
    let tool = value["clusters"][0]["tool"].as_str().unwrap();
    assert_eq!(tool, format!("create_ticket{HOSTILE}"));
}

#[test]
fn the_page_is_well_formed() {
    for report in [sample::plain(), sample::empty(), sample::spotless()] {
        let page = page(&report);
        let names = tags::elements(&page);
        for name in ["main", "nav", "header", "footer", "h1"] {
            let times = names.iter().filter(|element| *element == name).count();
            assert_eq!(times, 1, "{name}");
        }
    }
}

#[test]
fn no_clock_is_too_wrong_for_a_report() {
    use callwright_replay::summary::Tally;
    let one = Tally {
        calls: 1,
        refused: 1,
        ..Tally::default()
    };
    for times in [
        vec![0],
        vec![i64::MAX],
        vec![i64::MIN, i64::MAX],
        vec![i64::MIN, 0, 1, sample::START, i64::MAX],
    ] {
        let mut report = sample::plain();
        report.summary.time = Timeline::default();
        for time in &times {
            report.summary.time.add(*time, one);
        }
        report.summary.input.first = times.first().copied();
        report.summary.input.last = times.last().copied();
        tags::elements(&page(&report));
        assert!(text(&report, 80, false).contains(" UTC"));
        json(&report).expect("JSON");
    }
}

#[test]
fn every_documented_field_is_there() {
    // The documentation of `json` is the contract, so the test reads it.
    let source = include_str!("../src/report/json.rs");
    let value = json(&compared()).expect("JSON");
    for (field, part) in value.as_object().unwrap() {
        let row = source
            .lines()
            .find(|line| line.starts_with(&format!("/// | `{field}` |")))
            .unwrap_or_else(|| panic!("`{field}` is not documented"));
        let first = part.get(0).unwrap_or(part);
        let names = first.as_object().map(|object| object.keys());
        for name in names.into_iter().flatten() {
            let known = row.contains(&format!("`{name}`"));
            let counted = row.contains("counts") && source.contains(&format!("`{name}`"));
            assert!(
                known || counted || field == "repairs",
                "`{field}.{name}` is not documented"
            );
        }
    }
}

#[test]
fn the_page_names_every_id_once() {
    let page = page(&compared());
    let ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), ids.len());
    for target in page.split("href=\"#").skip(1) {
        let target = target.split('"').next().unwrap();
        assert!(ids.contains(&target), "#{target} leads nowhere");
    }
}

#[test]
fn the_page_loads_nothing() {
    let page = page(&sample::plain());
    for way in [
        "http://",
        "https://",
        "src=",
        "@import",
        "url(",
        "fetch(",
        "innerHTML",
    ] {
        assert!(!page.contains(way), "{way}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("script-src 'unsafe-inline'"));
}

#[test]
fn a_log_cannot_write_html() {
    let (hostile, plain) = (page(&hostile()), page(&compared()));
    assert_eq!(tags::elements(&hostile), tags::elements(&plain));
    assert!(!hostile.contains("<img"));
    assert!(hostile.contains("&lt;img src=x onerror=alert(1)&gt;"));
    assert!(
        hostile.contains("{{ 7*7 }}"),
        "no template is run from a log"
    );
    assert!(!hostile.contains('\u{202e}') && !hostile.contains('\u{1b}'));
}

#[test]
fn much_stays_bounded() {
    use callwright_replay::summary::{Cluster, ClusterKey, Side, ToolSummary};
    let mut report = sample::plain();
    for number in 0..5_000u64 {
        let key = ClusterKey {
            tool: format!("tool {number} {}", "long ".repeat(1_000)),
            side: Side::Input,
            path: "/a".repeat(5_000),
            issue: "type".into(),
            shape: "s".repeat(5_000).into(),
        };
        let tool = ToolSummary {
            tally: callwright_replay::summary::Tally {
                calls: number,
                refused: number,
                ..Default::default()
            },
            ..ToolSummary::default()
        };
        report.summary.tools.add(key.tool.clone(), tool);
        let cluster = Cluster {
            calls: number,
            ..Cluster::default()
        };
        report.summary.clusters.add(key, cluster);
    }
    let page = page(&report);
    assert!(page.len() < 6_000_000, "{} bytes", page.len());
    assert!(page.contains("4,509 more clusters, not shown here."));
    tags::elements(&page);
    assert!(text(&report, 100, false).lines().count() < 80);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_text_changes_the_tags(text in "[ -~\\n\\t\u{0}-\u{1f}\u{80}-\u{2ff}\u{2028}]{1,60}") {
        // Names in backticks are rendered as code, which adds a tag.
        let text = text.replace('`', "'");
        let report = sample::compared::compared(&|word: &str| format!("{word}{text}"));
        prop_assert_eq!(tags::elements(&page(&report)), tags::elements(&page(&compared())));
    }
}
