//! Adaptive modulation and coding: each station has an SNR process. A policy selects the MCS from
//! the fed-back SNR. The error-rate table determines the probability that an attempt fails at the
//! SNR of its frame.
//!
//! Source: wimax-2009 §5.1 (adaptive modulation and coding by the SINR, from two lists). The
//! channel is reciprocal, as usual for a TDD link: the uplink SNR equals the downlink SNR plus an
//! offset in dB, which represents different powers, noise and bandwidth. The SNR is sampled at the
//! start of the frame and is constant during the frame.
//!
//! ```text
//! estimate in frame f   SNR of frame f − feedback          MCS: selected by the policy for the estimate
//! an attempt fails with F_n/F_{n-1},  F_n = per(combined attempts), see `harq/attempt_errors.rs`
//! ```
//!
//! Not modelled: feedback errors; interference between users, except as a part of the SNR.

use super::slots::SlotSize;
use crate::context::LinkContext;
use crate::retransmission::harq::Combining;
use airpath_core::{Bytes, Checks, ConfigError, Duration, Seed, StageError, Stream};
use airpath_phy::adaptation::{AnyPolicy, Chooser, PolicyRegistry};
use airpath_phy::mcs::{McsSet, SlotMcs};
use airpath_phy::per_table::PerTable;
use airpath_phy::shannon::from_db;
use airpath_phy::snr::{AnySnr, SlottedSnr};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// MCS lists of both directions.
pub(super) const SETS: [McsSet; 2] = [McsSet::DOWNLINK_802_16E, McsSet::UPLINK_802_16E];

/// Largest absolute value of an SNR, dB.
const LARGEST_LEVEL_DB: f64 = 200.0;
/// Longest feedback delay, frames.
const LONGEST_FEEDBACK: u64 = 1_000_000;

/// Configuration set by the user.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RadioConfig {
    /// Key of the error-rate table, with a curve for each modulation and code rate of the lists.
    pub table: String,
    /// SNR process of the downlink: `{"kind": …}`. Every station has a separate process with its
    /// own random stream.
    pub snr: Value,
    /// Uplink SNR relative to the downlink, dB, -200 to 200.
    #[serde(default)]
    pub uplink_db: f64,
    /// Policy that selects the MCS of both directions: `{"kind": …}`. The policy must have one
    /// regime.
    pub policy: Value,
    /// Feedback delay: age of the SNR from which an MCS is selected, frames. At most a million.
    #[serde(default)]
    pub feedback_frames: u64,
    /// Combining of several attempts at the receiver.
    #[serde(default)]
    pub combining: Combining,
}

impl RadioConfig {
    /// Rejects values outside their ranges.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("uplink_db", self.uplink_db, -LARGEST_LEVEL_DB..=LARGEST_LEVEL_DB);
        checks.within("feedback_frames", self.feedback_frames, 0..=LONGEST_FEEDBACK);
        checks.nested("snr", AnySnr::check(&self.snr));
        checks.nested("policy", AnyPolicy::check(&self.policy));
        checks.finish()
    }
}

/// Packet size for which policies compute packet error rates. It is the largest packet size on most
/// paths, and the default of an adaptive link.
const REFERENCE: Bytes = Bytes(1500);

/// Inputs of the construction of a radio from its link.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) stations: u32,
    pub(super) frame: Duration,
    /// Slots for data in a frame, by direction.
    pub(super) slots: [u64; 2],
    pub(super) slot_symbols: u64,
}

/// Radio channel of a station.
struct Channel {
    /// SNR process, sampled at the times of the fed-back SNR. `met` contains a copy of the process
    /// for each direction, sampled at the times of transmission.
    fed_back: SlottedSnr,
    met: [SlottedSnr; 2],
    /// Offset of the SNR that control events set, dB.
    moved_db: f64,
    /// Last SNR estimate in dB and the MCS selected for it, by direction.
    chosen: [(f64, u8); 2],
}

