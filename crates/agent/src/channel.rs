//! State that a simulation shares with the congestion controls of its agents.

use crate::meter::Meter;
use airpath_core::Rate;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

/// Window of a flow without a limit, bytes. Sums with stream offsets do not overflow.
const UNLIMITED: u64 = 1 << 62;

/// Decision of an agent, valid until its next decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// Congestion window, bytes; `None`: no limit. A window below one segment counts as one segment,
    /// because a sender without data in flight would otherwise stop for ever.
    pub window: Option<u64>,
    /// Pacing rate of complete IP packets, above 0; `None`: no pacing.
    pub rate: Option<Rate>,
}

/// Counter with one writer at a time.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    #[inline]
    fn add(&self, number: u64) {
        self.0.store(self.0.load(Relaxed) + number, Relaxed);
    }

    fn take(&self) -> u64 {
        self.0.swap(0, Relaxed)
    }
}

/// Shared state of one agent. The congestion control and the simulation access it in turn, never at
/// the same time.
#[derive(Debug)]
pub(crate) struct Channel {
    window: AtomicU64,
    /// Size of a segment, bytes; 0 before the network is built.
    segment: AtomicU64,
    /// Pacing rate, bit/s; 0 without pacing.
    rate: AtomicU64,
    sent_bytes: Counter,
    sent_packets: Counter,
    /// Number of ACKs until the pause of the simulation; 0 without a pause.
    acks_left: AtomicU64,
    must_pause: AtomicBool,
    meter: Mutex<Meter>,
}

impl Channel {
    pub(crate) fn new(action: Action) -> Channel {
        let channel = Channel {
            window: AtomicU64::new(0),
            segment: AtomicU64::new(0),
            rate: AtomicU64::new(0),
            sent_bytes: Counter::default(),
            sent_packets: Counter::default(),
            acks_left: AtomicU64::new(0),
            must_pause: AtomicBool::new(false),
            meter: Mutex::default(),
        };
        channel.set(action);
        channel
    }

    pub(crate) fn set(&self, action: Action) {
        let window = action.window.map_or(UNLIMITED, |bytes| bytes.min(UNLIMITED));
        self.window.store(window.max(self.segment.load(Relaxed)), Relaxed);
        self.rate.store(action.rate.map_or(0, |rate| rate.0), Relaxed);
    }

    /// Sets the size of a segment, bytes.
    pub(crate) fn set_segment(&self, bytes: u64) {
        self.segment.store(bytes, Relaxed);
        self.set(self.action());
    }

    pub(crate) fn action(&self) -> Action {
        let window = Some(self.window()).filter(|bytes| *bytes < UNLIMITED);
        Action { window, rate: self.rate() }
    }

    /// Returns the congestion window, bytes.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.window.load(Relaxed)
    }

    /// Returns the pacing rate, if any.
    #[inline]
    pub(crate) fn rate(&self) -> Option<Rate> {
        Some(Rate(self.rate.load(Relaxed))).filter(|rate| rate.0 > 0)
    }

    #[inline]
    pub(crate) fn count_sent(&self, bytes: u64) {
        self.sent_bytes.add(bytes);
        self.sent_packets.add(1);
    }

    /// Returns the payload bytes and the packets sent since the last call.
    pub(crate) fn take_sent(&self) -> (u64, u64) {
        (self.sent_bytes.take(), self.sent_packets.take())
    }

    /// Returns the counters of the received feedback.
    #[inline]
    pub(crate) fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().expect("no thread panics with the lock")
    }

    /// Requests a pause of the simulation after `count` ACKs.
    pub(crate) fn pause_after(&self, count: u64) {
        self.must_pause.store(false, Relaxed);
        self.acks_left.store(count, Relaxed);
    }

    /// Counts an ACK for the requested pause.
    #[inline]
    pub(crate) fn count_ack(&self) {
        let left = self.acks_left.load(Relaxed);
        if left > 0 {
            self.acks_left.store(left - 1, Relaxed);
            self.must_pause.store(left == 1, Relaxed);
        }
    }

    /// Returns true once the requested number of ACKs has arrived.
    #[inline]
    pub(crate) fn must_pause(&self) -> bool {
        self.must_pause.load(Relaxed)
    }
}
