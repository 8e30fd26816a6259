//! Configuration of a MIMO link, and the packet outcomes that follow from it.

use crate::links::framing::LEAST_CODE_RATE;
use airpath_core::{Bytes, Checks, ConfigError, Framing};
use airpath_phy::bit_errors::{ErrorChain, Outcome};
use airpath_phy::code::reed_solomon::ReedSolomon;
use airpath_phy::errors::TwoStates;
use airpath_phy::shannon::from_db;
use airpath_phy::symbol_error::{Branches, Constellation, Fading, symbol_error_rate};
use serde::Deserialize;
use serde_json::Value;

/// Largest SNR (power ratio) in computations. Above it every error rate is practically 0.
const MOST_SNR: f64 = 1e100;

/// Configuration set by the user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MimoConfig {
    /// Rate on the air, including parity, bit/s. Above 0.
    pub rate_bps: u64,
    /// Name of the constellation: `bpsk`, `qpsk`, `8psk` … `64psk`, `16qam`, `64qam`.
    pub modulation: String,
    /// Transmitting antennas, 1 or 2.
    pub tx: u32,
    /// Receiving antennas, 1 to 8.
    pub rx: u32,
    /// SNR_G, mean SNR in the good state, dB.
    pub snr_db: f64,
    /// Mean SNR in the bad state minus mean SNR in the good state, dB. At most 0.
    pub bad_snr_offset_db: f64,
    /// 1 − γ: probability of a transition from the good to the bad state after each modulation
    /// symbol, in [0, 1].
    pub p_good_to_bad: f64,
    /// 1 − β: probability of a transition from the bad to the good state after each modulation
    /// symbol, in [0, 1].
    pub p_bad_to_good: f64,
    /// Fading of each antenna branch.
    #[serde(default)]
    pub fading: FadingKind,
    /// K factor, dB; only for Rician fading.
    #[serde(default)]
    pub k_factor_db: Option<f64>,
    /// Parameter m; only for Nakagami fading. At least 1/2.
    #[serde(default)]
    pub m: Option<f64>,
    /// Forward error correction of packets. `None`: no code.
    #[serde(default)]
    pub fec: Option<FecConfig>,
    /// Separate code rate for small packets.
    #[serde(default)]
    pub small: Option<SmallConfig>,
    /// Error process in addition to the fading: `{"kind": …}`. `None`: no error process.
    #[serde(default)]
    pub errors: Option<Value>,
}

/// Kind of fading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FadingKind {
    /// Rayleigh fading: no line of sight.
    #[default]
    Rayleigh,
    /// Rician fading: with line of sight.
    Rician,
    /// Nakagami fading.
    Nakagami,
}

/// Forward error correction of packets.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FecConfig {
    /// Reed-Solomon code RS(b, k) in each packet.
    ReedSolomon {
        /// Code rate r, in (0, 1].
        code_rate: f64,
        /// Bits of a code symbol, a multiple of the bits of a modulation symbol. At most 16.
        symbol_bits: u32,
        /// Largest number of symbols of a block. `None`: one block for each packet.
        #[serde(default)]
        max_block: Option<u64>,
    },
}

/// Configuration of the code of small packets.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmallConfig {
    /// Largest size of a small IP packet, bytes.
    pub up_to_bytes: u64,
    /// Code rate r of small packets, in (0, 1].
    pub code_rate: f64,
}

/// Radio channel with a constant distribution of packet outcomes.
#[derive(Clone, Debug, PartialEq)]
pub struct MimoChannel {
    states: TwoStates,
    error: [f64; 2],
    chain: ErrorChain,
    /// Bits of a modulation symbol.
    bits: u32,
    code: Option<ReedSolomon>,
    /// Largest size of a small packet, and the code of small packets; `None` if small packets have
    /// no separate code.
    small: Option<(Bytes, ReedSolomon)>,
}

impl MimoConfig {
    /// Returns the fading of a branch.
    fn fading(&self) -> Result<Fading, ConfigError> {
        let MimoConfig { fading, k_factor_db, m, .. } = self;
        let mut checks = Checks::default();
        for (field, value, of, range, example) in [
            ("k_factor_db", k_factor_db, FadingKind::Rician, LEVELS_DB, "6"),
            ("m", m, FadingKind::Nakagami, LEAST_M..=MOST_M, "2"),
        ] {
            match value {
                Some(value) if *fading == of => _ = checks.within(field, *value, range),
                Some(value) => {
                    let problem = format!("{fading:?} fading has no such parameter");
                    checks.reject(field, value, &problem, "Remove it");
                }
                None if *fading == of => checks.missing(field, &format!("Set {field} = {example}")),
                None => {}
            }
        }
        checks.finish()?;
        Ok(match (k_factor_db, m) {
            (Some(k_factor_db), _) => Fading::Rician(ratio(*k_factor_db)),
            (None, Some(m)) => Fading::Nakagami(*m),
            (None, None) => Fading::Rayleigh,
        })
    }

