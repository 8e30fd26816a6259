//! Link whose rate is a piecewise-constant function of time from a `time,rate` file.
//!
//! The rate is constant between the times of the file. A transmission ends when the integral of the
//! rate since its start equals the frame size; it is suspended during intervals of rate zero. The
//! trace is repeated. `offset` is the position in the trace at which the run starts.
//!
//! The nominal rate is the mean of the trace. If the scenario sets another rate, all rates of the
//! trace are scaled in proportion. The integral is computed exactly.

use crate::context::{LinkContext, check_errors};
use crate::link::Link;
use crate::links::framing::FramingConfig;
use crate::links::offset::{Offset, OffsetSpec};
use crate::links::serial::{SerialLink, Transmission, Transmitter};
use crate::retransmission::arq::ArqConfig;
use crate::retransmission::check_retransmission;
use crate::retransmission::harq::HarqConfig;
use crate::retransmission::stage::RetransmissionStage;
use airpath_core::{Bytes, Checks, Component, ConfigError, Duration, Rate, Setup, Time};
use airpath_trace::{RateTrace, Trace};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateTraceConfig {
    /// Key of the trace among the files of the scenario.
    pub trace: String,
    /// Probability that a packet is lost, in [0, 1].
    #[serde(default)]
    pub loss: f64,
    /// Framing: determines the size of a packet on the air. A number in the configuration sets only
    /// the overhead, bytes.
    #[serde(default)]
    pub framing: FramingConfig,
    /// Error process in addition to `loss`: `{"kind": …}`. `None`: no error process.
    #[serde(default)]
    pub errors: Option<Value>,
    /// HARQ parameters. `None`: no HARQ.
    #[serde(default)]
    pub harq: Option<HarqConfig>,
    /// ARQ parameters, for packets that HARQ discards or that are corrupted without HARQ. `None`:
    /// no ARQ.
    #[serde(default)]
    pub arq: Option<ArqConfig>,
    /// True if the link delivers packets in the order of their first transmissions.
    #[serde(default)]
    pub in_order: bool,
    /// Position in the trace at which the run starts. `None`: the start of the trace.
    #[serde(default)]
    pub offset: Option<OffsetSpec>,
}

/// Transmitter whose rate is given by a trace.
#[derive(Clone, Debug)]
pub struct RateTraceTransmitter {
    /// Start of each segment, ns since the start of the period.
    starts: Vec<u64>,
    /// Rate of each segment, integer bit/s.
    rates: Vec<u64>,
    /// Integral of the rate from the start of the period to the start of each segment, bit · 10⁹
    /// (bit/s times ns).
    carried: Vec<u128>,
    period: u64,
    carried_in_period: u128,
    /// Nominal rate set by the scenario; `None`: the trace is not scaled.
    nominal: Option<Rate>,
    loss: f64,
    /// Position in the period at which the run starts.
    offset: Offset,
}

/// One byte in bit-nanoseconds: the product of a rate in bit/s and a time in ns.
const BIT_NANOS_PER_BYTE: u128 = 8_000_000_000;

impl RateTraceTransmitter {
    fn new(trace: &RateTrace, loss: f64) -> RateTraceTransmitter {
        let mut transmitter = RateTraceTransmitter {
            starts: Vec::new(),
            rates: Vec::new(),
            carried: Vec::new(),
            period: trace.period_ns(),
            carried_in_period: 0,
            nominal: None,
            loss,
            offset: Offset::default(),
        };
        for (start, end, rate_bps) in trace.spans() {
            let rate = rate_bps.round() as u64;
            transmitter.starts.push(start);
            transmitter.rates.push(rate);
            transmitter.carried.push(transmitter.carried_in_period);
            transmitter.carried_in_period += u128::from(rate) * u128::from(end - start);
        }
        transmitter
    }

    /// Returns the mean rate of the unscaled trace, in integer bit/s.
    fn mean_rate(&self) -> Rate {
        Rate((self.carried_in_period / u128::from(self.period)) as u64)
    }