/// Radio channels of all stations.
pub(super) struct Radio {
    tables: [Arc<PerTable>; 2],
    choosers: [Chooser; 2],
    failure: Option<StageError>,
    /// Capacity of a slot with each MCS at the nominal rate, by direction.
    given: [Vec<SlotSize>; 2],
    /// Capacity at the current rate.
    sizes: [Vec<SlotSize>; 2],
    uplink_db: f64,
    feedback: u64,
    combining: Combining,
    draws: [Stream; 2],
    channels: Vec<Channel>,
    /// Number of MPDUs by MCS since the start of measurement.
    counts: [Vec<u64>; 2],
}

impl Radio {
    pub(super) fn new(
        config: &RadioConfig,
        users: &[super::StationConfig],
        cell: Cell,
        (context, seed): (&LinkContext, &Seed),
    ) -> Result<Radio, ConfigError> {
        let channel = |number: u32| {
            let own = users.iter().enumerate().find(|(_, entry)| entry.user == number);
            let own = own.and_then(|(place, entry)| Some((place, entry.snr.as_ref()?)));
            let (place, snr) = own.map_or((None, &config.snr), |(place, snr)| (Some(place), snr));
            let of_station = seed.child(&format!("station {number}"));
            let made = || {
                context.slotted_snr(snr, cell.frame, &of_station, seed).map_err(|error| match place
                {
                    Some(place) => error.under(&format!("users.{place}")),
                    None => error.under("radio"),
                })
            };
            let (fed_back, met) = (made()?, [made()?, made()?]);
            Ok(Channel { fed_back, met, moved_db: 0.0, chosen: [(f64::NAN, 0); 2] })
        };
        let channels = (0..cell.stations).map(channel).collect::<Result<_, ConfigError>>()?;
        Radio::of(config, channels, cell, (context, seed)).map_err(|error| error.under("radio"))
    }

    fn of(
        config: &RadioConfig,
        channels: Vec<Channel>,
        cell: Cell,
        (context, seed): (&LinkContext, &Seed),
    ) -> Result<Radio, ConfigError> {
        let measured = context.files.table(&config.table)?;
        let table = |side: usize| {
            let symbols = (cell.slots[side] * cell.slot_symbols) as f64;
            Ok(Arc::new(SETS[side].table(&measured, symbols / cell.frame.as_secs_lossy())?))
        };
        let tables = [table(0)?, table(1)?];
        let chooser = |side: usize| {
            let policies = context.registries.get::<PolicyRegistry>();
            let setup = (seed.child("policy"), &policies);
            let table = Arc::clone(&tables[side]);
            let chooser = Chooser::new(&config.policy, table, REFERENCE, setup)
                .map_err(|error| error.under("policy"))?;
            if chooser.regimes() > 1 {
                let kind = config.policy["kind"].as_str().unwrap_or_default();
                let problem = "chooses by the queue, and a burst is for several packets";
                return Err(ConfigError::new("policy.kind", kind, problem));
            }
            Ok(chooser)
        };
        let choosers = [chooser(0)?, chooser(1)?];
        let given = SETS.map(|set| {
            let size = |mcs: &SlotMcs| SlotSize::new(*mcs, cell.slot_symbols);
            set.schemes.iter().map(size).collect::<Vec<_>>()
        });
        Ok(Radio {
            tables,
            choosers,
            failure: None,
            sizes: given.clone(),
            uplink_db: config.uplink_db,
            feedback: config.feedback_frames,
            combining: config.combining,
            draws: ["down", "up"].map(|side| seed.child(side).stream()),
            channels,
            counts: [vec![0; given[0].len()], vec![0; given[1].len()]],
            given,
        })
    }

    /// Scales the capacity of all slots by `rate` / `nominal`.
    pub(super) fn scale(&mut self, rate: u64, nominal: u64) {
        for (sizes, given) in self.sizes.iter_mut().zip(&self.given) {
            for (size, given) in sizes.iter_mut().zip(given) {
                *size = given.scaled(rate, nominal);
            }
        }
    }