    /// Returns ε_G and ε_B, the modulation symbol error rates in the good and in the bad state.
    ///
    /// # Errors
    /// If a value is outside its range; the error contains the field name.
    pub fn symbol_errors(&self) -> Result<[f64; 2], ConfigError> {
        let mut checks = Checks::default();
        let constellation = checks.nested("", Constellation::from_name(&self.modulation));
        let fading = checks.nested("", self.fading());
        checks.within("snr_db", self.snr_db, LEVELS_DB);
        checks.within("bad_snr_offset_db", self.bad_snr_offset_db, *LEVELS_DB.start()..=0.0);
        checks.nested("", Branches::of_antennas(self.tx, self.rx, 1.0));
        checks.finish()?;
        let (Some(constellation), Some(fading)) = (constellation, fading) else {
            unreachable!("both values are valid")
        };
        let of = |snr_db: f64| {
            let branches = Branches::of_antennas(self.tx, self.rx, ratio(snr_db))?;
            Ok(symbol_error_rate(constellation, branches, fading))
        };
        Ok([of(self.snr_db)?, of(self.snr_db + self.bad_snr_offset_db)?])
    }

    /// Returns the code with the rate `code_rate`, if the link uses a code.
    fn code_at(&self, code_rate: f64) -> Result<Option<ReedSolomon>, ConfigError> {
        let Some(FecConfig::ReedSolomon { symbol_bits, max_block, .. }) = self.fec else {
            return Ok(None);
        };
        let mut checks = Checks::default();
        if checks.within("code_rate", code_rate, LEAST_CODE_RATE..=1.0) {
            let code = checks.nested("", ReedSolomon::new(code_rate, symbol_bits, max_block));
            checks.finish()?;
            return Ok(code);
        }
        checks.finish()?;
        Ok(None)
    }

    /// Returns the code of packets that are not small.
    fn code(&self) -> Result<Option<ReedSolomon>, ConfigError> {
        let Some(FecConfig::ReedSolomon { code_rate, symbol_bits, .. }) = self.fec else {
            return Ok(None);
        };
        let of_constellation = Constellation::from_name(&self.modulation)?.bits();
        let mut checks = Checks::default();
        let code = checks.nested("fec", self.code_at(code_rate));
        if symbol_bits % of_constellation != 0 {
            let problem = format!("not a multiple of the bits of a symbol of {}", self.modulation);
            let advice = format!("Use {of_constellation} or a multiple up to {MOST_BITS}");
            checks.reject("fec.symbol_bits", symbol_bits, &problem, &advice);
        }
        checks.finish()?;
        Ok(code.flatten())
    }

    /// Returns the size limit of small packets and their code.
    fn small_code(&self) -> Result<Option<(Bytes, ReedSolomon)>, ConfigError> {
        let Some(SmallConfig { up_to_bytes, code_rate }) = self.small else { return Ok(None) };
        let mut checks = Checks::default();
        checks.within("small.up_to_bytes", up_to_bytes, 1..=LARGEST_PACKET);
        if self.fec.is_none() {
            let advice = "Set fec too; its code_rate = 1 corrects nothing";
            checks.reject("small", "given", "there is no fec", advice);
        }
        let is_rate = checks.within("small.code_rate", code_rate, LEAST_CODE_RATE..=1.0);
        let code = if is_rate { self.code_at(code_rate).ok().flatten() } else { None };
        // The code of other packets is checked separately. Here only the rate for small packets
        // makes the blocks too short.
        if is_rate && code.is_none() && self.code().is_ok_and(|code| code.is_some()) {
            let problem = "blocks of max_block are too short for one symbol of data";
            checks.reject("small.code_rate", code_rate, problem, "Use a larger code rate");
        }
        checks.finish()?;
        Ok(code.map(|code| (Bytes(up_to_bytes), code)))
    }

