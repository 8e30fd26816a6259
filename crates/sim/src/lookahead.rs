//! Which stages need not go in order of time, and by how much.
//!
//! A packet on a dedicated wire affects no stage before it arrives. So a stage all of whose packets
//! enter such wires may be woken late, by less than the shortest of their delays, with its clock at
//! the requested times: results do not change. And a stage behind a wire may be run ahead, as far
//! as the last packet on it, since nothing else can come before: those who share a wire feed it in
//! order. The others (senders in front of a shared link) keep the global order, and are the only
//! ones that need it. This is conservative lookahead (K. M. Chandy and J. Misra, IEEE Trans. Softw.
//! Eng. 5(5), 1979) inside one thread.
//!
//! Everything follows from the routes and the wires, nothing from what the stages are. Three things
//! are seen in order: recorded series and observers, which keep everything in order, and plug-ins,
//! which may share hidden state and keep their stages in order.

use airpath_core::{Duration, StageId};
use airpath_path::{Network, Route};

/// The longest that anything is late: what waits for a stage takes memory.
const MOST: Duration = Duration::from_millis(100);

/// How late each stage of `network` may be woken; by stage, zero where it goes in order.
///
/// A stage's slack is the shortest delay that what it sends has before it; lateness is 1 ns less.
pub(crate) fn lateness(network: &Network) -> Vec<Duration> {
    let count = network.stages.len();
    if !network.recorder.is_idle() {
        return vec![Duration::ZERO; count];
    }
    let feeders = feeders(network);
    // What a stage is sent takes at least so long; nothing where two would have to take turns.
    let delay = |stage: StageId| match feeders[stage.0 as usize] {
        Feeders::One(_) => network.wires[stage.0 as usize].delay(),
        Feeders::None | Feeders::Several => Duration::ZERO,
    };
    let mut slack = vec![MOST; count];
    for (from, _, route) in network.routes.iter() {
        let least = match route {
            Route::Nowhere => continue,
            Route::Exit => Duration::ZERO,
            Route::To(stage, _) => delay(*stage),
            Route::ByFlow(inputs) => {
                inputs.iter().map(|(stage, _)| delay(*stage)).min().unwrap_or(MOST)
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

/// Stages that send packets to a stage.
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
            Route::ByFlow(inputs) => inputs.iter().for_each(|(to, _)| add(from, *to)),
        }
    }
    feeders
}

#[cfg(test)]
mod tests;
