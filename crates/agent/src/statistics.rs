//! Statistics of the interval between two decisions of an agent.

use crate::channel::{Action, Channel};
use airpath_core::{Duration, Time};
use airpath_tcp::SenderInfo;

/// A quantity of [`Statistics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Name of the quantity.
    pub name: &'static str,
    /// Unit; empty for a ratio.
    pub unit: &'static str,
    /// Definition in one sentence.
    pub about: &'static str,
}

macro_rules! statistics {
    ($($name:ident: $unit:literal, $about:literal;)+) => {
        /// Statistics of one agent's flow over one interval. Bytes are payload bytes of TCP.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Statistics {
            $(#[doc = $about] pub $name: f64,)+
        }

        impl Statistics {
            /// The quantities, in the order of [`values`](Self::values).
            pub const QUANTITIES: &[Quantity] =
                &[$(Quantity { name: stringify!($name), unit: $unit, about: $about }),+];

            /// Appends all values to `row`.
            pub fn values(&self, row: &mut Vec<f64>) {
                $(row.push(self.$name);)+
            }
        }
    };
}

statistics! {
    time: "s", "Simulated time at the end of the interval.";
    duration: "s", "Duration of the interval.";
    sent_bytes: "B", "Bytes sent, retransmissions included.";
    sent_packets: "packets", "Packets sent, retransmissions included.";
    acks: "ACKs", "ACKs received, duplicates included.";
    acked_bytes: "B", "Bytes acknowledged cumulatively.";
    delivered_bytes: "B", "Bytes acknowledged, cumulatively or selectively, each once.";
    lost_bytes: "B", "Bytes that the sender deemed lost; a lost retransmission counts again.";
    lost_packets: "packets", "Segments that the sender deemed lost.";
    marked_bytes: "B", "Bytes that an ACK reported as marked (ECN).";
    recoveries: "events", "Fast recoveries that began.";
    timeouts: "events", "Expiries of the retransmission timer.";
    rtt_samples: "samples", "RTT samples.";
    mean_rtt: "s", "Mean of the RTT samples; without samples, that of the last interval with samples.";
    min_rtt: "s", "Smallest RTT sample; without samples, `mean_rtt`.";
    max_rtt: "s", "Largest RTT sample; without samples, `mean_rtt`.";
    first_half_rtt: "s", "Mean of the first ⌊n/2⌋ of n RTT samples; `mean_rtt` if n < 2.";
    second_half_rtt: "s", "Mean of the other RTT samples; `mean_rtt` if n < 2.";
    smoothed_rtt: "s", "SRTT of the sender (RFC 6298) at the end of the interval; 0 before the first sample.";
    path_min_rtt: "s", "Smallest RTT sample since the start of the episode; 0 before the first sample.";
    least_mean_rtt: "s", "Smallest `mean_rtt` of the intervals of the episode so far; 0 before the first sample.";
    in_flight_bytes: "B", "Estimate of the bytes in the network (pipe, RFC 6675) at the end of the interval.";
    unacked_bytes: "B", "Bytes sent and not cumulatively acknowledged at the end of the interval.";
    window_bytes: "B", "Congestion window in the interval; 0 if unlimited.";
    rate: "bit/s", "Pacing rate in the interval, with headers; 0 without pacing.";
    segment_bytes: "B", "Payload of a full-sized segment.";
    send_rate: "bit/s", "`sent_bytes` per `duration`.";
    throughput: "bit/s", "`delivered_bytes` per `duration`.";
    largest_throughput: "bit/s", "Largest `throughput` of the intervals of the episode so far.";
    loss_share: "", "`lost_bytes` / (`lost_bytes` + `delivered_bytes`); 0 if both are 0.";
    mark_share: "", "`marked_bytes` / `delivered_bytes`; 0 without delivered bytes.";
    rtt_slope: "", "(`second_half_rtt` - `first_half_rtt`) / `duration`.";
    rtt_ratio: "", "`mean_rtt` / `least_mean_rtt`; 1 before the first sample.";
    send_ratio: "", "`send_rate` / `throughput`; 1 without delivered bytes.";
}

