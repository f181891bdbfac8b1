//! A hash of addresses, for maps that are asked once per call.

/// Addresses are different enough as they are.
#[derive(Default)]
pub(super) struct ByAddress(u64);

impl std::hash::Hasher for ByAddress {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 << 8) | u64::from(*byte);
        }
    }

    fn write_usize(&mut self, address: usize) {
        // Spreads the bits; the lowest are always zero.
        self.0 = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
