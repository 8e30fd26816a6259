//! All integration tests of the crate in one binary, which is linked once.

mod awgn;

mod crossings;
mod ctc_awgn;
mod error_rates;
mod every_error_process;
mod every_policy;
mod every_snr;
