//! Analytic models of TCP over a link, without packet simulation.
//!
//! ```text
//!   pftk         loss, RTT            -> packets/s of one TCP flow
//!   regimes      queue length         -> rate and packet error rate of the link
//!   drop_curve   queue length         -> drop probability of the queue discipline
//!      \            |            /
//!   fixed_point  queue length at which the TCP sending rate equals the service rate
//!      |
//!   root         the bracketing root finder below it
//!   oscillation  the fixed point averaged over the oscillation of windows, and its warning
//!
//!   network      TCP flows and datagrams over several hops: one balance per hop
//!   md1k         Poisson arrivals of equal packets at a link with a finite queue
//!   clamp_fluid  windows controlled by a price of the queue: equilibrium, stability, trajectory
//!   rtt_stages   a download in round trips, with bandwidth requests for its ACKs
//!   square_root  TCP throughput formula without timeouts, limited by the window
//! ```
//!
//! All units are SI (seconds, bit/s); probabilities are in [0, 1]. Queue and window lengths are in
//! packets of one common size, as in the source. Exception: `clamp_fluid` uses bytes and bytes/s,
//! as its source does. Rates count complete IP packets. No function reads a clock. Only
//! `rtt_stages` uses random numbers, in its Monte Carlo method. Only `rtt_stages` and `clamp_fluid`
//! allocate memory.
//!
//! # Example
//!
//! Four flows over a link that has a higher rate and a higher loss when 20 or more packets wait:
//!
//! ```
//! use airpath_model::{DropCurve, MultiRegimeLink, Problem, Regime, Tcp};
//!
//! # fn main() -> Result<(), airpath_model::ModelError> {
//! // Gentle RED with thresholds of 30 and 90 packets and a maximum probability of 0.1.
//! let gentle_red = |x: f64| match x {
//!     x if x < 30.0 => 0.0,
//!     x if x < 90.0 => (x - 30.0) / 60.0 * 0.1,
//!     x => (0.1 + (x - 90.0) / 90.0 * 0.9).min(1.0),
//! };
//! let regimes = [
//!     Regime { rate_bps: 16.0e6, per: 5.32e-5 },
//!     Regime { rate_bps: 26.88e6, per: 0.112 },
//! ];
//! let problem = Problem {
//!     link: MultiRegimeLink::new(&[20.0], &regimes)?,
//!     base_rtts_s: &[0.021, 0.037, 0.053, 0.069],
//!     drop: DropCurve { probability: gentle_red, x_max: 180.0 },
//!     tcp: Tcp::default(),
//!     packet_bytes: 1500.0,
//! };
//! let solution = problem.solve()?;
//!
//! assert_eq!(solution.domain.to_string(), "B1"); // the queue stays at the threshold
//! assert_eq!(solution.queue_packets(), 20.0);
//! assert!((solution.throughput_bps() / 16.0741e6 - 1.0).abs() < 1e-3); // qawla-2015 Table 4
//! for flow in solution.flows(problem.base_rtts_s) {
//!     assert!(flow.throughput_bps > 2e6 && flow.rtt_s > 0.02);
//! }
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod clamp_fluid;
pub mod drop_curve;
pub mod error;
pub mod fixed_point;
pub mod md1k;
pub mod network;
pub mod operating_point;
pub mod oscillation;
pub mod pftk;
pub mod regimes;
pub mod root;
pub mod rtt_stages;
pub mod solution;
pub mod square_root;

pub use clamp_fluid::ClampFluid;
pub use drop_curve::DropCurve;
pub use error::ModelError;
pub use fixed_point::{Position, Problem};
pub use md1k::Md1k;
pub use network::{ClassSource, Crossing, FlowClass, Network, NetworkHop, QueueLimit};
pub use operating_point::{FlowPoint, OperatingPoint};
pub use oscillation::WindowOscillation;
pub use pftk::{RateTerms, Tcp};
pub use regimes::{MultiRegimeLink, Regime};
pub use solution::{Change, Domain, Solution, Warning, Warnings};
pub use square_root::square_root_bps;