    /// Returns the channel.
    ///
    /// # Errors
    /// If a value is outside its range; the error contains the field name.
    pub fn channel(&self) -> Result<MimoChannel, ConfigError> {
        let (good_to_bad, bad_to_good) = (self.p_good_to_bad, self.p_bad_to_good);
        let states = TwoStates { good_to_bad, bad_to_good };
        let mut checks = Checks::default();
        checks.nested("", states.validate());
        let error = checks.nested("", self.symbol_errors());
        let bits = Constellation::from_name(&self.modulation).ok();
        let code = bits.and_then(|_| checks.nested("", self.code()));
        let small = bits.and_then(|_| checks.nested("", self.small_code()));
        checks.finish()?;
        let (Some(error), Some(bits), Some(code), Some(small)) = (error, bits, code, small) else {
            unreachable!("all values are valid")
        };
        let chain = ErrorChain::new(good_to_bad, bad_to_good, error[0], error[1])?;
        Ok(MimoChannel { states, error, chain, bits: bits.bits(), code, small })
    }
}

/// Accepted SNR range, dB.
const LEVELS_DB: std::ops::RangeInclusive<f64> = -200.0..=200.0;
/// Largest IP packet, bytes.
const LARGEST_PACKET: u64 = 65_535;
/// Largest number of bits of a code symbol.
const MOST_BITS: u32 = 16;
/// Smallest m of Nakagami fading.
const LEAST_M: f64 = 0.5;
/// Largest m of Nakagami fading, which is almost no fading.
const MOST_M: f64 = 1e3;

/// Converts dB to a power ratio.
fn ratio(db: f64) -> f64 {
    from_db(db).min(MOST_SNR)
}

impl MimoChannel {
    /// State transition probabilities for each modulation symbol.
    pub fn states(&self) -> TwoStates {
        self.states
    }

    /// Modulation symbol error rates ε_G and ε_B in the good and in the bad state.
    pub fn symbol_errors(&self) -> [f64; 2] {
        self.error
    }

    /// Bits of a modulation symbol.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Largest size of packets that have a separate code.
    pub fn small_up_to(&self) -> Option<Bytes> {
        self.small.map(|(up_to, _)| up_to)
    }

    /// Framing: size of a packet on the air.
    pub fn framing(&self) -> Framing {
        let small = self.small.map(|(up_to, code)| (up_to, code.symbol_code().code_rate));
        self.code.map_or_else(Framing::default, |code| {
            Framing::default().coded_by_symbols(code.symbol_code(), small)
        })
    }

    /// Returns the outcome probabilities of a packet, by the states at its start and at its end. A
    /// packet whose block would have more symbols than the code allows is always lost.
    pub fn outcome(&self, packet: Bytes) -> Outcome {
        let small = self.small.filter(|(up_to, _)| packet <= *up_to).map(|(_, code)| code);
        let Some(code) = small.or(self.code) else {
            return self.chain.outcome((8 * packet.0).div_ceil(u64::from(self.bits)));
        };
        let symbol_units = u64::from(code.symbol_bits() / self.bits);
        match code.blocks(packet) {
            Ok(blocks) => self.chain.coded_outcome(&blocks, symbol_units),
            Err(_) => self.lost(8 * code.on_air(packet).0 / u64::from(self.bits)),
        }
    }

    /// Returns the failure probability of a packet that is sent at a random time.
    pub fn failure(&self, packet: Bytes) -> f64 {
        self.chain.failure(&self.outcome(packet))
    }

    /// Returns the failure probability of a packet that directly follows a failed packet of the
    /// same size; `None` if no packet fails.
    pub fn failure_after_failure(&self, packet: Bytes) -> Option<f64> {
        let Outcome { failed, .. } = self.outcome(packet);
        let [good, bad] = self.chain.shares();
        let [then_good, then_bad] = [0, 1].map(|to| good * failed[0][to] + bad * failed[1][to]);
        let [after_good, after_bad] = failed.map(|row| row[0] + row[1]);
        let first = then_good + then_bad;
        (first > 0.0).then(|| (then_good * after_good + then_bad * after_bad) / first)
    }

    /// Returns the outcome probabilities of a packet that is always lost, after `units` state
    /// transitions.
    fn lost(&self, units: u64) -> Outcome {
        let after = |is_bad| {
            let bad = self.states.bad_after(units, is_bad);
            [1.0 - bad, bad]
        };
        Outcome { delivered: [[0.0; 2]; 2], failed: [after(false), after(true)] }
    }
}