    /// Returns the bit-nanoseconds of the unscaled trace that are needed to send `frame`: the frame
    /// size times the ratio of the mean rate to the nominal rate, rounded up. Returns `None` if the
    /// nominal rate is zero.
    fn bit_nanos(&self, frame: Bytes) -> Option<u128> {
        let bit_nanos = u128::from(frame.0) * BIT_NANOS_PER_BYTE;
        let Some(nominal) = self.nominal else {
            return Some(bit_nanos);
        };
        if nominal.0 == 0 {
            return None;
        }
        // The product with `carried_in_period` could overflow; ⌈⌈x⌉ / n⌉ = ⌈x / n⌉.
        let period = u128::from(self.period);
        let (mean, rest) = (self.carried_in_period / period, self.carried_in_period % period);
        let times_mean = bit_nanos * mean + (bit_nanos * rest).div_ceil(period);
        Some(times_mean.div_ceil(u128::from(nominal.0)))
    }

    /// Returns the bit-nanoseconds of the trace from the start of the period to `at`.
    fn carried_until(&self, at: u64) -> u128 {
        let segment = self.starts.partition_point(|start| *start <= at) - 1;
        self.carried[segment]
            + u128::from(self.rates[segment]) * u128::from(at - self.starts[segment])
    }

    /// Returns the end of the transmission of `frame` bytes that starts at `now`, rounded up to a
    /// nanosecond.
    fn transfer_end(&self, frame: Bytes, now: Time) -> Time {
        if frame == Bytes::ZERO {
            return now;
        }
        if self.carried_in_period == 0 {
            return Time::NEVER;
        }
        let Some(bit_nanos) = self.bit_nanos(frame) else {
            return Time::NEVER;
        };
        let in_trace = now.as_nanos() + self.offset.nanos;
        let (cycle, at) = (in_trace / self.period, in_trace % self.period);
        let goal = self.carried_until(at) + bit_nanos;
        let whole = goal.saturating_sub(1) / self.carried_in_period;
        let rest = goal - whole * self.carried_in_period;
        let segment = self.carried.partition_point(|carried| *carried < rest) - 1;
        let within = (rest - self.carried[segment]).div_ceil(u128::from(self.rates[segment]));
        let end = (u128::from(cycle) + whole) * u128::from(self.period)
            + u128::from(self.starts[segment])
            + within
            - u128::from(self.offset.nanos);
        Time::from_nanos(u64::try_from(end).unwrap_or(u64::MAX))
    }
}

impl Transmitter for RateTraceTransmitter {
    const HAS_LOSS: bool = true;

    fn begin(&mut self, frame: Bytes, _waiting: usize, now: Time) -> Transmission {
        let ends = self.transfer_end(frame, now);
        Transmission { ends, bytes: frame, loss: self.loss, regime: 0, mcs: None }
    }

    fn nominal_rate(&self) -> Rate {
        self.nominal.unwrap_or_else(|| self.mean_rate())
    }

    /// If `rate` equals the mean rate of the trace, rounded to integer bit/s, the trace is not
    /// scaled.
    fn set_loss(&mut self, loss: f64) {
        self.loss = loss;
    }

    fn set_rate(&mut self, rate: Rate) {
        self.nominal = (rate.0 == 0 || rate != self.mean_rate()).then_some(rate);
    }

    fn counters(&self) -> Vec<(Cow<'static, str>, f64)> {
        self.offset.counters()
    }
}

impl Component<dyn Link + Send, LinkContext> for SerialLink<RateTraceTransmitter> {
    type Config = RateTraceConfig;

    fn check(config: &RateTraceConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("loss", config.loss, 0.0..=1.0);
        config.framing.check(&mut checks);
        check_errors("errors", config.errors.as_ref(), &mut checks);
        check_retransmission(config.harq.as_ref(), config.arq, &mut checks);
        checks.finish()
    }

