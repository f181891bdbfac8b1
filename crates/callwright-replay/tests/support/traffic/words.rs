//! The words in calls, by the name of the parameter.

use super::random::Random;

const SUBJECTS: &[&str] = &[
    "invoice",
    "login page",
    "night train",
    "export",
    "password reset",
    "delivery",
    "checkout",
    "mobile app",
    "search index",
    "backup",
    "quarterly report",
    "coffee machine",
    "contract",
    "warehouse",
    "onboarding",
];
const PREDICATES: &[&str] = &[
    "is slow",
    "fails on Safari",
    "is missing",
    "needs a review",
    "shows the wrong total",
    "was sent twice",
    "times out",
    "is ready",
    "has moved",
    "cannot be opened",
    "must be renewed",
    "is green again",
];
const TAILS: &[&str] = &[
    "since the last release",
    "for customers in Austria",
    "for unknown reasons",
    "according to the support team",
    "before the end of the week",
    "after the update of the database",
    "which blocks the launch",
];
const CITIES: &[&str] = &[
    "Berlin", "Vienna", "Zürich", "Lisbon", "Osaka", "Toronto", "Nairobi", "Lima", "Kraków",
    "Leeds", "Austin",
];
const PEOPLE: &[&str] = &[
    "ana", "ben", "chloe", "dmitri", "emeka", "fatima", "goran", "hana", "ines", "jonas", "kofi",
    "lucia",
];
const NOUNS: &[&str] = &[
    "alpha", "billing", "catalog", "docs", "edge", "frontend", "gateway", "identity", "ledger",
    "mobile", "payments",
];
const FOLDERS: &[&str] = &["src", "tests", "docs", "config", "scripts", "data"];
const ENDINGS: &[&str] = &["rs", "py", "md", "ts", "toml", "csv"];

/// A short sentence.
pub(crate) fn sentence(random: &mut Random) -> String {
    let (subject, predicate) = (random.pick(SUBJECTS), random.pick(PREDICATES));
    match random.below(3) {
        0 => format!("{subject} {predicate}"),
        _ => format!("{subject} {predicate} {}", random.pick(TAILS)),
    }
}

/// Sentences, cut to this many characters (at least twelve).
pub(crate) fn text(random: &mut Random, characters: usize) -> String {
    let mut text = sentence(random);
    while text.len() < characters {
        text.push_str(". ");
        text += &sentence(random);
    }
    text.truncate(characters.max(12));
    text
}

pub(crate) fn person(random: &mut Random) -> &'static str {
    random.pick::<&str>(PEOPLE)
}

pub(crate) fn email(random: &mut Random) -> String {
    let (person, place) = (random.pick(PEOPLE), random.pick(NOUNS));
    format!("{person}{}@{place}.example", random.below(90))
}

pub(crate) fn date(random: &mut Random) -> String {
    format!(
        "2026-{:02}-{:02}",
        random.between(4, 9),
        random.between(1, 28)
    )
}

pub(crate) fn date_time(random: &mut Random) -> String {
    let (hour, quarter) = (random.between(6, 21), 15 * random.below(4));
    let zone = *random.pick(&["Z", "+02:00", "Z", "-05:00"]);
    format!("{}T{hour:02}:{quarter:02}:00{zone}", date(random))
}

pub(crate) fn url(random: &mut Random) -> String {
    let (host, page) = (random.pick(NOUNS), random.pick(FOLDERS));
    format!("https://{host}.example/{page}/{}", random.below(5_000))
}

