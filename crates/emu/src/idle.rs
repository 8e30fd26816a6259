//! Prevents idle states of the processor, because a core in an idle state requires time before it
//! runs a thread.
//!
//! Source: Linux, Documentation/power/pm_qos_interface.rst.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// Maximum time that a core may take to leave its idle state, µs.
const LATENCY_US: i32 = 0;
/// Device that accepts the request. The request is in force while the device file is open.
const DEVICE: &str = "/dev/cpu_dma_latency";

/// Keeps all cores out of idle states until the returned file is closed. The kernel also closes the
/// file when the process exits.
///
/// # Errors
/// Fails if the device does not exist or is not writable.
pub fn keep_awake() -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).open(DEVICE)?;
    file.write_all(&LATENCY_US.to_ne_bytes())?;
    Ok(file)
}
