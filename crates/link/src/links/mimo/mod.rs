//! MIMO fading link: an SNR with two states, a modulation constellation, several antennas, and a
//! Reed-Solomon code for packets.
//!
//! ```text
//! SNR, antennas, fading ──▶ symbol error rates ε_G, ε_B ──▶ outcome of a packet, state at its end
//! ```
//!
//! ε_G and ε_B are the symbol error rates in the good and in the bad state. The rate of the link
//! includes parity, data and ACKs. For each packet, the outcome and the state at the end of the
//! packet are sampled from their joint distribution, given the state at the start. After the time
//! between two packets, the state is sampled with the n-step transition probabilities. n is the
//! number of modulation symbols in this time, at the rate of the next packet. Both distributions
//! are exact, even if a state lasts longer than a packet.
//!
//! Source: vcp-2008 §II. The distribution of packet outcomes is in `phy/bit_errors.rs`, the code in
//! `phy/code/reed_solomon.rs`. Not modelled: channel estimation, adaptation of the code, changes of
//! the mean SNRs during a run.
//!
//! | file | what |
//! | --- | --- |
//! | `settings.rs` | configuration, and the packet outcomes that follow from it |
//! | `outcomes.rs` | cache of packet outcomes, shared by the links of a scenario |

mod outcomes;
mod settings;
#[cfg(test)]
mod tests;

pub use outcomes::Outcomes;
pub use settings::{FadingKind, FecConfig, MimoChannel, MimoConfig, SmallConfig};

use crate::context::{LinkContext, check_errors};
use crate::link::Link;
use crate::links::serial::{SerialLink, Transmission, Transmitter};
use airpath_core::{
    Bytes, Checks, Component, ConfigError, Duration, Framing, Rate, Seed, Setup, Stream, Time,
    at_least,
};
use airpath_phy::bit_errors::Outcome;
use airpath_phy::errors::TwoStates;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Default largest size of a small packet.
const SMALL_UP_TO: Bytes = Bytes(128);

/// Influence of the initial state of a chain after [`Mimo::forgotten`] symbols. It is below the
/// resolution of a random number.
const FORGOTTEN: f64 = 1e-18;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Precomputed values for packets of one size.
#[derive(Clone, Copy, Debug)]
struct Size {
    packet: Bytes,
    on_air: Bytes,
    /// Transmission time at the current rate.
    time: Duration,
    /// Cumulative probabilities, by the state at the start of the packet: P(lost and good at the
    /// end), P(lost), P(lost, or good at the end).
    below: [[f64; 3]; 2],
}

/// Number of sent packets, and number of failed packets among them.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    packets: u64,
    failed: u64,
}

/// Transmitter with a constant rate over a channel with two states.
pub struct Mimo {
    rate: Rate,
    channel: MimoChannel,
    framing: Framing,
    states: TwoStates,
    /// Number of modulation symbols after which the state is independent of the initial state.
    forgotten: u64,
    shared: Arc<Outcomes>,
    known: BTreeMap<u64, Size>,
    /// Values for the last small and the last large packet size. The next packet often has one of
    /// these sizes.
    last: [Size; 2],
    small_up_to: Bytes,
    is_bad: bool,
    /// End of the last transmission.
    free_since: Time,
    stream: Stream,
    counts: [Count; 2],
}

impl Mimo {
    /// Creates a transmitter with the rate `rate` and the channel `channel`. `seed` is the seed of
    /// the link.
    pub fn new(rate: Rate, channel: MimoChannel, shared: Arc<Outcomes>, seed: &Seed) -> Mimo {
        let mut stream = seed.child("chain").stream();
        let states = channel.states();
        let nothing = Size {
            packet: Bytes::ZERO,
            on_air: Bytes::ZERO,
            time: Duration::ZERO,
            below: thresholds(&Outcome::NOTHING),
        };
        Mimo {
            rate,
            framing: channel.framing(),
            states,
            forgotten: forgotten(states),
            shared,
            known: BTreeMap::new(),
            last: [nothing; 2],
            small_up_to: channel.small_up_to().unwrap_or(SMALL_UP_TO),
            is_bad: stream.bernoulli(states.share_bad()),
            free_since: Time::ZERO,
            stream,
            counts: [Count::default(); 2],
            channel,
        }
    }

    /// Returns the precomputed values for packets of this size.
    #[cold]
    fn look_up(&mut self, packet: Bytes) -> Size {
        if let Some(size) = self.known.get(&packet.0) {
            return *size;
        }
        let on_air = self.framing.on_air(packet);
        let outcome = self.shared.of(&self.channel, packet);
        let size = Size { packet, on_air, time: on_air / self.rate, below: thresholds(&outcome) };
        self.known.insert(packet.0, size);
        size
    }

