//! The page in a real browser: headless Chromium, opened from disk. Without Chromium the tests print a notice and are
//! skipped.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod support;

use callwright_replay::report::{PageHeader, Report, html};
use serde_json::json;
use support::browser::Browser;
use support::sample;

fn page(report: &Report) -> String {
    let about = PageHeader {
        about: Some("November, support desk".to_owned()),
        made: Some(sample::START + 31 * 86_400_000_000),
        ..PageHeader::default()
    };
    html(report, &about).expect("a page")
}

/// The visible clusters, in display order.
const SHOWN_CLUSTERS: &str =
    "[...document.querySelectorAll('.cluster')].filter(c => c.checkVisibility()).map(c => c.id)";

const TOOLS: &str = "[...document.querySelectorAll('#tools-table tbody tr')].filter(r => r.checkVisibility()).map(r => r.cells[0].querySelector('code').textContent)";

#[test]
fn search_and_sort_by_keyboard() {
    let Some(mut browser) = Browser::start("keyboard") else {
        return;
    };
    browser.open(&page(&sample::plain()));
    assert_eq!(
        browser.value("document.querySelectorAll('.cluster').length"),
        9
    );

    // The first tab stop is the skip link.
    browser.press("Tab", "");
    assert_eq!(browser.value("document.activeElement.className"), "skip");
    assert_eq!(
        browser.value("getComputedStyle(document.activeElement).outlineStyle"),
        "solid"
    );

    // A slash focuses the search box and is not typed into it.
    browser.press("/", "/");
    assert_eq!(browser.value("document.activeElement.id"), "find");
    browser.write("URGENT create");
    assert_eq!(
        browser.value("document.getElementById('find').value"),
        "URGENT create"
    );
    assert_eq!(browser.value(SHOWN_CLUSTERS), json!(["cluster-1"]));
    assert_eq!(
        browser.value("[...document.querySelectorAll('.change')].filter(c => c.checkVisibility()).map(c => c.id)"),
        json!(["change-1"])
    );
    assert_eq!(
        browser.value("document.getElementById('found').textContent"),
        "2 of 32"
    );
    browser.press("Escape", "");
    assert_eq!(browser.value(SHOWN_CLUSTERS).as_array().unwrap().len(), 9);
    browser.write("zebra crossing");
    assert_eq!(browser.value(SHOWN_CLUSTERS), json!([]));
    assert_eq!(
        browser.value("document.getElementById('no-cluster').checkVisibility()"),
        true
    );
    browser.press("Escape", "");

    // The column headings sort the table.
    assert_eq!(browser.value(TOOLS)[0], "create_ticket");
    browser.value("document.querySelector('#tools-table thead th:nth-child(2) button').focus()");
    browser.press("Enter", "\r");
    assert_eq!(browser.value(TOOLS)[0], "search_orders");
    let sorted = "[...document.querySelectorAll('#tools-table thead th')].map(h => h.getAttribute('aria-sort'))";
    assert_eq!(browser.value(sorted)[1], "descending");
    assert!(browser.value(sorted)[2].is_null());
    browser.press(" ", " ");
    assert_eq!(browser.value(TOOLS)[0], "legacy_export");
    assert_eq!(browser.value(sorted)[1], "ascending");
    browser.value("document.querySelector('#tools-table thead th:first-child button').focus()");
    browser.press("Enter", "\r");
    assert_eq!(browser.value(TOOLS)[0], "book_room");

    // Clusters can be opened, and buttons filter and sort them.
    browser.value("document.querySelector('#cluster-2 summary').focus()");
    browser.press("Enter", "\r");
    assert_eq!(
        browser.value("document.getElementById('cluster-2').open"),
        true
    );
    browser.value("document.querySelector('#controls [data-kind=bug]').focus()");
    browser.press("Enter", "\r");
    assert_eq!(
        browser.value(SHOWN_CLUSTERS),
        json!(["cluster-3", "cluster-6", "cluster-9"])
    );
    browser.value("document.querySelector('[data-order=tool]').click()");
    assert_eq!(
        browser.value(SHOWN_CLUSTERS),
        json!(["cluster-9", "cluster-3", "cluster-6"])
    );

    // A link to a hidden cluster shows it.
    browser.value("document.querySelector('.change a[href=\"#cluster-1\"]').click()");
    browser.value("new Promise(done => setTimeout(done, 50))");
    assert_eq!(
        browser.value("document.getElementById('cluster-1').open"),
        true
    );
    assert_eq!(browser.value(SHOWN_CLUSTERS).as_array().unwrap().len(), 9);

    assert_eq!(browser.complaints(), Vec::<String>::new());
    let loaded = browser.loaded();
    assert!(
        loaded.iter().all(
            |url| url.starts_with("file:") && url.contains("/report.html")
                || url.starts_with("data:")
        ),
        "{loaded:?}"
    );
}

/// All texts whose contrast with their background is below AA: 4.5, or 3 for large text.
const FAINT_TEXTS: &str = r"(() => {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const part = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const background = (element) => {
    for (; element; element = element.parentElement) {
      const colour = channels(getComputedStyle(element).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest('svg, script, .unseen')) continue;
    const style = getComputedStyle(element);
    const [one, other] = [luminance(channels(style.color)), luminance(background(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
    if (contrast < (large ? 3 : 4.5)) faint.push(`${contrast.toFixed(2)} ${walker.currentNode.data.trim()}`);
  }
  return faint;
})()";

/// What overflows the window, except for elements that scroll on their own.
const TOO_WIDE: &str = r"document.documentElement.scrollWidth <= innerWidth ? [] : [document.documentElement.scrollWidth,
  ...[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth && !e.parentElement.closest('.scroll, pre, nav'))
  .map((e) => `${e.tagName} ${e.className} ${e.parentElement.className} ${e.textContent.slice(0, 40)}`)]";

