//! BBR: congestion control by a model of the path, from estimates of bandwidth and minimum RTT.
//!
//! | algorithm | file |
//! | --- | --- |
//! | BBRv3 | `v3.rs`, `v3/` |
//! | BBRv1 of Linux | `bbr1.rs`, `bbr1/` |
//!
//! Shared parts: units (`units.rs`), pacing (`pacing.rs`), windowed filters (`filters.rs`), packet-timed round
//! trips (`rounds.rs`), ACK aggregation (`aggregation.rs`), the saved window (`recovery.rs`), the duration
//! of ProbeRTT (`hold.rs`).

mod aggregation;
mod bbr1;
pub(super) mod filters;
mod hold;
mod pacing;
mod recovery;
mod rounds;
#[cfg(test)]
mod testing;
mod units;
mod v3;

pub use bbr1::{Bbr1, Bbr1Config};
pub use v3::{Bbr, BbrConfig, BbrVariant};