    /// Returns the capacity of a slot with the most robust MCS.
    pub(super) fn least(&self, side: usize) -> SlotSize {
        self.sizes[side][0]
    }

    /// Returns the capacity of a slot with the fastest MCS.
    pub(super) fn most(&self, side: usize) -> SlotSize {
        self.sizes[side][self.sizes[side].len() - 1]
    }

    /// Shifts the mean SNR of a station by `moved_db` relative to its configuration, dB.
    pub(super) fn move_by(&mut self, number: usize, moved_db: f64) {
        self.channels[number].moved_db = moved_db;
    }

    /// Returns the MCS of a station in `frame`, and the capacity of a slot with this MCS. Frame
    /// numbers must not decrease.
    pub(super) fn choose(&mut self, side: usize, number: usize, frame: u64) -> (u8, SlotSize) {
        let uplink_db = if side == 0 { 0.0 } else { self.uplink_db };
        let channel = &mut self.channels[number];
        let snr = channel.fed_back.at(frame.saturating_sub(self.feedback));
        let estimate_db = 10.0 * libm::log10(snr) + channel.moved_db + uplink_db;
        let (known_db, mut scheme) = channel.chosen[side];
        if known_db != estimate_db {
            let mut chosen = [0];
            match self.choosers[side].choose(estimate_db, &mut chosen) {
                Ok(()) => scheme = chosen[0] as u8,
                Err(error) => self.failure = Some(error),
            }
            channel.chosen[side] = (estimate_db, scheme);
        }
        (scheme, self.sizes[side][usize::from(scheme)])
    }

    /// Returns an error of the policy that has occurred since the last call.
    pub(super) fn take_error(&mut self) -> Option<StageError> {
        self.failure.take()
    }

    /// Counts an MPDU that is sent with `scheme`.
    #[inline]
    pub(super) fn count(&mut self, side: usize, scheme: u8) {
        self.counts[side][usize::from(scheme)] += 1;
    }

    /// Adds the SNR of an attempt in `frame` to the combined SNR of the MPDU. Returns true if the
    /// attempt fails. The frame numbers of a station must not decrease.
    pub(super) fn corrupts(&mut self, side: usize, frame: u64, mpdu: &mut super::Mpdu) -> bool {
        let uplink_db = if side == 0 { 0.0 } else { self.uplink_db };
        let channel = &mut self.channels[mpdu.station as usize];
        let snr = channel.met[side].at(frame) * from_db(channel.moved_db + uplink_db);
        let before = f64::from(mpdu.combined);
        let combined = match self.combining {
            Combining::None => snr,
            Combining::Chase => before + snr,
            Combining::Incremental => before + snr + before * snr,
        };
        let curve = &self.tables[side].curves[usize::from(mpdu.scheme)];
        let undecoded = |snr: f64| {
            let level_db = (10.0 * libm::log10(snr)).clamp(-1e3, LARGEST_LEVEL_DB);
            curve.per(level_db, Bytes(mpdu.bytes))
        };
        let is_first = before == 0.0 || self.combining == Combining::None;
        let earlier = if is_first { 1.0 } else { undecoded(before) };
        let now = undecoded(combined);
        mpdu.combined = combined as f32;
        let fails = if earlier > 0.0 { (now / earlier).min(1.0) } else { 0.0 };
        fails > 0.0 && self.draws[side].bernoulli(fails)
    }

    /// Returns the name of each MCS and the number of MPDUs sent with it.
    pub(super) fn counts(&self, side: usize) -> impl Iterator<Item = (&'static str, u64)> {
        SETS[side].names().zip(self.counts[side].iter().copied())
    }

    pub(super) fn restart_measurement(&mut self) {
        self.counts.iter_mut().for_each(|counts| counts.fill(0));
    }
}