#[test]
fn it_looks_well_in_both_themes_narrow_and_wide() {
    let Some(mut browser) = Browser::start("looks") else {
        return;
    };
    browser.open(&page(&sample::plain()));
    for theme in ["light", "dark"] {
        for width in [1_280, 768, 400, 320] {
            browser.look(width, theme);
            browser
                .value("document.querySelectorAll('.cluster').forEach((c, i) => c.open = i < 2)");
            browser
                .value("document.querySelectorAll('details.plain').forEach(d => d.open = false)");
            browser.picture(&format!("{theme}_{width}"));
            browser.value("document.querySelectorAll('details').forEach(d => d.open = true)");
            assert_eq!(browser.value(FAINT_TEXTS), json!([]), "{theme}, {width}");
            assert_eq!(browser.value(TOO_WIDE), json!([]), "{theme}, {width}");
        }
    }
    let dark = browser.value("getComputedStyle(document.body).backgroundColor");
    browser.look(1_280, "light");
    assert_ne!(
        browser.value("getComputedStyle(document.body).backgroundColor"),
        dark
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn it_can_be_used_without_seeing_it() {
    let Some(mut browser) = Browser::start("unseen") else {
        return;
    };
    browser.open(&page(&sample::plain()));
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)");
    browser.call("Accessibility.enable", &json!({}));
    let tree = browser.call("Accessibility.getFullAXTree", &json!({}));
    let nodes: Vec<(&str, &str)> = tree["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|node| node["ignored"] == false)
        .filter_map(|node| {
            let name = node["name"]["value"].as_str().unwrap_or_default();
            Some((node["role"]["value"].as_str()?, name))
        })
        .collect();
    let named = [
        "button",
        "link",
        "image",
        "table",
        "searchbox",
        "region",
        "heading",
        "navigation",
    ];
    for role in named {
        let of: Vec<_> = nodes.iter().filter(|(is, _)| *is == role).collect();
        assert!(!of.is_empty(), "there is no {role}");
        for (_, name) in of {
            assert!(!name.is_empty(), "a {role} has no name");
        }
    }
    for landmark in ["main", "banner", "contentinfo", "search"] {
        let number = nodes.iter().filter(|(role, _)| *role == landmark).count();
        assert_eq!(number, 1, "{landmark}");
    }
    // No heading skips a level.
    let levels =
        browser.value("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])");
    let levels: Vec<i64> = levels
        .as_array()
        .unwrap()
        .iter()
        .filter_map(serde_json::Value::as_i64)
        .collect();
    assert_eq!(levels[0], 1);
    assert!(
        levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
        "{levels:?}"
    );
}

#[test]
fn it_prints() {
    let Some(mut browser) = Browser::start("paper") else {
        return;
    };
    browser.open(&page(&sample::plain()));
    // Paper is white, even if the screen is dark.
    browser.look(1_280, "dark");
    let printed = browser.print();
    assert!(printed.starts_with(b"%PDF"));
    if let Some(folder) = std::env::var_os("CALLWRIGHT_TEST_SCREENSHOTS") {
        std::fs::write(std::path::Path::new(&folder).join("paper.pdf"), &printed).unwrap();
    }
    browser.call("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    assert_eq!(
        browser.value("getComputedStyle(document.body).backgroundColor"),
        "rgb(255, 255, 255)"
    );
    assert_eq!(
        browser.value("document.getElementById('search').checkVisibility()"),
        false
    );
    // What was opened for printing is closed again.
    assert_eq!(
        browser.value("document.querySelectorAll('.cluster[open]').length"),
        0
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_hostile_log_runs_nothing() {
    let Some(mut browser) = Browser::start("hostile") else {
        return;
    };
    let hostile = "\"'</script></title></style><img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script><svg onload=alert(1)>{{ 7*7 }}";
    let report = sample::report(&|text: &str| format!("{text}{hostile}"));
    browser.open(&page(&report));
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)");
    browser.press("/", "/");
    browser.write("<img src=x");
    assert!(!browser.value(SHOWN_CLUSTERS).as_array().unwrap().is_empty());
    browser.value(
        "document.querySelectorAll('thead button, #controls button').forEach(b => b.click())",
    );
    assert_eq!(browser.value("document.querySelectorAll('img').length"), 0);
    assert_eq!(browser.value("document.scripts.length"), 1);
    assert_eq!(
        browser.value("document.querySelectorAll('[onload], [onerror]').length"),
        0
    );
    assert!(
        !browser
            .value("document.title")
            .as_str()
            .unwrap()
            .contains("taken")
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    browser.look(400, "light");
    browser.picture("hostile_400");
    assert_eq!(browser.value(TOO_WIDE), json!([]));
}

#[test]
fn everything_is_there_without_a_script() {
    let Some(mut browser) = Browser::start("no_script") else {
        return;
    };
    browser.call(
        "Emulation.setScriptExecutionDisabled",
        &json!({"value": true}),
    );
    browser.open(&page(&sample::plain()));
    assert_eq!(browser.value(SHOWN_CLUSTERS).as_array().unwrap().len(), 9);
    assert_eq!(browser.value(TOOLS).as_array().unwrap().len(), 7);
    // Controls that would do nothing are hidden.
    assert_eq!(
        browser.value("[...document.querySelectorAll('button, input')].filter(b => b.checkVisibility()).length"),
        0
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
