//! The physical layer: models the effects of a radio channel on a signal, and the resulting packet
//! errors.
//!
//! This crate does not depend on queues, links or a clock. A channel is a function of time, an
//! error rate is a function of the signal-to-noise ratio, and the links of `airpath-link` combine
//! them:
//!
//! ```text
//! speed, carrier ──▶ Doppler ──▶ fading ──▶ SNR(t) ──▶ link adaptation ──▶ rate, error rate
//! ```
//!
//! | kind | implemented | planned |
//! | --- | --- | --- |
//! | mean SNR | [`path_loss`]: COST-231 Hata; [`link_budget`]; [`shadowing`] along the path | |
//! | fading | [`doppler`], flat [`rayleigh`] fading, [`fading`] of blocks with frequency-selective taps | MIMO |
//! | SNR over time | [`snr`]: constant, Rayleigh fading, the steps of a file | |
//! | errors | [`errors`]: independent, Gilbert–Elliott, bursts of a fading channel; [`bit_errors`]: errors of single symbols under a two-state chain, also derived from a Doppler shift, and the resulting packet errors | |
//! | capacity | [`shannon`] | |
//! | modulation | [`modulation`]: Gray QPSK, 16QAM, 64QAM | |
//! | FEC | [`code`]: the convolutional turbo code of 802.16; Reed–Solomon, modelled by the number of correctable errors | |
//! | modulation and coding schemes | [`mcs`]: the eight MCSs of 802.16, and the lists of 802.16e with repetition | |
//! | multicarrier | [`ofdm`]: mapping of a block to subcarriers | |
//! | error rates | [`monte_carlo`]: simulated coding and decoding over a channel; [`symbol_error`]: error rates of symbols over flat fading with several antennas, in closed form and by integrals | |
//! | error-rate tables | [`per_table`]: packet error rate by MCS, SNR and packet size | |
//! | link adaptation | [`adaptation`]: policies that choose an MCS from SNR and queue | |
//!
//! Mathematical functions come from the `libm` crate, so that results are bit-identical on all
//! machines.
//!
//! # Example
//!
//! Computes the rate of a fading 5 MHz carrier, 10 dB on average, for a receiver at 30 m/s:
//!
//! ```
//! use airpath_core::rng::Stream;
//! use airpath_core::Time;
//! use airpath_phy::{doppler, rayleigh::Rayleigh, shannon};
//!
//! let mut stream = Stream::new(1, 0, "fading");
//! let fading = Rayleigh::new(doppler::max_doppler_hz(30.0, 2.1e9), || stream.uniform());
//! let snr = shannon::from_db(10.0) * fading.power_at(Time::from_millis(250));
//! let rate_bps = shannon::rate_bps(5e6, snr, 20e6);
//! assert!((0.0..=20e6).contains(&rate_bps));
//! ```
#![forbid(unsafe_code)]

pub mod adaptation;
pub mod bit_errors;
pub mod code;
pub mod doppler;
pub mod errors;
pub mod fading;
pub mod gaussian;
pub mod link_budget;
pub mod mcs;
pub mod modulation;
pub mod monte_carlo;
pub mod ofdm;
pub mod path_loss;
pub mod per_table;
pub mod radio_budget;
pub mod rayleigh;
pub mod shadowing;
pub mod shannon;
pub mod snr;
pub mod symbol_error;
mod vectorised;
