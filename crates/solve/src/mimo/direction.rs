//! Computes failure probabilities, SNR thresholds and code rates of one direction.

use super::{ACK_LOSS_THAT_MATTERS, Sizes};
use airpath_core::Bytes;
use airpath_link::mimo::FecConfig;
use airpath_link::{MimoChannel, MimoConfig};
use airpath_phy::symbol_error::Constellation;
use serde::Serialize;
use std::collections::BTreeMap;

/// A warning is given if the failure probability after a failed packet exceeds twice the failure
/// probability of all packets by more than this value.
const RUN_THAT_MATTERS: f64 = 0.05;

/// Failure probabilities for which the required SNR is reported.
const FAILURES: [f64; 3] = [0.5, 0.1, 0.01];

/// Search range of the SNR thresholds, dB, and number of bisection steps.
const SNRS_DB: (f64, f64) = (-60.0, 200.0);
const HALVES: u32 = 24;

/// Search grid of the code rate: number of coarse steps in [0, 1], and number of fine steps per
/// coarse step. Fine steps are used around the best coarse step.
const RATES: (u32, u32) = (100, 10);

/// If the largest efficiency is below this value, no code rate is reported.
const NOTHING: f64 = 1e-9;

/// Results of one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MimoDirection {
    /// ε_G: share of modulation symbols in error in the good state.
    pub error_good: f64,
    /// ε_B: share of modulation symbols in error in the bad state.
    pub error_bad: f64,
    /// Rate of IP packets of the largest size that the radio channel carries, bit/s.
    pub capacity_bps: f64,
    /// Results by packet size.
    pub packets: Vec<MimoPacket>,
}

/// Results for packets of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MimoPacket {
    /// `segment` (full-sized) or `ack`.
    pub kind: &'static str,
    /// Size of the IP packet, bytes.
    pub bytes: u64,
    /// Size on the air with parity, bytes.
    pub on_air_bytes: u64,
    /// Failure probability of a packet, in [0, 1].
    pub failure: f64,
    /// Failure probability of a packet after a failed packet; `None` if no packet fails.
    pub failure_next: Option<f64>,
    /// SNR_G, dB, at which a packet fails with probability 0.5, 0.1 and 0.01. Maps the probability
    /// as text to the SNR; `None` if there is no such SNR between −60 and 200 dB.
    pub snr_db: BTreeMap<String, Option<f64>>,
    /// Code rate with the largest efficiency (k/b) (1 − failure) at this SNR; `None` if no packet
    /// arrives with any code rate.
    pub best_code_rate: Option<f64>,
    /// Efficiency (k/b) (1 − failure) with this code rate.
    pub best_efficiency: f64,
}

/// Returns the rate of IP packets of one size that the radio channel carries, bit/s.
pub(super) fn capacity_bps(config: &MimoConfig, channel: &MimoChannel, packet: Bytes) -> f64 {
    let on_air = channel.framing().on_air(packet);
    config.rate_bps as f64 * packet.0 as f64 / on_air.0.max(1) as f64
}

/// Computes the results for packets of these sizes over a valid link.
pub(super) fn direction(config: &MimoConfig, sizes: &Sizes) -> MimoDirection {
    let channel = config.channel().expect("it was made before");
    let [error_good, error_bad] = channel.symbol_errors();
    let largest = sizes.iter().map(|(_, bytes)| *bytes).max().unwrap_or(1);
    MimoDirection {
        error_good,
        error_bad,
        capacity_bps: capacity_bps(config, &channel, Bytes(largest)),
        packets: sizes.iter().map(|size| packet(config, &channel, *size)).collect(),
    }
}

fn packet(config: &MimoConfig, channel: &MimoChannel, (is_ack, bytes): (bool, u64)) -> MimoPacket {
    let packet = Bytes(bytes);
    let best = best_code(config, packet);
    MimoPacket {
        kind: if is_ack { "ack" } else { "segment" },
        bytes,
        on_air_bytes: channel.framing().on_air(packet).0,
        failure: channel.failure(packet),
        failure_next: channel.failure_after_failure(packet),
        snr_db: FAILURES
            .iter()
            .map(|failure| (failure.to_string(), snr_of(config, packet, *failure)))
            .collect(),
        best_code_rate: best.map(|(rate, _)| rate),
        best_efficiency: best.map_or(0.0, |(_, efficiency)| efficiency),
    }
}

