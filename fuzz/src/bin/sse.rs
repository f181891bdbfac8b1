//! Feeds any bytes as a server-sent event: data that is put into an event can be read back, and everything else stays.
#![no_main]

use callwright_fuzz::{Bounds, bounded, plant};
use callwright_http::sse::{EventFields, event, with_data};
use libfuzzer_sys::fuzz_target;

const BOUNDS: Bounds = Bounds {
    reads: (100_000, 200),
    allocated: (100_000, 300),
    held: (64 << 20, 16 << 10),
};

const SEEDS: [&str; 4] = [
    "event: message\nid: 7\ndata: {\"a\":\ndata: 1}\n\n",
    ": a comment\r\nretry: 3000\r\ndata\r\n\r\n",
    "data:x\rdata: y\r\r",
    "id\ndata: \ndata:\n\n",
];

fuzz_target!(
    init: plant(SEEDS.map(|seed| seed.as_bytes().to_vec())),
    |bytes: &[u8]| bounded(bytes, BOUNDS, || {
        let read = EventFields::read(bytes);
        let same = with_data(bytes, read.data.as_deref());
        let again = EventFields::read(&same);
        assert_eq!((read.name, read.id, read.retry), (again.name, again.id, again.retry));
        assert_eq!(EventFields::read(&with_data(bytes, None)).data, None);
        // Each kind of line break is read as one newline, and the last one only ends the data.
        let mut lines = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
        if lines.ends_with('\n') {
            lines.pop();
        }
        let new = event("message", String::from_utf8_lossy(bytes).as_bytes());
        let carried = EventFields::read(&new).data.unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(&carried), lines);
    })
);
