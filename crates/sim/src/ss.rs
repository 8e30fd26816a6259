//! The senders' state at regular instants, as a row of `ss -ti` after the other.
//!
//! The driver pauses between two events and the senders are sampled; nothing else happens, so that
//! the order of events does not depend on sampling.

use crate::driver::{Driver, RunError, RunMonitor};
use airpath_core::{Duration, MemoryBudget, Time, push_within};
use airpath_path::AnyStage;
use airpath_tcp::{Sender, SsSample};
use std::sync::Arc;

/// Samples one replication.
pub(crate) struct Sampler {
    interval: Duration,
    next: Time,
    /// Bytes acknowledged at the sample before, by flow.
    acked: Vec<u64>,
    /// Retransmissions before the counters were reset, by flow.
    resent_before: Vec<u64>,
    pub(crate) samples: Vec<SsSample>,
    room: Option<Arc<MemoryBudget>>,
}

impl Sampler {
    pub(crate) fn new(
        interval: Duration,
        flows: usize,
        room: Option<Arc<MemoryBudget>>,
    ) -> Sampler {
        Sampler {
            interval,
            next: Time::ZERO + interval,
            acked: vec![0; flows],
            resent_before: vec![0; flows],
            samples: Vec::new(),
            room,
        }
    }

    /// Runs the whole scenario and samples at every multiple of the interval.
    pub(crate) fn run(
        &mut self,
        driver: &mut Driver,
        watch: &impl RunMonitor,
    ) -> Result<(), RunError> {
        let (warmup, end) = (driver.warmup(), driver.end());
        self.run_until(driver, warmup, watch)?;
        for (flow, sender) in senders(driver) {
            self.resent_before[flow as usize] = sender.info().retransmissions;
        }
        driver.start_measurement()?;
        self.run_until(driver, end, watch)?;
        driver.check_memory()
    }

    fn run_until(
        &mut self,
        driver: &mut Driver,
        until: Time,
        watch: &impl RunMonitor,
    ) -> Result<(), RunError> {
        while self.next <= until {
            driver.run_until(self.next, watch)?;
            if !watch.reached(self.next) {
                return Err(RunError::Interrupted);
            }
            if !self.sample(driver) {
                return Err(driver.no_memory());
            }
            self.next = self.next + self.interval;
        }
        driver.run_until(until, watch)
    }

    /// Asks every sender; false when there is no memory for what they say.
    fn sample(&mut self, driver: &Driver) -> bool {
        for (flow, sender) in senders(driver) {
            let mut info = sender.info();
            let index = flow as usize;
            info.retransmissions += self.resent_before[index];
            let acked = info.acked - self.acked[index];
            self.acked[index] = info.acked;
            let delivery_rate_bps = acked as f64 * 8.0 / self.interval.as_secs_lossy();
            let sample = SsSample { time: driver.now(), flow, info, delivery_rate_bps };
            if !push_within(&mut self.samples, sample, self.room.as_deref()) {
                return false;
            }
        }
        true
    }
}

/// The TCP senders with the numbers of their flows.
fn senders(driver: &Driver) -> impl Iterator<Item = (u32, &Sender)> {
    (0..).zip(driver.flows()).filter_map(|(flow, ends)| {
        match &driver.stages()[ends.source.0 as usize] {
            AnyStage::Sender(sender) => Some((flow, &**sender)),
            _ => None,
        }
    })
}
