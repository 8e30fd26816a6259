//! Solves the balances hop by hop until nothing changes.

use super::early_drop::Variation;
use super::state::{HopState, Mix, State};
use super::{Network, NetworkSolution};
use crate::error::ModelError;
use crate::root::{Bracket, Tolerance, find_root};

/// Largest number of sweeps.
const MOST_SWEEPS: u32 = 3000;
/// Number of sweeps after which the step is halved, and halved again.
const PATIENCE: u32 = 500;
/// Changes per sweep at which the solution is accepted: of a queue, relative to itself plus one
/// packet; of a drop probability, relative to itself plus 1e-6.
const SETTLED: f64 = 1e-9;
const SMALL_LOSS: f64 = 1e-6;
/// Change at which the state after the last sweep is accepted. Where the TCP formula jumps (b = 1,
/// E\[W_u\] = W_max) the balances have no exact solution, and small changes remain.
const ACCEPTED: f64 = 1e-6;
/// Number of sweeps between two extrapolations, and the smallest cosine of the angle between the
/// changes of two sweeps that are extrapolated.
const SWEEPS_BEFORE_EXTRAPOLATION: u32 = 12;
const ALIGNED: f64 = 0.999;
/// Tolerance of a queue, packets.
const FINE: Tolerance = Tolerance { argument: 1e-13, value: 1e-15 };
/// Tolerance of a drop probability.
const FINE_LOSS: Tolerance = Tolerance { argument: 1e-18, value: 1e-15 };
/// Largest difference of busy time and load that is not a jump of the drop curve.
const BALANCED: f64 = 1e-7;

/// Computes the fixed point.
///
/// # Errors
/// Fails if the sweeps do not converge, or a drop probability is not in [0, 1].
pub(super) fn solve(network: &Network<'_>) -> Result<NetworkSolution, ModelError> {
    let mut state = State::new(network);
    let (hops, classes_at) = (network.hops.len(), state.classes_at.clone());
    let mut trend = Trend::default();
    let mut change = f64::INFINITY;
    for sweep in 1..=MOST_SWEEPS {
        let step = 0.5_f64.powi((sweep / PATIENCE).min(5) as i32);
        change = 0.0;
        let start = state.hops.clone();
        for hop in (0..hops).filter(|hop| !classes_at[*hop].is_empty()) {
            let before = state.hops[hop];
            let found = solve_hop(&mut state, hop)?;
            let next = HopState {
                queue: before.queue + step * (found.queue - before.queue),
                drop: before.drop + step * (found.drop - before.drop),
            };
            state.set(hop, next);
            change = change.max(distance(before, found));
        }
        for hop in 0..hops {
            change = change.max(update_mix(&mut state, hop, step));
        }
        if change <= SETTLED || (sweep == MOST_SWEEPS && change <= ACCEPTED) {
            return Ok(solution(&state, sweep));
        }
        if let Some(hops) = trend.extrapolate(&start, &state.hops) {
            (0..).zip(hops).for_each(|(hop, to)| state.set(hop, to));
        }
    }
    Err(ModelError::NoConvergence { sweeps: MOST_SWEEPS, change })
}

/// Accelerates slow convergence by Aitken's method: after a number of sweeps whose changes shrink by
/// one factor, it moves to the limit of the geometric series.
#[derive(Default)]
struct Trend {
    last: Vec<f64>,
    sweeps: u32,
}

impl Trend {
    /// Returns the limit of the hops, if the changes of the last two sweeps have one direction.
    fn extrapolate(&mut self, before: &[HopState], after: &[HopState]) -> Option<Vec<HopState>> {
        let pairs = before.iter().zip(after);
        let changes = pairs.flat_map(|(old, new)| [new.queue - old.queue, new.drop - old.drop]);
        let changes: Vec<f64> = changes.collect();
        let last = std::mem::replace(&mut self.last, changes);
        self.sweeps += 1;
        if self.sweeps < SWEEPS_BEFORE_EXTRAPOLATION || last.len() != self.last.len() {
            return None;
        }
        let product =
            |one: &[f64], two: &[f64]| one.iter().zip(two).map(|(a, b)| a * b).sum::<f64>();
        let (new, old) = (product(&self.last, &self.last), product(&last, &last));
        let both = product(&self.last, &last);
        let factor = both / old;
        if old == 0.0 || both < ALIGNED * (new * old).sqrt() || factor >= 1.0 {
            return None;
        }
        let gain = factor / (1.0 - factor);
        self.sweeps = 0;
        let moves = after.iter().zip(self.last.chunks_exact(2)).map(|(hop, by)| HopState {
            queue: (hop.queue + gain * by[0]).max(0.0),
            drop: (hop.drop + gain * by[1]).clamp(0.0, 1.0),
        });
        Some(moves.collect())
    }
}

/// Moves the means over the arrivals of a hop towards their present values by the share `step` of
/// the distance. Returns the largest relative distance.
fn update_mix(state: &mut State<'_>, hop: usize, step: f64) -> f64 {
    let (old, new) = (state.mixes[hop], state.mix(hop));
    let pairs = [(old.service_s, new.service_s), (old.longest, new.longest), (old.busy, new.busy)];
    let [service_s, longest, busy] = pairs.map(|(old, new)| old + step * (new - old));
    let pairs_of_variation =
        [(old.variation.pipe, new.variation.pipe), (old.variation.left, new.variation.left)];
    let [pipe, left] = pairs_of_variation.map(|(old, new)| old + step * (new - old));
    let by = new.variation.sigma - old.variation.sigma;
    let variation = Variation { pipe, left, sigma: old.variation.sigma + step * by };
    state.mixes[hop] = Mix { service_s, longest, busy, variation };
    let relative = |(old, new): (f64, f64)| if new == old { 0.0 } else { (new - old).abs() / new };
    let mut change =
        pairs.into_iter().chain(pairs_of_variation).map(relative).fold(by.abs(), f64::max);
    for (class, events) in state.events_at(hop) {
        let route = &state.network.classes[class].route;
        let Some(place) = route.iter().position(|at| at.hop == hop) else { continue };
        let old = &mut state.events[class][place];
        change = change.max(relative((*old, events)));
        *old += step * (events - *old);
    }
    change
}

