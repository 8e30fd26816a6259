//! Simulations in which an agent outside the engine controls TCP flows, step by step.
//!
//! A scenario marks the flows of the agents with the congestion control `{"kind": "agent", "agent":
//! INDEX}`. A [`Simulation`] runs the scenario from one decision to the next: [`Simulation::step`]
//! applies an [`Action`] to each agent, advances the simulation, and returns the [`Statistics`] of
//! the interval. Congestion windows and pacing rates are constant between two decisions.
#![forbid(unsafe_code)]

mod channel;
mod congestion;
mod meter;
mod pool;
mod simulation;
mod statistics;
mod step;
#[cfg(test)]
mod tests;

pub use channel::Action;
pub use pool::{Pool, Work};
pub use simulation::{AgentError, Experiment, Simulation};
pub use statistics::{Quantity, Statistics};
pub use step::Step;
