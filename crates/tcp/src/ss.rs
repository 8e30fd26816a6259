//! Periodic samples of sender state, with the quantities that `ss -ti` prints, and the columns of
//! the table of samples. Used for simulated senders and for senders in the Linux kernel.

use crate::sender::{SenderInfo, SenderState};
use airpath_core::{Duration, Time};
use std::io::{self, Write};

/// Sample of the state of one sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SsSample {
    /// Time of the sample.
    pub time: Time,
    /// Flow ID.
    pub flow: u32,
    /// State of the sender. Its retransmissions are counted from the start of the run.
    pub info: SenderInfo,
    /// Mean rate of cumulatively acknowledged data since the previous sample, bit/s.
    pub delivery_rate_bps: f64,
}

impl SsSample {
    fn segments(&self, bytes: u64) -> f64 {
        bytes as f64 / f64::from(self.info.mss)
    }
}

/// Column of the table of samples.
pub struct SsColumn {
    /// Name of the column in results.
    pub name: &'static str,
    /// Function that reads the value.
    pub of: SsValue,
}

/// Value of a column and its type.
pub enum SsValue {
    /// Flow ID.
    Flow,
    /// State, as an index in [`SenderState::ALL`].
    State,
    /// Floating-point value. A missing value is NaN.
    Number(fn(&SsSample) -> f64),
}

impl SsColumn {
    /// Writes the column as little-endian doubles, except the flow (32-bit integer) and the state
    /// (8-bit integer).
    ///
    /// # Errors
    /// Returns an error if writing to `sink` fails.
    pub fn write(&self, samples: &[SsSample], sink: &mut impl Write) -> io::Result<()> {
        for sample in samples {
            match self.of {
                SsValue::Flow => sink.write_all(&sample.flow.to_le_bytes())?,
                SsValue::State => sink.write_all(&[sample.info.state.number()])?,
                SsValue::Number(of) => sink.write_all(&of(sample).to_le_bytes())?,
            }
        }
        Ok(())
    }
}

impl SenderState {
    /// Returns the index in [`SenderState::ALL`].
    pub fn number(self) -> u8 {
        self as u8
    }
}

fn seconds(span: Option<Duration>) -> f64 {
    span.map_or(f64::NAN, Duration::as_secs_lossy)
}

const fn number(name: &'static str, of: fn(&SsSample) -> f64) -> SsColumn {
    SsColumn { name, of: SsValue::Number(of) }
}

/// All columns, in the order of tables. Windows are in segments.
pub static SS_COLUMNS: [SsColumn; 16] = [
    number("time_s", |sample| sample.time.as_secs_lossy()),
    SsColumn { name: "flow", of: SsValue::Flow },
    SsColumn { name: "state", of: SsValue::State },
    number("cwnd", |sample| sample.segments(sample.info.cwnd)),
    number("ssthresh", |sample| {
        sample.info.ssthresh.map_or(f64::NAN, |bytes| sample.segments(bytes))
    }),
    number("unacked", |sample| sample.segments(sample.info.unacked)),
    number("sacked", |sample| sample.segments(sample.info.sacked)),
    number("in_flight_bytes", |sample| sample.info.in_flight as f64),
    number("rtt_s", |sample| seconds(sample.info.srtt)),
    number("rttvar_s", |sample| seconds(sample.info.rttvar)),
    number("rto_s", |sample| sample.info.rto.as_secs_lossy()),
    number("backoff", |sample| f64::from(sample.info.backoff)),
    number("retrans", |sample| sample.info.retransmissions as f64),
    number("bytes_acked", |sample| sample.info.acked as f64),
    number("delivery_rate_bps", |sample| sample.delivery_rate_bps),
    number("pacing_rate_bps", |sample| {
        sample.info.pacing_rate.map_or(f64::NAN, |rate| rate.0 as f64)
    }),
];

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::Rate;

    fn sample() -> SsSample {
        SsSample {
            time: Time::from_millis(1500),
            flow: 7,
            info: SenderInfo {
                state: SenderState::Recovery,
                mss: 1000,
                cwnd: 12_500,
                ssthresh: None,
                unacked: 9000,
                sacked: 2000,
                in_flight: 6000,
                srtt: Some(Duration::from_millis(40)),
                rttvar: None,
                rto: Duration::from_millis(240),
                backoff: 2,
                retransmissions: 3,
                acked: 1 << 40,
                pacing_rate: Some(Rate(8_000_000)),
            },
            delivery_rate_bps: 1.5e6,
        }
    }

    fn bytes(name: &str, samples: &[SsSample]) -> Vec<u8> {
        let column = SS_COLUMNS.iter().find(|column| column.name == name).expect("is a column");
        let mut bytes = Vec::new();
        column.write(samples, &mut bytes).expect("a vector");
        bytes
    }

    #[test]
    fn columns_are_little_endian_and_contain_the_samples() {
        let later = SsSample { time: Time::from_secs(2), flow: 8, ..sample() };
        let samples = [sample(), later];
        assert_eq!(bytes("flow", &samples), [7, 0, 0, 0, 8, 0, 0, 0]);
        assert_eq!(bytes("state", &samples), [4, 4], "recovery");
        assert_eq!(SenderState::ALL[4], (SenderState::Recovery, "recovery"));
        let doubles = |name| {
            let bytes = bytes(name, &samples);
            let (numbers, rest) = bytes.as_chunks::<8>();
            assert!(rest.is_empty());
            numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect::<Vec<_>>()
        };
        assert_eq!(doubles("time_s"), [1.5, 2.0]);
        for (name, expected) in [
            ("cwnd", 12.5),
            ("unacked", 9.0),
            ("sacked", 2.0),
            ("in_flight_bytes", 6000.0),
            ("rtt_s", 0.04),
            ("rto_s", 0.24),
            ("backoff", 2.0),
            ("retrans", 3.0),
            ("bytes_acked", (1u64 << 40) as f64),
            ("delivery_rate_bps", 1.5e6),
            ("pacing_rate_bps", 8e6),
        ] {
            assert_eq!(doubles(name)[0], expected, "{name}");
        }
        assert!(doubles("ssthresh")[0].is_nan() && doubles("rttvar_s")[0].is_nan());
    }
}
