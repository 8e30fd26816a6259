//! Selects and solves the analytic model that covers a scenario, or reports why no model covers it.
//!
//! ```text
//!   registry             the models, one line each
//!   model                the contract: covers(scenario) -> problem or reasons; solve(problem) -> solution
//!   reasons              the reasons for which a model does not cover a scenario, by key
//!   preconditions        checks that several models share
//!   dumbbell             scenarios with one bottleneck, the input of the models
//!   fixed_point          TCP flows and a multi-regime link
//!   network_fixed_point  TCP flows and datagrams over several fixed links
//!   md1k                 Poisson datagrams and a fixed link
//!   clamp_fluid          CLAMP flows and a fixed link
//!   rtt_stages           a download and a TDD link
//!   mimo                 any flows and a MIMO link
//! ```
//!
//! A model covers a scenario only if it covers the value of every key. It reports all keys whose
//! values it does not cover. The equations are in `airpath-model`, which does not depend on
//! scenarios. This crate does not simulate.
//!
//! # Example
//!
//! ```
//! use airpath_link::Files;
//! use airpath_path::Scenario;
//! use airpath_solve::{SolveError, solve};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scenario = Scenario::from_json(&json!({
//!     "duration_ns": 1_000_000_000,
//!     "flows": [{
//!         "source": {"kind": "poisson", "rate_bps": 1_000_000, "packet_bytes": 1500},
//!         "start": {"kind": "at", "time_ns": 0},
//!         "access": {"delay_ns": 0}, "egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 0}}],
//!     "bottleneck": {
//!         "link": {"kind": "fixed", "rate_bps": 5_000_000},
//!         "queue": {"kind": "gred", "min_th": 5.0, "max_th": 15.0, "max_p": 0.1}},
//!     "ack_path": {"kind": "ideal"}}).to_string())?;
//! let refused = solve(&scenario, &Files::default(), None).unwrap_err();
//! assert!(matches!(refused, SolveError::NotCovered { .. }));
//! let line = "bottleneck.aqm.kind = gred: no analytic model covers it. Covered: droptail";
//! assert_eq!(refused.to_string(), line);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod clamp_fluid;
mod dumbbell;
mod error;
pub mod fixed_point;
pub mod md1k;
pub mod mimo;
mod model;
pub mod network_fixed_point;
mod preconditions;
mod reasons;
mod registry;
pub mod rtt_stages;

pub use dumbbell::DumbbellScenario;
pub use error::SolveError;
pub use model::{Entry, Model};
pub use reasons::{Reason, Reasons};
pub use registry::{MODELS, solve, solve_with};
