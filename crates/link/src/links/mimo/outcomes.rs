//! Cache of packet outcomes by channel and packet size. The outcome for a packet size is computed
//! once per scenario, at the first packet of this size.
//!
//! Replications, threads and directions share the cache. An entry depends only on the channel and
//! the packet size, not on the link that computes it.

use super::settings::MimoChannel;
use airpath_core::Bytes;
use airpath_phy::bit_errors::Outcome;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Maps the packet size in bytes to the outcome on one channel.
type BySize = BTreeMap<u64, Outcome>;

/// Cache of packet outcomes.
#[derive(Debug, Default)]
pub struct Outcomes {
    made: Mutex<Vec<(MimoChannel, BySize)>>,
}

impl Outcomes {
    /// Returns the outcome of a packet on a channel. Waits while another thread computes the same
    /// outcome.
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
