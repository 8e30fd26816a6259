//! Idle states of the processors: a core that is in one takes time to run a thread again.
//!
//! Source: Linux, Documentation/power/pm_qos_interface.rst.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// The longest time, µs, that a core may take to leave its idle state.
const LATENCY_US: i32 = 0;
/// The request is in force as long as this file is open.
const DEVICE: &str = "/dev/cpu_dma_latency";

/// Keeps all cores out of idle states until the file is closed, however the process ends.
///
/// # Errors
/// When the device does not exist, or may not be written.
pub fn keep_awake() -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).open(DEVICE)?;
    file.write_all(&LATENCY_US.to_ne_bytes())?;
    Ok(file)
}
