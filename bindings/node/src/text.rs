//! Reads strings from JavaScript with one call into the engine instead of two.
//!
//! A call has a few hundred bytes. Asking for the length first, as `napi` does, converts the text twice; here it is
//! converted into a buffer that is usually large enough, and only asked for again if that was full.

use std::mem::MaybeUninit;
use std::ptr;

use napi::bindgen_prelude::{FromNapiValue, TypeName, ValidateNapiValue};
use napi::{Result, ValueType, check_status, sys};

/// How long a string may be to need only one conversion: nine out of ten calls are shorter.
const USUAL: usize = 1024;

/// A JavaScript string. Lone surrogates have become U+FFFD, so `lib/` rejects strings that contain one.
pub struct Text(pub(crate) String);

impl TypeName for Text {
    fn type_name() -> &'static str {
        "String"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ValidateNapiValue for Text {}

impl FromNapiValue for Text {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        let mut usual = [MaybeUninit::<u8>::uninit(); USUAL];
        let mut written = 0;
        // SAFETY: the engine writes at most `USUAL` bytes, the last of them a zero, and says how many are text.
        let status = unsafe {
            sys::napi_get_value_string_utf8(
                env,
                value,
                usual.as_mut_ptr().cast(),
                USUAL,
                &raw mut written,
            )
        };
        check_status!(status, "expected a string")?;
        // A character that does not fit is left out completely, and the longest has four bytes.
        if written + 4 < USUAL {
            // SAFETY: so many bytes were written, and the engine writes UTF-8.
            let bytes = unsafe { std::slice::from_raw_parts(usual.as_ptr().cast::<u8>(), written) };
            return Ok(Text(
                unsafe { std::str::from_utf8_unchecked(bytes) }.to_owned(),
            ));
        }
        let mut length = 0;
        // SAFETY: without a buffer the engine only says how long the text is.
        let status = unsafe {
            sys::napi_get_value_string_utf8(env, value, ptr::null_mut(), 0, &raw mut length)
        };
        check_status!(status, "expected a string")?;
        let mut bytes: Vec<u8> = Vec::with_capacity(length + 1);
        // SAFETY: there is room for the text and the zero after it; so many bytes are UTF-8 then.
        unsafe {
            let status = sys::napi_get_value_string_utf8(
                env,
                value,
                bytes.as_mut_ptr().cast(),
                length + 1,
                &raw mut written,
            );
            check_status!(status, "expected a string")?;
            bytes.set_len(written);
            Ok(Text(String::from_utf8_unchecked(bytes)))
        }
    }
}
