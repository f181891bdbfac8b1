//! Digits → whatever number a type asks for.

use serde::de::Visitor;

use crate::json::{Mismatch, Number};

/// Where any number will do, an integer comes as one, however it is written: the type that asks may be a
/// flattened field or an untagged enum with an integer in it.
pub(super) fn visit_any_number<'v, V: Visitor<'v>>(
    number: &Number<'_>,
    visitor: V,
) -> Result<V::Value, Mismatch> {
    match plain(number).or_else(|| written_otherwise(number)) {
        Some(Plain::Unsigned(large)) => visitor.visit_u64(large),
        Some(Plain::Signed(small)) => visitor.visit_i64(small),
        _ => visitor.visit_f64(number.as_f64()),
    }
}

pub(super) fn visit_float<'v, V: Visitor<'v>>(
    number: &Number<'_>,
    visitor: V,
) -> Result<V::Value, Mismatch> {
    match plain(number) {
        Some(Plain::Unsigned(large)) => visitor.visit_u64(large),
        // `-0` has a sign only as a float.
        Some(Plain::Signed(small)) if small != 0 => visitor.visit_i64(small),
        _ => visitor.visit_f64(number.as_f64()),
    }
}

/// For integers of up to 128 bits.
pub(super) fn visit_wide<'v, V: Visitor<'v>>(
    number: &Number<'_>,
    visitor: V,
) -> Result<V::Value, Mismatch> {
    match plain(number).or_else(|| written_otherwise(number)) {
        Some(Plain::Unsigned(large)) => visitor.visit_u64(large),
        Some(Plain::Signed(small)) => visitor.visit_i64(small),
        Some(Plain::WideUnsigned(wide)) => visitor.visit_u128(wide),
        Some(Plain::WideSigned(wide)) => visitor.visit_i128(wide),
        None => visitor.visit_f64(number.as_f64()),
    }
}

/// An integer as the smallest type that serde knows for it.
pub(super) enum Plain {
    Unsigned(u64),
    Signed(i64),
    WideUnsigned(u128),
    WideSigned(i128),
}

pub(super) fn plain(number: &Number<'_>) -> Option<Plain> {
    match number.as_u64() {
        Some(large) => Some(Plain::Unsigned(large)),
        None => number.as_i64().map(Plain::Signed),
    }
}

/// An integer with a fraction of zeros, an exponent or more than 64 bits.
#[cold]
pub(super) fn written_otherwise(number: &Number<'_>) -> Option<Plain> {
    let whole = number.as_whole()?;
    if let Ok(large) = u64::try_from(whole.magnitude)
        && (!whole.negative || large == 0)
    {
        return Some(Plain::Unsigned(large));
    }
    if !whole.negative {
        return Some(Plain::WideUnsigned(whole.magnitude));
    }
    let wide = 0i128.checked_sub_unsigned(whole.magnitude)?;
    Some(i64::try_from(wide).map_or(Plain::WideSigned(wide), Plain::Signed))
}