impl MimoPacket {
    /// Returns a warning if many ACKs are lost, which the fixed point neglects.
    pub(super) fn warning_of_acks(&self) -> Option<String> {
        let text = || {
            format!(
                "{:.1} % of the ACKs of {} B are lost, which the fixed point does without: \
                 expect less \
                 throughput; simulate",
                100.0 * self.failure,
                self.bytes
            )
        };
        (self.kind == "ack" && self.failure > ACK_LOSS_THAT_MATTERS).then(text)
    }
}

impl MimoPacket {
    /// Returns a warning if losses are correlated, because the fixed point assumes independent
    /// losses.
    pub(super) fn warning_of_runs(&self) -> Option<String> {
        let next = self.failure_next.filter(|_| self.kind == "segment")?;
        let text = || {
            format!(
                "after a lost packet of {} B the next is lost in {:.0} % of the cases, {:.2} % \
                 of all are: \
                 the fixed point takes losses as independent; simulate",
                self.bytes,
                100.0 * next,
                100.0 * self.failure,
            )
        };
        (next > 2.0 * self.failure + RUN_THAT_MATTERS).then(text)
    }
}

/// Returns the failure probability with other settings; 1 for invalid settings.
fn failure_with(config: &MimoConfig, packet: Bytes) -> f64 {
    config.channel().map_or(1.0, |channel| channel.failure(packet))
}

/// Returns the SNR in the good state at which a packet fails with probability `failure`. Uses
/// bisection, because the failure probability decreases with the SNR.
fn snr_of(config: &MimoConfig, packet: Bytes, failure: f64) -> Option<f64> {
    let at = |snr_db| failure_with(&MimoConfig { snr_db, ..config.clone() }, packet);
    let (mut low, mut high) = SNRS_DB;
    if at(low) < failure || at(high) > failure {
        return None;
    }
    for _ in 0..HALVES {
        let middle = low.midpoint(high);
        if at(middle) > failure {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low.midpoint(high))
}

/// Returns the code rate with the largest efficiency (k/b) (1 − failure), to three digits, and this
/// efficiency. Without a code in `config`, the code has symbols of about a byte.
fn best_code(config: &MimoConfig, packet: Bytes) -> Option<(f64, f64)> {
    let efficiency = |code_rate: f64| {
        let config = coded_at(config, code_rate);
        let channel = config.channel().ok()?;
        let delivered = 1.0 - channel.failure(packet);
        Some(packet.0 as f64 / channel.framing().on_air(packet).0 as f64 * delivered)
    };
    let mut best = (1.0, 0.0);
    let mut compare = |code_rate: f64| {
        // The efficiency cannot exceed the code rate, so lower code rates need not be evaluated.
        let found = if code_rate > best.1 { efficiency(code_rate).unwrap_or(0.0) } else { 0.0 };
        if found > best.1 {
            best = (code_rate, found);
        }
        best.0
    };
    let (coarse, fine) = RATES;
    let rate = |steps: u32, all: u32| f64::from(steps) / f64::from(all);
    let mut around = 1.0;
    for step in (1..=coarse).rev() {
        around = compare(rate(step, coarse));
    }
    let middle = (around * f64::from(coarse * fine)).round() as u32;
    for step in (middle.saturating_sub(fine).max(1)..=middle + fine).rev() {
        if step <= coarse * fine {
            compare(rate(step, coarse * fine));
        }
    }
    (best.1 > NOTHING).then_some(best)
}

/// Returns the link with this code rate for all packets.
fn coded_at(config: &MimoConfig, code_rate: f64) -> MimoConfig {
    let (symbol_bits, max_block) = match config.fec {
        Some(FecConfig::ReedSolomon { symbol_bits, max_block, .. }) => (symbol_bits, max_block),
        None => (about_a_byte(&config.modulation), None),
    };
    let fec = Some(FecConfig::ReedSolomon { code_rate, symbol_bits, max_block });
    MimoConfig { fec, small: None, ..config.clone() }
}

/// Returns the largest multiple of the bits per modulation symbol that is at most 8.
fn about_a_byte(modulation: &str) -> u32 {
    let bits = Constellation::from_name(modulation).map_or(1, |constellation| constellation.bits());
    8 / bits * bits
}
