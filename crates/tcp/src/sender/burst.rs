//! Bursts of segments. The last segment of a burst requests an immediate ACK.
//!
//! Source: Linux. Linux divides data into buffers. A buffer holds the data of 1/1024 s at the
//! pacing rate, but at least two segments (`tcp_tso_autosize`). The network device splits a buffer
//! into segments. The last segment of each buffer with two or more segments carries PSH
//! (`__tcp_transmit_skb`). If the receiving application reads immediately, the receiver
//! acknowledges that segment immediately (`tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`; since 6.7).
//!
//! Not modelled: larger buffers if the minimum RTT is short, buffers that wait for more data
//! (`tcp_tso_should_defer`), and PSH at the end of an application's write.

use super::Sender;
use crate::config::Push;
use airpath_core::{Ctx, Flags, Packet, Port};

/// Largest buffer, bytes (`GSO_LEGACY_MAX_SIZE`).
const LARGEST: u64 = 65_536;

/// Current burst of segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Burst {
    /// Last segment of the burst. It is held until the sender knows whether another segment
    /// follows.
    last: Option<Packet>,
    /// Number of segments in the burst.
    segments: u64,
}

impl Burst {
    /// Creates an empty burst. Returns `None` if bursts are disabled.
    pub(super) fn new(push: Push) -> Option<Box<Burst>> {
        (push == Push::Bursts).then(Box::default)
    }
}

impl Sender {
    /// Returns the largest number of segments in a burst.
    fn longest_burst(&self) -> u64 {
        let mss = u64::from(self.mss);
        // Linux `sk_pacing_shift` = 10: the data of 1/1024 s.
        let bytes = self.rate_of_window().map_or(0, |rate| rate.0 / 8 / 1024);
        (bytes.min(LARGEST) / mss).max(2)
    }

    /// Adds a segment to the current burst. If the burst is full, begins the next burst with this
    /// segment.
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

    /// Ends the current burst and sends its last segment.
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
