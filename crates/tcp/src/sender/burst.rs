//! Bursts of segments. The last segment of a burst requests an immediate ACK.
//!
//! Source: Linux. Linux divides data into buffers. A buffer holds the data of 1/1024 s at the
//! pacing rate, but at least two segments (`tcp_tso_autosize`). The network device splits a buffer
//! into segments. The last segment of each buffer with two or more segments carries PSH
//! (`__tcp_transmit_skb`). If the receiving application reads immediately, the receiver
//! acknowledges that segment immediately (`tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`; since 6.7).
//!
//! Not modelled: larger buffers if the minimum RTT is short, except with BBR; buffers that wait for
//! more data (`tcp_tso_should_defer`); PSH at the end of an application's write, except for writes
//! that answer a request.

use super::Sender;
use crate::config::Push;
use crate::congestion::{BurstSize, CongestionControl};
use airpath_core::{Ctx, Flags, Packet, Port, Rate};

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

/// Returns the number of segments of `mss` bytes in a buffer at the pacing rate `rate`
/// (`tcp_tso_autosize`).
pub(super) fn tso_segments(rate: Rate, mss: u64, size: BurstSize) -> u64 {
    let bytes = ((rate.0 / 8) >> size.shift) + size.extra;
    (bytes.min(LARGEST) / mss).max(size.least)
}

impl Sender {
    /// Returns the largest number of segments in a burst.
    fn longest_burst(&self) -> u64 {
        let rate = self.pacing_rate().or_else(|| self.rate_of_window()).unwrap_or_default();
        tso_segments(rate, u64::from(self.mss), self.congestion.burst_size())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 80 Mbit/s are 9765 bytes in 1/1024 s, six segments of 1448 bytes. The smallest burst has two
    /// segments, the largest 64 KiB.
    #[test]
    fn linux_tso_autosize_burst_holds_the_data_of_a_millisecond() {
        let segments = |size| {
            [1_000_000, 80_000_000, 10_000_000_000].map(|rate| tso_segments(Rate(rate), 1448, size))
        };
        assert_eq!(segments(BurstSize::default()), [2, 6, 45]);
        let single = BurstSize { least: 1, extra: 1448, ..BurstSize::default() };
        assert_eq!(segments(single), [1, 7, 45]);
    }
}