/// Values of an agent that outlast an interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// Mean RTT of the last interval with samples, or of the handshake, s; 0 before.
    pub(crate) mean_rtt: f64,
    path_min_rtt: f64,
    least_mean_rtt: f64,
    largest_throughput: f64,
}

/// Returns the smaller of a known value and a new one. 0 is unknown.
fn least(known: f64, new: f64) -> f64 {
    if known > 0.0 { known.min(new) } else { new }
}

/// Returns a ratio, or `otherwise` if the denominator is 0.
fn ratio(numerator: f64, denominator: f64, otherwise: f64) -> f64 {
    if denominator > 0.0 { numerator / denominator } else { otherwise }
}

impl Memory {
    /// Ends an interval and returns its statistics. The channel starts the next interval.
    pub(crate) fn close(
        &mut self,
        channel: &Channel,
        info: &SenderInfo,
        now: Time,
        duration: Duration,
    ) -> Statistics {
        let (sent_bytes, sent_packets) = channel.take_sent();
        let Action { window, rate } = channel.action();
        let mut meter = channel.meter();
        if let Some(rtt) = meter.opening_rtt
            && self.mean_rtt == 0.0
        {
            self.mean_rtt = rtt.as_secs_lossy();
        }
        let samples = meter.rtt_count();
        let mean = meter.mean_rtt(0, samples);
        let range = meter.rtt_range.map(|(low, high)| [low, high].map(|nanos| nanos as f64 / 1e9));
        if let (Some(mean), Some([low, _])) = (mean, range) {
            self.mean_rtt = mean;
            self.path_min_rtt = least(self.path_min_rtt, low);
            self.least_mean_rtt = least(self.least_mean_rtt, mean);
        }
        let mean_rtt = self.mean_rtt;
        let [min_rtt, max_rtt] = range.unwrap_or([mean_rtt; 2]);
        let half = |from, until| meter.mean_rtt(from, until).filter(|_| samples > 1);
        let first_half_rtt = half(0, samples / 2).unwrap_or(mean_rtt);
        let second_half_rtt = half(samples / 2, samples).unwrap_or(mean_rtt);
        let duration = duration.as_secs_lossy();
        let sent = sent_bytes as f64;
        let (delivered, lost) = (meter.delivered_bytes as f64, meter.lost_bytes as f64);
        let (send_rate, throughput) =
            (ratio(8.0 * sent, duration, 0.0), ratio(8.0 * delivered, duration, 0.0));
        self.largest_throughput = self.largest_throughput.max(throughput);
        let statistics = Statistics {
            time: now.as_secs_lossy(),
            duration,
            sent_bytes: sent,
            sent_packets: sent_packets as f64,
            acks: meter.acks as f64,
            acked_bytes: meter.acked_bytes as f64,
            delivered_bytes: delivered,
            lost_bytes: lost,
            lost_packets: meter.lost_packets as f64,
            marked_bytes: meter.marked_bytes as f64,
            recoveries: meter.recoveries as f64,
            timeouts: meter.timeouts as f64,
            rtt_samples: samples as f64,
            mean_rtt,
            min_rtt,
            max_rtt,
            first_half_rtt,
            second_half_rtt,
            smoothed_rtt: info.srtt.map_or(0.0, Duration::as_secs_lossy),
            path_min_rtt: self.path_min_rtt,
            least_mean_rtt: self.least_mean_rtt,
            in_flight_bytes: info.in_flight as f64,
            unacked_bytes: info.unacked as f64,
            window_bytes: window.map_or(0.0, |bytes| bytes as f64),
            rate: rate.map_or(0.0, |rate| rate.0 as f64),
            segment_bytes: f64::from(info.mss),
            send_rate,
            throughput,
            largest_throughput: self.largest_throughput,
            loss_share: ratio(lost, lost + delivered, 0.0),
            mark_share: ratio(meter.marked_bytes as f64, delivered, 0.0),
            rtt_slope: ratio(second_half_rtt - first_half_rtt, duration, 0.0),
            rtt_ratio: ratio(mean_rtt, self.least_mean_rtt, 1.0),
            send_ratio: ratio(send_rate, throughput, 1.0),
        };
        meter.clear();
        statistics
    }
}
