//! Bursts: which segments request an immediate ACK.
//!
//! Source: Linux. What may leave is cut into buffers of a millisecond of the pacing rate, two
//! segments at least (`tcp_tso_autosize`), which the device splits; the last segment of each that
//! has two or more carries PSH (`__tcp_transmit_skb`), and a receiver whose application reads at once
//! acknowledges it at once (`tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`; since 6.7).
//! Left out: larger buffers where the smallest RTT is short, buffers that wait for a larger one
//! (`tcp_tso_should_defer`), and the PSH at the end of what an application wrote.

use super::Sender;
use crate::config::Push;
use airpath_core::{Ctx, Flags, Packet, Port};

/// The largest buffer, bytes (`GSO_LEGACY_MAX_SIZE`).
const LARGEST: u64 = 65_536;

/// A burst of segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Burst {
    /// The last segment so far, which leaves when it is known whether another follows.
    last: Option<Packet>,
    /// Segments so far.
    segments: u64,
}

impl Burst {
    /// `None` where no segment requests an ACK.
    pub(super) fn new(push: Push) -> Option<Box<Burst>> {
        (push == Push::Bursts).then(Box::default)
    }
}

impl Sender {
    /// Most segments that leave as one.
    fn longest_burst(&self) -> u64 {
        let mss = u64::from(self.mss);
        // Linux sk_pacing_shift = 10: a part of 1024 of a second.
        let bytes = self.rate_of_window().map_or(0, |rate| rate.0 / 8 / 1024);
        (bytes.min(LARGEST) / mss).max(2)
    }

    /// A segment leaves, as part of the present burst or as the first of the next.
    #[cold]
    pub(super) fn add_to_burst(&mut self, segment: Packet, ctx: &mut Ctx<'_>) {
        let longest = self.longest_burst();
        let Some(burst) = &mut self.burst else { return };
        let is_part = burst.last.is_some_and(|last| {
            last.end() == segment.seq && last.flags == segment.flags && burst.segments < longest
        });
        if is_part {
            if let Some(last) = burst.last.replace(segment) {
                ctx.emit(Port(0), last);
            }
            burst.segments += 1;
        } else {
            self.end_burst(ctx);
            if let Some(burst) = &mut self.burst {
                **burst = Burst { last: Some(segment), segments: 1 };
            }
        }
    }

    /// Nothing more belongs to the burst.
    #[cold]
    pub(super) fn end_burst(&mut self, ctx: &mut Ctx<'_>) {
        let Some(burst) = &mut self.burst else { return };
        if let Some(mut last) = burst.last.take() {
            if burst.segments > 1 {
                last.flags = last.flags.with(Flags::PSH);
            }
            ctx.emit(Port(0), last);
        }
    }
}