/// A text that matches one of the patterns of the tools.
pub(crate) fn matching(random: &mut Random, pattern: &str) -> String {
    match pattern {
        "^C[0-9]{6}$" => format!("C{:06}", random.below(40_000)),
        "^[A-Z]{3}$" => {
            let codes = [
                "EUR", "USD", "GBP", "CHF", "JPY", "VIE", "BER", "LIS", "ZRH",
            ];
            (*random.pick(&codes)).to_owned()
        }
        "^[0-9]{12}$" => format!("{:012}", random.next() % 1_000_000_000_000),
        "^#[a-z-]+$" => format!("#{}-{}", random.pick(NOUNS), random.pick(FOLDERS)),
        "^v[0-9]+\\.[0-9]+\\.[0-9]+$" => {
            format!(
                "v{}.{}.{}",
                random.below(4),
                random.below(30),
                random.below(9)
            )
        }
        "^[0-9]+[smh]$" => format!("{}{}", random.between(1, 30), random.pick(&["s", "m", "h"])),
        _ => matching_in_the_second(random, pattern),
    }
}

/// The same for the tools of the second family and of the kept one.
fn matching_in_the_second(random: &mut Random, pattern: &str) -> String {
    match pattern {
        "^RRULE:" => format!("RRULE:FREQ=WEEKLY;COUNT={}", random.between(2, 20)),
        "^\\+[0-9]{7,15}$" => format!("+431{:07}", random.below(9_999_999)),
        "^[A-Z]{2}$" => (*random.pick(&["AT", "DE", "CH", "GB", "US"])).to_owned(),
        "^[a-z]{2}$" => (*random.pick(&["de", "en", "fr", "pt"])).to_owned(),
        "^dev-[0-9a-f]{6}$" => format!("dev-{:06x}", random.below(0xff_ffff)),
        "^[0-2][0-9]:[0-5][0-9]$" => {
            format!("{:02}:{:02}", random.below(24), 5 * random.below(12))
        }
        "^[0-9]+\\.[0-9]{2}$" => format!("{}.{:02}", random.below(2_000), random.below(100)),
        "^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$" => {
            format!("AT61{:016}", random.next() % 10_000_000_000_000_000)
        }
        "^[a-z0-9-]+/[a-z0-9-]+$" => format!("acme/{}", random.pick(NOUNS)),
        "^[a-z0-9-]+$" => person(random).to_owned(),
        "^[a-z]+/[a-z0-9.+-]+$" => {
            (*random.pick(&["text/plain", "text/csv", "application/pdf", "image/png"])).to_owned()
        }
        "^[a-z0-9/_-]+$" => format!(
            "{}/{}",
            random.pick(&["feature", "fix"]),
            random.pick(NOUNS)
        ),
        other => other.to_owned(),
    }
}

/// A text that fits the name of the parameter.
pub(crate) fn by_name(random: &mut Random, name: &str) -> String {
    match name {
        "path" | "file" => format!(
            "{}/{}_{}.{}",
            random.pick(FOLDERS),
            random.pick(NOUNS),
            random.below(300),
            random.pick(ENDINGS)
        ),
        "city" => (*random.pick(CITIES)).to_owned(),
        "name" | "assignee" | "calendar" => person(random).to_owned(),
        "ticket_id" => format!("T-{}", random.below(9_000)),
        "payment_id" | "message_id" | "refund_id" => {
            format!("{}_{:08x}", &name[..2], random.next() as u32)
        }
        "project" | "service" | "collection" | "metric" => (*random.pick(NOUNS)).to_owned(),
        "body" | "content" => {
            let length = 60 + random.below(500);
            text(random, length)
        }
        "sql" => format!(
            "SELECT * FROM {} WHERE id = {} AND state = 'open'",
            random.pick(NOUNS),
            random.below(9_999)
        ),
        "expression" => format!(
            "{} * ({} + {})",
            random.below(99),
            random.below(99),
            random.below(99)
        ),
        "sku" => format!("SKU-{:05}", random.below(20_000)),
        "tags" | "labels" | "domains" | "categories" | "columns" | "field" => {
            format!("{}{}", random.pick(NOUNS), random.below(40))
        }
        "phone" => format!("+43 1 {:07}", random.below(9_999_999)),
        "state" => (*random.pick(&["Tyrol", "Bavaria", "", "Ohio"])).to_owned(),
        "language" | "time_zone" | "zone" => {
            (*random.pick(&["Europe/Vienna", "UTC", "de", "en"])).to_owned()
        }
        _ => sentence(random),
    }
}
