//! Packet outcomes by channel and size, computed at the first packet of this size, once per
//! scenario.
//!
//! Replications, threads and directions share the cache. An entry depends only on channel and size,
//! so it is irrelevant which link computes it.

use super::settings::MimoChannel;
use airpath_core::Bytes;
use airpath_phy::bit_errors::Outcome;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Outcomes of one channel, by packet size in bytes.
type BySize = BTreeMap<u64, Outcome>;

/// Cache of packet outcomes.
#[derive(Debug, Default)]
pub struct Outcomes {
    made: Mutex<Vec<(MimoChannel, BySize)>>,
}

impl Outcomes {
    /// Returns the outcome of a packet on a channel. Waits if another thread is computing it.
    pub fn of(&self, channel: &MimoChannel, packet: Bytes) -> Outcome {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.iter().position(|(known, _)| known == channel);
        let place = known.unwrap_or_else(|| {
            made.push((channel.clone(), BySize::new()));
            made.len() - 1
        });
        *made[place].1.entry(packet.0).or_insert_with(|| channel.outcome(packet))
    }

    /// Number of computed outcomes.
    pub fn made(&self) -> usize {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().map(|(_, by_size)| by_size.len()).sum()
    }
}
