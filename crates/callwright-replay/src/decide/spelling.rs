//! Whether a name is another one, misspelt.

/// Longer texts are not names.
const LONGEST: usize = 64;

/// The known name that this one is a misspelling of, if there is one.
pub(super) fn misspelt<'n>(
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    known
        .into_iter()
        .find(|known| *known != name && is_slip(name, known))
}

/// Whether two names differ by a slip of the pen: case and separators, one letter in names of four, two in names of
/// eight. Names that differ in digits are different names (`v1`, `v2`).
fn is_slip(name: &str, known: &str) -> bool {
    if name.len() > LONGEST || known.len() > LONGEST {
        return false;
    }
    let digits = |name: &str| -> String { name.chars().filter(char::is_ascii_digit).collect() };
    if digits(name) != digits(known) {
        return false;
    }
    let (folded, other) = (folded(name), folded(known));
    if folded == other {
        return !folded.is_empty();
    }
    let shorter = folded.chars().count().min(other.chars().count());
    let most = match shorter {
        0..=3 => return false,
        4..=7 => 1,
        _ => 2,
    };
    strsim::damerau_levenshtein(&folded, &other) <= most
}

/// Whether two names differ only in capitals and separators.
pub(super) fn is_same_in_other_letters(name: &str, known: &str) -> bool {
    folded(name) == folded(known)
}

fn folded(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen() {
        for (name, known) in [
            ("shiped", "shipped"),
            ("Shipped", "shipped"),
            ("file_path", "filePath"),
            ("qurey", "query"),
            ("descritpion", "description"),
        ] {
            assert_eq!(misspelt(name, [known]), Some(known), "{name}");
        }
    }

    #[test]
    fn different_names() {
        for (name, known) in [
            ("v2", "v1"),
            ("high", "low"),
            ("en", "es"),
            ("urgent", "normal"),
            ("2026-01", "2025-01"),
            ("day", "days"),
        ] {
            assert_eq!(misspelt(name, [known]), None, "{name}");
        }
    }
}