/// Returns the larger of the relative changes of queue and drop probability.
fn distance(before: HopState, after: HopState) -> f64 {
    let queue = (after.queue - before.queue).abs() / (1.0 + after.queue);
    queue.max((after.drop - before.drop).abs() / (SMALL_LOSS + after.drop))
}

fn solution(state: &State<'_>, sweeps: u32) -> NetworkSolution {
    NetworkSolution {
        hops: (0..state.hops.len()).map(|hop| state.hop_point(hop)).collect(),
        classes: (0..state.rates.len()).map(|class| state.class_point(class)).collect(),
        sweeps,
    }
}

/// Solves (N5) for one hop: searches along its curve from an empty queue to the longest mean queue,
/// then along the vertical segment there.
fn solve_hop(state: &mut State<'_>, hop: usize) -> Result<HopState, ModelError> {
    let (longest, busy) = (state.mixes[hop].longest, state.mixes[hop].busy);
    let curve = state.network.hops[hop].early;
    let drop_at = |queue: f64| {
        let probability = curve.map_or(0.0, |early| early(queue));
        if (0.0..=1.0).contains(&probability) {
            Ok(probability)
        } else {
            Err(ModelError::DropProbability { queue_packets: queue, probability })
        }
    };
    if state.mixes[hop].variation.sigma > 0.0 {
        return solve_oscillating(state, hop, &|queue| drop_at(queue).unwrap_or(f64::NAN));
    }
    let empty = HopState { queue: 0.0, drop: drop_at(0.0)? };
    let value_low = balance(state, hop, empty, busy);
    if value_low >= 0.0 {
        return Ok(empty);
    }
    let full = HopState { queue: longest, drop: drop_at(longest)? };
    if full.drop < empty.drop {
        let (below, above) = (empty.drop, full.drop);
        return Err(ModelError::DropDecreases { queue_packets: longest, below, above });
    }
    let value_high = balance(state, hop, full, busy);
    if value_high < 0.0 {
        return Ok(vertical(state, hop, (longest, busy), (full.drop, 1.0)));
    }
    let start = Bracket { low: 0.0, high: longest, value_low, value_high };
    let along = |queue: f64| HopState { queue, drop: drop_at(queue).unwrap_or(f64::NAN) };
    let found = find_root(|queue| balance(state, hop, along(queue), busy), start, FINE);
    let (low, high) = (drop_at(found.low)?, drop_at(found.high)?);
    let queue = found.best();
    if found.residual() <= BALANCED || high <= low {
        return Ok(HopState { queue, drop: drop_at(queue)? });
    }
    Ok(vertical(state, hop, (queue, busy), (low, high)))
}

/// Solves (N5) for a hop with early drops whose windows oscillate: searches along the averages (E2)
/// from an idle link to a full queue, then along the vertical segment there.
fn solve_oscillating(
    state: &mut State<'_>,
    hop: usize,
    drop_at: &dyn Fn(f64) -> f64,
) -> Result<HopState, ModelError> {
    let Mix { longest, variation, .. } = state.mixes[hop];
    let along = |y: f64| variation.means(y, longest, drop_at);
    let mut value = |y: f64| {
        let (point, busy) = along(y);
        balance(state, hop, point, busy)
    };
    let (low, high) = (-variation.pipe, longest);
    let start = Bracket { low, high, value_low: value(low), value_high: value(high) };
    if start.value_low >= 0.0 {
        return Ok(along(low).0);
    }
    if start.value_high < 0.0 {
        let (full, busy) = along(high);
        return Ok(vertical(state, hop, (full.queue, busy), (full.drop, 1.0)));
    }
    let found = along(find_root(value, start, FINE).best()).0;
    let valid = (0.0..=1.0).contains(&found.drop);
    let (queue_packets, probability) = (found.queue, found.drop);
    if valid { Ok(found) } else { Err(ModelError::DropProbability { queue_packets, probability }) }
}

/// Finds the drop probability between `low` and `high` at which a hop with a given queue and
/// utilisation is in balance.
fn vertical(
    state: &mut State<'_>,
    hop: usize,
    (queue, busy): (f64, f64),
    (low, high): (f64, f64),
) -> HopState {
    let mut value = |drop: f64| balance(state, hop, HopState { queue, drop }, busy);
    let mut start = Bracket { low, high: low, value_low: value(low), value_high: 0.0 };
    if start.value_low >= 0.0 {
        return HopState { queue, drop: low };
    }
    // The bracket grows from `low`, because the resolution of the search depends on its size.
    for size in (-40..0).step_by(4).map(|exponent| 2f64.powi(exponent)).chain([1.0]) {
        start.high = low + size * (high - low);
        start.value_high = value(start.high);
        if start.value_high >= 0.0 {
            break;
        }
        (start.low, start.value_low) = (start.high, start.value_high);
    }
    HopState { queue, drop: find_root(value, start, FINE_LOSS).best() }
}

/// Sets the state of a hop. Returns its busy time minus its load: negative if the queue grows.
fn balance(state: &mut State<'_>, hop: usize, at: HopState, busy: f64) -> f64 {
    state.set(hop, at);
    busy - (1.0 - at.drop) * state.offered(hop)
}
