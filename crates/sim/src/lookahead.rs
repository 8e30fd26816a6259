//! Computes for each stage by how much time it may be called late, out of the global time order.
//!
//! A packet on a dedicated wire affects no stage before it arrives. Two consequences follow:
//!
//! - If all packets of a stage enter such wires, the stage may be woken late, by less than the
//!   shortest delay of these wires. It is called with the times that it requested, so results do
//!   not change.
//! - A stage behind such a wire may be run ahead of time, up to the arrival of the last packet on
//!   the wire. No other packet can arrive earlier, because packets enter a wire in time order.
//!
//! All other stages (for example senders in front of a shared link) are called in the global order
//! of time. This is conservative lookahead (K. M. Chandy and J. Misra, IEEE Trans. Softw. Eng.
//! 5(5), 1979) inside one thread.
//!
//! Slack is computed only from routes and wires, not from the types of the stages. With recorded
//! series or observers, all stages are called in time order. A stage with a plug-in is always
//! called in time order, because plug-ins may share hidden state.

use airpath_core::{Duration, StageId};
use airpath_path::{Network, Route};

/// Maximum slack. It is limited because packets that wait for a late stage occupy memory.
const MOST: Duration = Duration::from_millis(100);

/// Computes the maximum lateness of each stage of `network`; zero for a stage that must be called
/// in time order.
///
/// The slack of a stage is the shortest delay of the wires that its packets enter. Its lateness is
/// 1 ns less.
pub(crate) fn lateness(network: &Network) -> Vec<Duration> {
    let count = network.stages.len();
    if !network.recorder.is_idle() {
        return vec![Duration::ZERO; count];
    }
    let feeders = feeders(network);
    // Minimum delay of the packets to a stage; zero if several stages send packets to it.
    let delay = |stage: StageId| match feeders[stage.0 as usize] {
        Feeders::One(_) => network.wires[stage.0 as usize].least_delay(),
        Feeders::None | Feeders::Several => Duration::ZERO,
    };
    let mut slack = vec![MOST; count];
    for (from, _, route) in network.routes.iter() {
        let least = match route {
            Route::Nowhere => continue,
            Route::Exit => Duration::ZERO,
            Route::To(stage, _) => delay(*stage),
            Route::ByFlow(inputs) => {
                let used = inputs.iter().flatten();
                used.map(|(stage, _)| delay(*stage)).min().unwrap_or(MOST)
            }
        };
        let of_stage = &mut slack[from.0 as usize];
        *of_stage = least.min(*of_stage);
    }
    for stage in &network.outside {
        slack[stage.0 as usize] = Duration::ZERO;
    }
    slack
        .into_iter()
        .map(|slack| Duration::from_nanos(slack.as_nanos().saturating_sub(1)))
        .collect()
}

/// Stages that send packets to a given stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeders {
    None,
    One(StageId),
    Several,
}

fn feeders(network: &Network) -> Vec<Feeders> {
    let mut feeders = vec![Feeders::None; network.stages.len()];
    let mut add = |from: StageId, to: StageId| {
        let of_stage = &mut feeders[to.0 as usize];
        *of_stage = match *of_stage {
            Feeders::None => Feeders::One(from),
            Feeders::One(other) if other == from => Feeders::One(from),
            Feeders::One(_) | Feeders::Several => Feeders::Several,
        };
    };
    for (from, _, route) in network.routes.iter() {
        match route {
            Route::Nowhere | Route::Exit => {}
            Route::To(to, _) => add(from, *to),
            Route::ByFlow(inputs) => {
                inputs.iter().flatten().for_each(|(to, _)| add(from, *to));
            }
        }
    }
    feeders
}

#[cfg(test)]
mod tests;
