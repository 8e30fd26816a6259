//! Propagates the joint distribution of the window and the number of packets sent on a grid.
//!
//! Before the first loss there is only one sequence of states, which is computed exactly. After the
//! first loss, the state consists of the window and the packets sent. If backlog is possible, the
//! state also contains three values that determine the queue and the next request: whether the
//! previous stage had a loss, the kind of its request, and the kind of the next request. W_th is
//! not a dimension of the state, because after a loss the window is at W_th or below 2. The
//! probability of a state between two grid points is divided between these points such that the
//! mean is preserved.
//!
//! Each stage sends at least one packet, so the points are processed once, in the order of packets
//! sent. All downloads that reach a point are processed together, regardless of their stage number.
//! Each point stores six moments of the times at which the downloads reach it.

use super::moments::Mass;
use super::points::{Between, between};
use super::stage::{StageResult, State};
use super::{Outcome, Problem, Queue, Ssthresh};
use crate::error::{ModelError, require};

/// Probabilities below this value are neglected; results are normalised with the remaining
/// probability.
const LEAST: f64 = 1e-13;

/// Outcome of a stage: true/false values for a loss, for contention by its own request, and for
/// contention by the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StageCase {
    lost: bool,
    contended: bool,
    contends: bool,
}

/// Number of values of [`StageCase`], all of which occur if backlog is possible.
const WAYS: usize = 8;
/// Maximum number of processed points.
const MOST_POINTS: f64 = (1u32 << 28) as f64;
/// Maximum number of points that are stored at the same time.
const MOST_KEPT: f64 = (1u32 << 23) as f64;

impl StageCase {
    fn of(number: usize) -> StageCase {
        let [lost, contended, contends] = [1, 2, 4].map(|bit| number & bit != 0);
        StageCase { lost, contended, contends }
    }

    fn number(self) -> usize {
        usize::from(self.lost) + 2 * usize::from(self.contended) + 4 * usize::from(self.contends)
    }
}

/// Ratio of the reported error to the change of the result by two halvings of the step. It is above
/// 1 because the remaining error does not always decrease by a constant factor. The value is
/// empirical: some random parameter sets of the tests require 1.34 with a step of 0.5. With a step
/// of 1 and b = 2, one of the two changes may be 0, because both grids have the same windows. Such
/// cases would require a factor of 4, and the reported error is too small.
const SAFETY: f64 = 1.5;

/// A row without used points.
const EMPTY: (u32, u32) = (u32::MAX, 0);

/// Transition of a stage that starts at a grid point.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// w, packets.
    window: f64,
    rtt_s: f64,
    contends: bool,
    /// Probability that all packets of the window are received.
    arrives: f64,
    /// Point and case of the next stage without a loss.
    grown: (Between, usize),
    halved: (Between, usize),
}

impl Problem {
    /// Computes the distribution on a grid with a step of `step`/2. `step` is in packets, from 1/64
    /// to 1. The reported error is 1.5 times the sum of two changes of the result: between steps of
    /// 2·`step` and `step`, and between steps of `step` and `step`/2. Without losses there is only
    /// one path and no error.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if a value is outside its range, the window can build a queue that
    /// never drains, or the grid would have more than 2²⁸ points, or 2²³ at the same time.
    pub fn grid(&self, step: f64) -> Result<Outcome, ModelError> {
        self.validate()?;
        require((1.0 / 64.0..=1.0).contains(&step), "step", step, "from 1/64 to 1 packet")?;
        if self.loss == 0.0 {
            return Ok(Grid::new(self, step)?.run());
        }
        if self.can_queue() && self.queue == Queue::Literal {
            let accepted = "small enough for no backlog, or the queue draining, or by Monte-Carlo";
            require(false, "max_window_packets", self.max_window_packets, accepted)?;
        }
        let run = |step| Ok(Grid::new(self, step)?.run());
        let (fine, coarse, coarser) = (run(step / 2.0)?, run(step)?, run(2.0 * step)?);
        let change = |from: &Outcome, to: &Outcome| (to.throughput_bps - from.throughput_bps).abs();
        let changes = change(&coarser, &coarse) + change(&coarse, &fine);
        Ok(Outcome { error_bps: SAFETY * changes, ..fine })
    }
}

