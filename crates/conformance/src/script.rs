//! Records of packet scripts.

use serde_json::json;

/// Record of a packet script, with the name of the running test. It is written when the script
/// ends. The script file has the name of the test's module.
#[derive(Debug, Default)]
pub struct Script {
    stimuli: usize,
    segments: usize,
    values: usize,
}

impl Script {
    /// Counts a stimulus: a packet arrived, a timer expired or the application acted.
    pub fn stimulus(&mut self) {
        self.stimuli += 1;
    }

    /// Counts `number` claimed segments, whose order was checked.
    pub fn segments(&mut self, number: usize) {
        self.segments += number;
    }

    /// Counts an assertion about a window, a timer, a counter or a header.
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