    /// Samples the state after the idle time until `now`.
    #[inline(never)]
    fn pass_idle_time(&mut self, now: Time) {
        let idle = u128::from(now.saturating_since(self.free_since).as_nanos());
        let units =
            idle * u128::from(self.rate.0) / (u128::from(self.channel.bits()) * NANOS_PER_SECOND);
        let bad = match u64::try_from(units) {
            Ok(units) if units < self.forgotten => self.states.bad_after(units, self.is_bad),
            _ => self.states.share_bad(),
        };
        self.is_bad = self.stream.bernoulli(bad);
    }
}

impl Transmitter for Mimo {
    #[inline]
    fn begin(&mut self, packet: Bytes, _waiting: usize, now: Time) -> Transmission {
        let class = usize::from(packet > self.small_up_to);
        if self.last[class].packet != packet {
            self.last[class] = self.look_up(packet);
        }
        let Size { on_air, time, .. } = self.last[class];
        let ends = now + time;
        if ends.is_never() {
            return Transmission { ends, bytes: on_air, loss: 0.0, regime: 0, mcs: None };
        }
        if now > self.free_since {
            self.pass_idle_time(now);
        }
        self.free_since = ends;
        let [lost_and_good, lost, lost_or_good] = self.last[class].below[usize::from(self.is_bad)];
        let drawn = self.stream.uniform();
        let is_lost = drawn < lost;
        self.is_bad = drawn >= lost_or_good || (is_lost && drawn >= lost_and_good);
        self.counts[class].packets += 1;
        self.counts[class].failed += u64::from(is_lost);
        let loss = f64::from(u8::from(is_lost));
        Transmission { ends, bytes: on_air, loss, regime: 0, mcs: None }
    }

    fn nominal_rate(&self) -> Rate {
        self.rate
    }

    fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        for size in self.known.values_mut().chain(&mut self.last) {
            size.time = size.on_air / rate;
        }
    }

    fn framing(&self, _given: Framing) -> Framing {
        self.framing
    }

    fn restart_measurement(&mut self) {
        self.counts = [Count::default(); 2];
    }

    fn counters(&self) -> Vec<(Cow<'static, str>, f64)> {
        let [small, large] = self.counts;
        let named = [
            ("large_packets", large.packets),
            ("large_failed", large.failed),
            ("small_packets", small.packets),
            ("small_failed", small.failed),
        ];
        named.map(|(name, count)| (name.into(), count as f64)).to_vec()
    }
}

/// Returns, for each state at the start, the thresholds at which a random number from [0, 1)
/// selects another outcome. Rare outcomes have intervals close to 0, where the resolution of
/// floating-point numbers is high. Rounding never makes an impossible outcome possible.
fn thresholds(outcome: &Outcome) -> [[f64; 3]; 2] {
    [0, 1].map(|from| {
        let ([lost_and_good, lost_and_bad], [good, bad]) =
            (outcome.failed[from], outcome.delivered[from]);
        let lost = lost_and_good + lost_and_bad;
        let total = lost + good + bad;
        [lost_and_good / total, lost / total, 1.0 - bad / total]
    })
}

/// Returns the number of steps, at least 1, after which a chain is independent of its initial
/// state.
fn forgotten(states: TwoStates) -> u64 {
    let leaving = states.good_to_bad + states.bad_to_good;
    let log = if leaving < 1.0 { libm::log1p(-leaving) } else { libm::log(leaving - 1.0) };
    if log < 0.0 { libm::ceil(libm::log(FORGOTTEN) / log).max(1.0) as u64 } else { u64::MAX }
}

impl Component<dyn Link + Send, LinkContext> for SerialLink<Mimo> {
    type Config = MimoConfig;

    fn check(config: &MimoConfig) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("rate_bps", config.rate_bps, at_least(1_u64));
        checks.nested("", config.channel());
        check_errors("errors", config.errors.as_ref(), &mut checks);
        checks.finish()
    }

    fn build(
        config: MimoConfig,
        setup: Setup<'_, dyn Link + Send, LinkContext>,
    ) -> Result<Self, ConfigError> {
        let channel = config.channel()?;
        let errors = setup.extra.errors(config.errors.as_ref(), &setup.seed)?;
        let shared = setup.extra.files.shared.get();
        let transmitter = Mimo::new(Rate(config.rate_bps), channel, shared, &setup.seed);
        SerialLink::new(transmitter, Framing::default(), errors, setup.extra, &setup.seed)
    }
}