    fn build(
        config: RateTraceConfig,
        setup: Setup<'_, dyn Link + Send, LinkContext>,
    ) -> Result<Self, ConfigError> {
        let framing = config.framing.framing()?;
        let errors = setup.extra.errors(config.errors.as_ref(), &setup.seed)?;
        let Some(trace) = setup.extra.files.traces.get(&config.trace) else {
            return Err(ConfigError::new("trace", config.trace, "not among the traces given"));
        };
        let Trace::Rate(trace) = &**trace else {
            let problem = "a trace of opportunities. Use a link of kind trace";
            return Err(ConfigError::new("trace", config.trace, problem));
        };
        let period = Duration::from_nanos(trace.period_ns());
        let offset = Offset::of(config.offset, period, &setup.seed);
        let transmitter =
            RateTraceTransmitter { offset, ..RateTraceTransmitter::new(trace, config.loss) };
        let (harq, files) = (config.harq.as_ref(), &setup.extra.files);
        let retransmission =
            RetransmissionStage::new(harq, config.arq, config.in_order, files, &setup.seed)?;
        let link = SerialLink::new(transmitter, framing, errors, setup.extra, &setup.seed)?;
        Ok(link.with_retransmission(retransmission))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_trace::Segment;
    use proptest::prelude::*;

    fn transmitter(rates: &[u64], step_ns: u64) -> RateTraceTransmitter {
        let segments = rates
            .iter()
            .zip(0..)
            .map(|(rate, i)| Segment { start_ns: i * step_ns, rate_bps: *rate as f64 })
            .collect();
        let trace = RateTrace::new(segments, rates.len() as u64 * step_ns).expect("a valid trace");
        RateTraceTransmitter::new(&trace, 0.0)
    }

    #[test]
    fn transmission_continues_after_outage() {
        let link = transmitter(&[8_000, 0, 16_000], 1_000_000_000);
        let end = |bytes, ms| link.transfer_end(Bytes(bytes), Time::from_millis(ms));
        assert_eq!(end(500, 0), Time::from_millis(500));
        assert_eq!(end(1000, 0), Time::from_millis(1000));
        assert_eq!(end(1001, 0), Time::from_nanos(2_000_500_000));
        assert_eq!(end(1000, 500), Time::from_millis(2250));
        assert_eq!(end(3000, 0), Time::from_millis(3000));
        assert_eq!(end(30_500, 0), Time::from_millis(30_500));
    }

    /// The mean is 8 kbit/s; the middle third is an outage.
    #[test]
    fn rates_scale_in_proportion_to_mean() {
        let mut link = transmitter(&[8_000, 0, 16_000], 1_000_000_000);
        assert_eq!(link.nominal_rate(), Rate(8_000));
        let mut end = |nominal, bytes, ms| {
            link.set_rate(Rate(nominal));
            assert_eq!(link.nominal_rate(), Rate(nominal));
            link.transfer_end(Bytes(bytes), Time::from_millis(ms))
        };
        assert_eq!(end(2_000, 125, 0), Time::from_millis(500));
        assert_eq!(end(2_000, 250, 500), Time::from_millis(2250));
        assert_eq!(end(16_000, 4_000, 0), Time::from_millis(2500));
        assert_eq!(end(16_000, 61_000, 0), Time::from_millis(30_500));
        assert!(end(0, 1, 0).is_never());
        assert_eq!(end(0, 0, 7), Time::from_millis(7));
        assert_eq!(end(8_000, 1001, 0), Time::from_nanos(2_000_500_000));
    }

    /// A mean of ⅔ bit/s is rounded to a nominal rate of 0. Setting rate 0 still stops the link,
    /// and a positive rate restarts it.
    #[test]
    fn trace_with_mean_below_1_bps_is_scaled() {
        let mut link = transmitter(&[0, 2, 0], 1_000_000_000);
        assert_eq!(link.nominal_rate(), Rate(0));
        let end = |link: &RateTraceTransmitter| link.transfer_end(Bytes(1), Time::ZERO);
        // The trace carries 2 bits per period of 3 s, so the last bits are sent in the fourth
        // period.
        assert_eq!(end(&link), Time::from_secs(11));
        link.set_rate(Rate(0));
        assert!(end(&link).is_never());
        // All rates are six times the rates of the trace: 12 bit/s in the middle third.
        link.set_rate(Rate(4));
        assert_eq!(end(&link), Time::from_nanos(1_666_666_667));
    }

    #[test]
    fn extreme_rates_and_traces_do_not_overflow() {
        let longest = 1_000_000_000_000_000;
        let mut fast = transmitter(&[1_000_000_000_000_000], longest);
        let frame = Bytes(131_070);
        let end = |link: &RateTraceTransmitter| link.transfer_end(frame, Time::ZERO);
        fast.set_rate(Rate(1));
        assert_eq!(end(&fast), Time::from_secs(8 * frame.0));
        fast.set_rate(Rate(u64::MAX));
        assert_eq!(end(&fast), Time::from_nanos(1));
        let mut slow = transmitter(&[1], longest);
        slow.set_rate(Rate(u64::MAX));
        assert_eq!(end(&slow), Time::from_nanos(1));
    }

    proptest! {
        /// The link carries exactly the nominal rate on average: sending the bytes of one period
        /// takes one period, regardless of the start. At twice the nominal rate the link carries
        /// twice the bytes.
        #[test]
        fn period_carries_nominal_rate(
            rates in prop::collection::vec(0u64..20, 1..6).prop_filter("not all zero", |rates| {
                rates.iter().any(|rate| *rate > 0)
            }),
            nominal in 1u64..1_000,
            rounds in 1u64..20,
            start in 0u64..1_000_000_000_000,
        ) {
            let mut link = transmitter(&rates, 8_000_000_000);
            link.set_rate(Rate(nominal));
            prop_assume!(link.nominal.is_some());
            let span = 8 * rates.len() as u64 * rounds;
            let (frame, start) = (Bytes(nominal * span / 8), Time::from_nanos(start));
            let end = link.transfer_end(frame, start);
            // The last bit is carried at the end of the period, or earlier at the start of an
            // outage.
            prop_assert!(end <= start + Duration::from_secs(span), "{end:?}");
            let more = link.transfer_end(frame + Bytes(1), start);
            prop_assert!(more > start + Duration::from_secs(span), "{more:?}");
            link.set_rate(Rate(2 * nominal));
            // A mean of 8⅓ bit/s has the nominal rate 8; setting the rate to 8 leaves the trace
            // unscaled.
            prop_assume!(link.nominal.is_some());
            prop_assert_eq!(link.transfer_end(frame + frame, start), end);
        }

        /// A transmission with an offset takes as long as a transmission without an offset that
        /// starts later by the offset.
        #[test]
        fn offset_equals_later_start(
            rates in prop::collection::vec(0u64..20, 1..6).prop_filter("not all zero", |rates| {
                rates.iter().any(|rate| *rate > 0)
            }),
            offset in 0u64..48_000_000_000,
            bytes in 1u64..40,
            start in 0u64..100_000_000_000,
        ) {
            let plain = transmitter(&rates, 8_000_000_000);
            let offset = offset % plain.period;
            let moved = RateTraceTransmitter { offset: Offset::at(offset), ..plain.clone() };
            let later = plain.transfer_end(Bytes(bytes), Time::from_nanos(start + offset));
            let ends = moved.transfer_end(Bytes(bytes), Time::from_nanos(start));
            prop_assert_eq!(ends.as_nanos() + offset, later.as_nanos());
        }

        #[test]
        fn transfer_end_matches_iteration_over_segments(
            rates in prop::collection::vec(0u64..20, 1..6).prop_filter("not all zero", |rates| {
                rates.iter().any(|rate| *rate > 0)
            }),
            bytes in 1u64..40,
            start in 0u64..20,
        ) {
            // A segment lasts 8 s, so a segment with a rate of r bit/s carries r bytes. The
            // reference computation iterates over complete segments and divides in the last
            // segment.
            let link = transmitter(&rates, 8_000_000_000);
            let mut left = bytes;
            let mut index = start;
            let end = loop {
                let rate = rates[index as usize % rates.len()];
                if rate >= left {
                    let into = Bytes(left) / Rate(rate);
                    break Time::from_secs(8 * index) + into;
                }
                left -= rate;
                index += 1;
            };
            let computed = link.transfer_end(Bytes(bytes), Time::from_secs(8 * start));
            prop_assert!(computed.saturating_since(end) <= Duration::from_nanos(1), "{computed:?} {end:?}");
            prop_assert!(end.saturating_since(computed) <= Duration::from_nanos(1), "{computed:?} {end:?}");
        }
    }
}
