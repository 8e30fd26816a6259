//! MIMO fading link: two states of the SNR, a constellation, antennas, and a code of packets.
//!
//! ```text
//! SNR, antennas, fading ──▶ ε_G, ε_B ──▶ chain of symbols ──▶ outcome of a packet, state at its end
//! ```
//!
//! The rate is that of the air: parity, data and ACKs alike. Outcome and state at the end of a
//! packet are one draw from their joint distribution, given the state at its start; the time
//! between packets is another by the n-step transition probabilities, in modulation symbols at the
//! rate of the next packet. Both are exact, also where a run of a state outlasts packets.
//!
//! Source: vcp-2008 §II; the law of packets: `phy/bit_errors.rs`, codes:
//! `phy/code/reed_solomon.rs`.
//! Left out: estimates of the channel, adaptation of the code, changes of the SNR within a run.
//!
//! | file | what |
//! | --- | --- |
//! | `settings.rs` | what the user sets; what it makes of packets |
//! | `outcomes.rs` | the laws of sizes that were met, shared by a scenario's links |

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

/// Largest packet that counts as small on a link that does not say.
const SMALL_UP_TO: Bytes = Bytes(128);

/// The memory of a chain is less than this after [`Mimo::forgotten`] symbols: no draw can resolve
/// it.
const FORGOTTEN: f64 = 1e-18;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Precomputed values for packets of one size.
#[derive(Clone, Copy, Debug)]
struct Size {
    packet: Bytes,
    on_air: Bytes,
    /// Transmission time at the current rate.
    time: Duration,
    /// Of the state at the start: P(lost, then good), P(lost), P(lost or good at the end).
    below: [[f64; 3]; 2],
}

/// Packets that were sent, and how many of them failed.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    packets: u64,
    failed: u64,
}

/// Sends at a constant rate over a channel of two states.
pub struct Mimo {
    rate: Rate,
    channel: MimoChannel,
    framing: Framing,
    states: TwoStates,
    /// Modulation symbols after which the state is anything.
    forgotten: u64,
    shared: Arc<Outcomes>,
    known: BTreeMap<u64, Size>,
    /// The last small and the last large packet: the next is mostly as large.
    last: [Size; 2],
    small_up_to: Bytes,
    is_bad: bool,
    /// When the last transmission ended.
    free_since: Time,
    stream: Stream,
    counts: [Count; 2],
}

impl Mimo {
    /// A transmitter of the link of `seed` at `rate` over `channel`.
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

    /// Finds what is known of packets of this size.
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

    /// The state after the time without packets until `now`.
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

/// The bounds of a draw from [0, 1) at which the outcome changes, by the state at the start. Rare
/// outcomes lie near 0, where numbers are dense; impossible ones are never drawn, despite rounding.
fn thresholds(outcome: &Outcome) -> [[f64; 3]; 2] {
    [0, 1].map(|from| {
        let ([lost_and_good, lost_and_bad], [good, bad]) =
            (outcome.failed[from], outcome.delivered[from]);
        let lost = lost_and_good + lost_and_bad;
        let total = lost + good + bad;
        [lost_and_good / total, lost / total, 1.0 - bad / total]
    })
}

/// Number of steps, at least 1, after which a chain has forgotten its state.
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
