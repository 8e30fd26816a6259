//! Outcomes of packets by channel and size: computed when a size is first met, once for a scenario.
//!
//! Replications, threads and directions share it. An entry is a function of channel and size alone,
//! so that it does not matter who makes it.

use super::settings::MimoChannel;
use airpath_core::Bytes;
use airpath_phy::bit_errors::Outcome;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The outcomes of one channel, by the packets' bytes.
type BySize = BTreeMap<u64, Outcome>;

/// Cache of packet outcomes.
#[derive(Debug, Default)]
pub struct Outcomes {
    made: Mutex<Vec<(MimoChannel, BySize)>>,
}

impl Outcomes {
    /// Outcome of a packet on a channel. Waits if another thread is computing it.
    pub fn of(&self, channel: &MimoChannel, packet: Bytes) -> Outcome {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.iter().position(|(known, _)| known == channel);
        let place = known.unwrap_or_else(|| {
            made.push((channel.clone(), BySize::new()));
            made.len() - 1
        });
        *made[place].1.entry(packet.0).or_insert_with(|| channel.outcome(packet))
    }

    /// How many there are.
    pub fn made(&self) -> usize {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().map(|(_, by_size)| by_size.len()).sum()
    }
}
