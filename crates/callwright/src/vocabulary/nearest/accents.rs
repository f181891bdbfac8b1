//! Accents that one of two names has and the other leaves out altogether.
//!
//! Takes two names and how to compare them; returns whether they are the same. Two names that both have accents are compared as
//! they are: `pêche` is not `péché`.

/// Whether two names are the same, or become the same if the only one that is not ASCII is written without accents, or as German
/// does it (`größe`, `groesse`).
pub(crate) fn same_but_accents(left: &str, right: &str, same: impl Fn(&str, &str) -> bool) -> bool {
    let (accented, plain) = match (left.is_ascii(), right.is_ascii()) {
        (false, true) => (left, right),
        (true, false) => (right, left),
        _ => return same(left, right),
    };
    if plain.len() < SHORTEST || accented.len() > LONGEST || !begin_alike(accented, plain) {
        return false;
    }
    let spellings = [bare, german].map(|of| written(accented, of));
    spellings.iter().flatten().any(|name| same(name, plain))
}

/// Whether two names may be spellings of the same word: the same, or the same without any accents.
pub(crate) fn alike_but_accents(
    left: &str,
    right: &str,
    same: impl Fn(&str, &str) -> bool,
) -> bool {
    let plain = |name: &str| {
        let short = Some(name).filter(|name| name.len() <= LONGEST && !name.is_ascii());
        short.and_then(|name| written(name, bare))
    };
    let (plain_left, plain_right) = (plain(left), plain(right));
    same_but_accents(left, right, &same)
        || same(
            plain_left.as_deref().unwrap_or(left),
            plain_right.as_deref().unwrap_or(right),
        )
}

/// Shorter ones are symbols: `Å` is not `A`, and `où` is not `ou`.
const SHORTEST: usize = 3;

/// Longer texts are not names.
const LONGEST: usize = 128;

/// Whether two names may begin with the same letter: rules out most pairs at once. (German adds an `e` after it.)
fn begin_alike(accented: &str, plain: &str) -> bool {
    let first = |name: &str| name.chars().next()?.to_lowercase().next();
    let of_accented = first(accented).and_then(|first| match bare(first) {
        Some(letters) => letters.chars().next(),
        None => Some(first),
    });
    let is_letter = |first: Option<char>| first.is_some_and(char::is_alphanumeric);
    of_accented == first(plain) || !is_letter(of_accented) || !is_letter(first(plain))
}

/// A name with each letter that is not ASCII replaced; `None` if one cannot be.
fn written(name: &str, of: fn(char) -> Option<&'static str>) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    for character in name.chars() {
        let small = character.to_lowercase().next()?;
        match character {
            _ if character.is_ascii() => out.push(character),
            _ if character == small => out.push_str(of(small)?),
            _ => out.push_str(&of(small)?.to_uppercase()),
        }
    }
    Some(out)
}

/// A small letter without its accent.
fn bare(letter: char) -> Option<&'static str> {
    Some(match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' | 'ă' | 'ą' => "a",
        'ç' | 'ć' | 'č' => "c",
        'ď' | 'đ' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'ğ' => "g",
        'ì' | 'í' | 'î' | 'ï' | 'ī' | 'ı' => "i",
        'ł' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ō' | 'ő' => "o",
        'ř' => "r",
        'ś' | 'š' | 'ş' | 'ș' => "s",
        'ť' | 'ţ' | 'ț' => "t",
        'ù' | 'ú' | 'û' | 'ü' | 'ū' | 'ů' | 'ű' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        'æ' => "ae",
        'œ' => "oe",
        'ß' => "ss",
        _ => return None,
    })
}

/// The same, as German writes its letters where it cannot have them.
fn german(letter: char) -> Option<&'static str> {
    match letter {
        'ä' => Some("ae"),
        'ö' => Some("oe"),
        'ü' => Some("ue"),
        other => bare(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_of_two_names_has_accents() {
        let is_same = |left: &str, right: &str| same_but_accents(left, right, |l, r| l == r);
        for (accented, plain) in [
            ("départ", "depart"),
            ("größe", "groesse"),
            ("größe", "grosse"),
            ("Été", "Ete"),
        ] {
            assert!(
                is_same(accented, plain) && is_same(plain, accented),
                "{accented}"
            );
        }
        for (left, right) in [
            ("pêche", "péché"),
            ("выход", "vyhod"),
            ("départ", "departs"),
        ] {
            assert!(!is_same(left, right), "{left} {right}");
        }
    }
}
