//! Packet scripts.

use serde_json::json;

/// Record of a packet script, written when it ends, under the test that runs it: its module is the
/// file of scripts.
#[derive(Debug, Default)]
pub struct Script {
    stimuli: usize,
    segments: usize,
    values: usize,
}

impl Script {
    /// A packet arrived, a timer expired or the application acted.
    pub fn stimulus(&mut self) {
        self.stimuli += 1;
    }

    /// Records `number` claimed segments, each with its place in the order.
    pub fn segments(&mut self, number: usize) {
        self.segments += number;
    }

    /// Something else was asserted: a window, a timer, a count, a header.
    pub fn value(&mut self) {
        self.values += 1;
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let test = super::test_name();
        super::write(&json!({
            "kind": "script",
            "file": test.split("::").next(),
            "test": test,
            "stimuli": self.stimuli,
            "segments": self.segments,
            "values": self.values,
            "passed": !std::thread::panicking(),
        }));
    }
}