struct Grid<'a> {
    problem: &'a Problem,
    /// W_th after a loss, packets.
    ssthresh: f64,
    /// Height of a row, packets sent.
    height: f64,
    target: f64,
    windows: Vec<f64>,
    /// Transitions, by case, then by window.
    steps: Vec<Step>,
    ways: usize,
    /// Probabilities and moments, by row, then case, then window. The rows form a ring buffer that
    /// is long enough for the packets of one stage.
    masses: Vec<Mass>,
    /// Range of used windows (end exclusive), by row, then case.
    spans: Vec<(u32, u32)>,
    /// Number of stored rows.
    kept: usize,
    sums: Sums,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    ended: f64,
    packets: f64,
    time_s: f64,
    ratios: f64,
    inverses: f64,
    stages: f64,
    contentions: f64,
}

impl<'a> Grid<'a> {
    fn new(problem: &'a Problem, step: f64) -> Result<Grid<'a>, ModelError> {
        let (top, target) = (problem.max_window_packets, problem.target());
        // After a loss the window is at W_th, or below 2.
        let ssthresh = match problem.ssthresh {
            Ssthresh::Updated => 2.0,
            Ssthresh::Constant => problem.initial_ssthresh_packets,
        };
        let ways = if problem.can_queue() { WAYS } else { 1 };
        let is_lossy = problem.loss > 0.0;
        // Each point stores the mean number of packets sent, so the height of a row may exceed the
        // distance between windows. A stage sends at least one packet. Without losses there are no
        // points.
        let height = if is_lossy { (2.0 * step).min(1.0) } else { f64::INFINITY };
        // A stage after the first loss starts after the current row and sends at most half of the
        // window.
        let kept = (1.5 * top / height) + 3.0;
        let accepted = "smaller for this grid. Use Monte-Carlo, or a larger step";
        let mut windows = Vec::new();
        if is_lossy {
            require(kept <= MOST_KEPT, "max_window_packets", top, accepted)?;
            let most = problem.most_windows(step / 2.0);
            require(most <= MOST_KEPT, "max_window_packets", top, accepted)?;
            windows = problem.windows(ssthresh, step / 2.0);
        }
        let kept = (kept as usize).next_power_of_two();
        let width = (windows.len() * ways) as f64;
        require(kept as f64 * width <= MOST_KEPT, "max_window_packets", top, accepted)?;
        let points = target / height * width;
        require(points <= MOST_POINTS, "size_bytes", problem.size_bytes, accepted)?;
        let steps = (0..ways)
            .flat_map(|way| windows.iter().map(move |&window| (way, window)))
            .map(|(way, window)| match ways {
                1 => State { window, ..problem.first() },
                _ => problem.state_after(window, ssthresh, StageCase::of(way)),
            })
            .map(|state| problem.step(&windows, ssthresh, &state, ways))
            .collect();
        let masses = vec![Mass::default(); kept * windows.len() * ways];
        let spans = vec![EMPTY; kept * ways];
        let sums = Sums::default();
        Ok(Grid {
            problem,
            ssthresh,
            height,
            target,
            windows,
            steps,
            ways,
            masses,
            spans,
            kept,
            sums,
        })
    }

    fn run(mut self) -> Outcome {
        let problem = self.problem;
        let (mut state, mut mass) = (problem.first(), Mass::WHOLE);
        let rows = (self.target / self.height) as usize;
        for row in 0..=rows {
            // Processes the states before the first loss, up to this row.
            while mass.p() > 0.0 && self.row_of(&mass) <= row {
                let passed = problem.pass(&state);
                let window = state.window;
                self.count(mass.p(), state.contends);
                mass = mass.after(passed.rtt_s, window);
                if mass.sent() > self.target * mass.p() {
                    self.end(&mass);
                    mass = Mass::default();
                    break;
                }
                let arrives = if problem.loss == 0.0 { 1.0 } else { problem.arrives(window) };
                let lost = mass.times(1.0 - arrives);
                mass = mass.times(arrives);
                let (queue_s, contends) = (passed.queue_s, passed.was_idle());
                if lost.p() > 0.0 {
                    let window = problem.halve(window);
                    let state = State { window, ssthresh: self.ssthresh, queue_s, contends };
                    self.pass_one(row, &state, lost);
                }
                if mass.p() < LEAST {
                    mass = Mass::default();
                }
                state = State {
                    window: problem.grow(window, state.ssthresh),
                    queue_s,
                    contends,
                    ..state
                };
            }
            self.pass_row(row);
        }
        self.outcome()
    }

    /// Returns the row for the mean number of packets sent.
    #[inline]
    fn row_of(&self, mass: &Mass) -> usize {
        (mass.sent() / (mass.p() * self.height) + 1e-9) as usize
    }

    #[inline]
    fn share(&mut self, row: usize, (window, way): (Between, usize), mass: &Mass) {
        let line = (row & (self.kept - 1)) * self.ways + way;
        let (first, end) = self.spans[line];
        let last = window.place + usize::from(window.next > 0.0);
        self.spans[line] = (first.min(window.place as u32), end.max(last as u32 + 1));
        let at = line * self.windows.len() + window.place;
        if window.next > 0.0 {
            self.masses[at].add(&mass.times(1.0 - window.next));
            self.masses[at + 1].add(&mass.times(window.next));
        } else {
            self.masses[at].add(mass);
        }
    }

    fn count(&mut self, p: f64, contends: bool) {
        self.sums.stages += p;
        self.sums.contentions += if contends { p } else { 0.0 };
    }

    fn end(&mut self, mass: &Mass) {
        let inverse = mass.inverse();
        self.sums.ended += mass.p();
        self.sums.packets += mass.sent();
        self.sums.time_s += mass.time();
        self.sums.ratios += mass.sent() / mass.p() * inverse;
        self.sums.inverses += inverse;
    }

    /// Processes one stage for all points of `row`. All next states are in later rows.
    fn pass_row(&mut self, row: usize) {
        let width = self.windows.len();
        for way in 0..self.ways {
            let line = (row & (self.kept - 1)) * self.ways + way;
            let (first, end) = std::mem::replace(&mut self.spans[line], EMPTY);
            for place in first..end {
                let place = place as usize;
                let mass = std::mem::take(&mut self.masses[line * width + place]);
                if mass.p() > LEAST {
                    let step = self.steps[way * width + place];
                    self.pass(row, &step, mass);
                }
            }
        }
    }

    #[inline]
    fn pass(&mut self, row: usize, step: &Step, mass: Mass) {
        self.count(mass.p(), step.contends);
        let mass = mass.after(step.rtt_s, step.window);
        if mass.sent() > (self.target + 1e-9) * mass.p() {
            return self.end(&mass);
        }
        let row = self.row_of(&mass).max(row + 1);
        self.share(row, step.grown, &mass.times(step.arrives));
        if step.arrives < 1.0 {
            self.share(row, step.halved, &mass.times(1.0 - step.arrives));
        }
    }

    /// Processes one stage of the downloads that had their first loss in the previous stage. Unlike
    /// in [`Grid::pass`], the state is not a grid point.
    fn pass_one(&mut self, row: usize, state: &State, mass: Mass) {
        let step = self.problem.step(&self.windows, self.ssthresh, state, self.ways);
        self.pass(row, &step, mass);
    }

    fn outcome(&self) -> Outcome {
        let Sums { ended, packets, time_s, ratios, inverses, stages, contentions } = self.sums;
        let bits = 8.0 * self.problem.mss_bytes;
        let (ratios, inverses) = (ratios / ended, inverses / ended);
        Outcome {
            throughput_bps: bits * ratios,
            ratio_of_sums_bps: bits * packets / time_s,
            goodput_bps: 8.0 * self.problem.size_bytes * inverses,
            stages: stages / ended,
            contention_share: contentions / stages,
            error_bps: 0.0,
        }
    }
}

impl Problem {
    /// Computes the transition of a stage that starts at `state`.
    fn step(&self, windows: &[f64], ssthresh: f64, state: &State, ways: usize) -> Step {
        let &State { window, contends, .. } = state;
        let passed = self.pass(state);
        let (grown, halved) = match ways {
            1 => {
                let grown = between(windows, self.grow(window, ssthresh));
                ((grown, 0), (between(windows, self.halve(window)), 0))
            }
            _ => {
                let way = |lost| {
                    StageCase { lost, contended: contends, contends: passed.was_idle() }.number()
                };
                let point = between(windows, window);
                ((point, way(false)), (point, way(true)))
            }
        };
        let (rtt_s, arrives) = (passed.rtt_s, self.arrives(window));
        Step { window, rtt_s, contends, arrives, grown, halved }
    }

    /// Returns the initial state of a stage after a stage with the window `before` and the case
    /// `way`. If the queue drains, the remaining backlog does not depend on the backlog at the
    /// start of the previous stage.
    fn state_after(&self, before: f64, ssthresh: f64, way: StageCase) -> State {
        let window = if way.lost { self.halve(before) } else { self.grow(before, ssthresh) };
        let first = State { window: before, ssthresh, queue_s: 0.0, contends: way.contended };
        let StageResult { queue_s, .. } = self.pass(&first);
        State { window, ssthresh, queue_s, contends: way.contends }
    }
}
