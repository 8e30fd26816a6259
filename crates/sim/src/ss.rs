//! Samples the state of the TCP senders at regular intervals, with the values that `ss -ti` prints.
//!
//! At a sample time, the driver pauses between two events and the senders are read. Sampling adds
//! no events, so it does not change the order of events.

use crate::driver::{Driver, RunError, RunMonitor};
use airpath_core::{Duration, FlowId, MemoryBudget, Time, push_within};
use airpath_tcp::{Sender, SsSample};
use std::sync::Arc;

/// Samples the senders of one replication.
pub(crate) struct Sampler {
    interval: Duration,
    next: Time,
    /// Acknowledged bytes at the previous sample, by flow.
    acked: Vec<u64>,
    /// Number of retransmissions before the counters were reset, by flow.
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

    /// Runs the complete scenario and takes a sample at every multiple of the interval.
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

    /// Samples every sender. Returns false if the memory budget is exhausted.
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

/// Returns the TCP senders with their flow numbers.
fn senders(driver: &Driver) -> impl Iterator<Item = (u32, &Sender)> {
    (0..).zip(driver.flows()).filter_map(|(flow, ends)| {
        let source = &driver.stages()[ends.source.0 as usize];
        Some((flow, source.sender(FlowId(flow))?))
    })
}
