//! Packet scripts.

use serde_json::json;

/// What a packet script did; recorded when it ends.
#[derive(Debug)]
pub struct Script {
    /// `module_path!()` of the harness: the name of the test file comes first.
    module: &'static str,
    stimuli: usize,
    segments: usize,
    values: usize,
}

impl Script {
    /// A script of the test file whose harness is the module `module`.
    pub fn new(module: &'static str) -> Script {
        Script { module, stimuli: 0, segments: 0, values: 0 }
    }

    /// A packet arrived, a timer expired or the application acted.
    pub fn stimulus(&mut self) {
        self.stimuli += 1;
    }

    /// So many segments were claimed, each with its place in the order.
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
        super::write(&json!({
            "kind": "script",
            "file": self.module.split("::").next(),
            "test": super::test_name(),
            "stimuli": self.stimuli,
            "segments": self.segments,
            "values": self.values,
            "passed": !std::thread::panicking(),
        }));
    }
}
