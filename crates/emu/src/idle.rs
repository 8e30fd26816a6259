//! Control of the idle states of the processor: a core in an idle state takes time to run a thread
//! again.
//!
//! Source: Linux, Documentation/power/pm_qos_interface.rst.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// Maximum time that a core may take to leave its idle state, µs.
const LATENCY_US: i32 = 0;
/// Device of the request, which is in force while this file is open.
const DEVICE: &str = "/dev/cpu_dma_latency";

/// Keeps all cores out of idle states until the file is closed, which also happens at any exit of
/// the process.
///
/// # Errors
/// Fails if the device does not exist or is not writable.
pub fn keep_awake() -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).open(DEVICE)?;
    file.write_all(&LATENCY_US.to_ne_bytes())?;
    Ok(file)
}
