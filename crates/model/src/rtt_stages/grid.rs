//! The law of window and sent packets, propagated stage by stage on a grid.
//!
//! Before the first loss there is one path, which is followed exactly. After it the state is the window, the
//! packets sent, and, where there can be backlog, what the queue and the next request follow from: how
//! the window came to be what it is, and which request the stage before had. W_th needs no dimension: after
//! a loss the window is at W_th or below 2. What lies between points of the grid is shared out to
//! them, so that means are kept. Of the time, each point has the mean and the variance; of a given number of
//! stages they are exact where there is no backlog.

use super::stage::{State, is_slow};
use super::{Outcome, Problem, Queue, Ssthresh};
use crate::error::{ModelError, require};

/// Probabilities below this are forgotten; what is left is the whole.
const LEAST: f64 = 1e-12;

/// What made the window of a stage from that of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    Doubled,
    Increased,
    Halved,
}

/// How the window came to be what it is, and the requests of the stage before and of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    came: Came,
    contended: bool,
    contends: bool,
}

/// All ways, where there can be backlog.
const WAYS: usize = 12;
/// The largest grid, points.
const MOST_POINTS: f64 = (1u32 << 25) as f64;

impl Way {
    fn of(number: usize) -> Way {
        let came = [Came::Doubled, Came::Increased, Came::Halved][number / 4];
        Way { came, contended: number & 1 != 0, contends: number & 2 != 0 }
    }

    fn number(self) -> usize {
        4 * self.came as usize + usize::from(self.contended) + 2 * usize::from(self.contends)
    }
}

/// How far below W_th the last point of slow start is, packets.
const JUST_BELOW: f64 = 1e-6;

/// A row without a point in use.
const EMPTY: (u32, u32) = (u32::MAX, 0);

/// Probability at a point, and of the time up to there the sums of t and t², weighted by it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mass {
    p: f64,
    t: f64,
    t2: f64,
}

impl Mass {
    /// The same `rtt_s` later.
    #[inline]
    fn after(self, rtt_s: f64) -> Mass {
        let Mass { p, t, t2 } = self;
        Mass { p, t: t + p * rtt_s, t2: t2 + 2.0 * t * rtt_s + p * rtt_s * rtt_s }
    }

    #[inline]
    fn times(self, share: f64) -> Mass {
        Mass { p: self.p * share, t: self.t * share, t2: self.t2 * share }
    }

    #[inline]
    fn add(&mut self, other: Mass) {
        self.p += other.p;
        self.t += other.t;
        self.t2 += other.t2;
    }

    /// E(1/t), times the probability, by the first two moments.
    #[inline]
    fn inverse(self) -> f64 {
        let mean = self.t / self.p;
        let spread = (self.t2 / self.p / (mean * mean) - 1.0).max(0.0);
        self.p / mean * (1.0 + spread)
    }
}

/// A point, and how much of a value belongs to the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Between {
    place: usize,
    next: f64,
}

/// What follows a stage at a window.
#[derive(Clone, Copy, Debug)]
struct Step {
    window: f64,
    /// Of the packets sent.
    sent: Between,
    /// Probability that none is lost, and the windows after that and otherwise.
    arrives: f64,
    growth: Came,
    grown: Between,
    halved: Between,
}

impl Problem {
    /// The law on grids of the steps `step` and half of it, packets (1/64 to 1), extrapolated to none; the
    /// difference of the two is given as the error.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] when a value is outside its range, or the window can make a queue that
    /// never drains, or the grid would be larger than 2²⁵ points.
    pub fn grid(&self, step: f64) -> Result<Outcome, ModelError> {
        self.validate()?;
        require((1.0 / 64.0..=1.0).contains(&step), "step", step, "from 1/64 to 1 packet")?;
        if self.can_queue() && self.queue == Queue::Literal {
            let accepted = "small enough for no backlog, or the queue draining, or by Monte-Carlo";
            require(false, "max_window_packets", self.max_window_packets, accepted)?;
        }
        let doubled = self.initial_ssthresh_packets * (1.0 / self.packets_per_ack).exp2();
        if self.can_queue() && self.ssthresh == Ssthresh::Constant {
            let accepted = "small enough for slow start to end below W_max, or by Monte-Carlo";
            let is_below = doubled <= self.max_window_packets;
            require(is_below, "initial_ssthresh_packets", self.initial_ssthresh_packets, accepted)?;
        }
        let ways = if self.can_queue() { WAYS } else { 1 };
        let rows = (self.target() + self.max_window_packets) * 2.0 / step;
        let points = rows * (self.max_window_packets * 2.0 / step) * ways as f64;
        let accepted = "smaller for this grid. Use Monte-Carlo, or a larger step";
        require(points <= MOST_POINTS, "size_bytes", self.size_bytes, accepted)?;
        let (coarse, fine) = (Grid::new(self, step).run(), Grid::new(self, step / 2.0).run());
        // What is shared out between points makes an error in proportion to their distance.
        let limit = |of: fn(&Outcome) -> f64| 2.0 * of(&fine) - of(&coarse);
        Ok(Outcome {
            throughput_bps: limit(|of| of.throughput_bps),
            ratio_of_sums_bps: limit(|of| of.ratio_of_sums_bps),
            goodput_bps: limit(|of| of.goodput_bps),
            stages: limit(|of| of.stages),
            contention_share: limit(|of| of.contention_share).clamp(0.0, 1.0),
            error_bps: (fine.throughput_bps - coarse.throughput_bps).abs(),
        })
    }
}

struct Grid<'a> {
    problem: &'a Problem,
    step: f64,
    target: f64,
    windows: Vec<f64>,
    steps: Vec<Step>,
    ways: usize,
    /// By packets sent, then window, then way.
    masses: Vec<Mass>,
    /// The packets sent of the points in use: from, and to before.
    used: (usize, usize),
    /// The same of the windows, by packets sent.
    spans: Vec<(u32, u32)>,
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
    fn new(problem: &'a Problem, step: f64) -> Grid<'a> {
        let top = problem.max_window_packets;
        // After a loss the window is at W_th, or below 2.
        let ssthresh = match problem.ssthresh {
            Ssthresh::Updated => 2.0,
            Ssthresh::Constant => problem.initial_ssthresh_packets,
        };
        let windows = windows(top, ssthresh, step);
        let step_of = |&window: &f64| Step {
            window,
            sent: split(window / step),
            arrives: problem.arrives(window),
            growth: if is_slow(window, ssthresh) { Came::Doubled } else { Came::Increased },
            grown: between(&windows, problem.grow(window, ssthresh)),
            halved: between(&windows, problem.halve(window)),
        };
        let steps: Vec<Step> = windows.iter().map(step_of).collect();
        let target = problem.target();
        let ways = if problem.can_queue() { WAYS } else { 1 };
        let rows = ((target + top) / step) as usize + 4;
        let masses = vec![Mass::default(); rows * steps.len() * ways];
        let (used, sums) = ((usize::MAX, 0), Sums::default());
        let spans = vec![EMPTY; rows];
        Grid { problem, step, target, windows, steps, ways, masses, used, spans, sums }
    }

    fn run(mut self) -> Outcome {
        let problem = self.problem;
        let (mut state, mut sent, mut mass) =
            (problem.first(), 0.0, Mass { p: 1.0, t: 0.0, t2: 0.0 });
        while mass.p > 0.0 || self.used.0 < self.used.1 {
            if self.used.0 < self.used.1 {
                self.pass_all();
            }
            if mass.p <= 0.0 {
                continue;
            }
            let passed = problem.pass(&state);
            self.count(mass.p, state.contends);
            let (contended, window) = (state.contends, state.window);
            mass = mass.after(passed.rtt_s);
            sent += window;
            if sent > self.target {
                self.end(mass, sent);
                mass = Mass::default();
                continue;
            }
            let arrives = if problem.loss == 0.0 { 1.0 } else { problem.arrives(window) };
            let halved = problem.halve(window);
            let way = Way { came: Came::Halved, contended, contends: passed.was_idle };
            self.put(sent, halved, way, mass.times(1.0 - arrives));
            mass = mass.times(arrives);
            if mass.p < LEAST {
                mass = Mass::default();
            }
            state = State {
                window: problem.grow(window, state.ssthresh),
                queue_s: passed.queue_s,
                contends: passed.was_idle,
                ..state
            };
        }
        self.outcome()
    }

    /// Puts `mass` at a point between those of the grid.
    fn put(&mut self, sent: f64, window: f64, way: Way, mass: Mass) {
        if mass.p <= 0.0 {
            return;
        }
        let row = split(sent / self.step);
        self.share(row, between(&self.windows, window), way, mass);
    }

    #[inline]
    fn share(&mut self, row: Between, window: Between, way: Way, mass: Mass) {
        let way = if self.ways == 1 { 0 } else { way.number() };
        let width = self.steps.len();
        for (row, of_row) in [(row.place, 1.0 - row.next), (row.place + 1, row.next)] {
            if of_row == 0.0 {
                continue;
            }
            self.used = (self.used.0.min(row), self.used.1.max(row + 1));
            for (place, of_place) in
                [(window.place, 1.0 - window.next), (window.place + 1, window.next)]
            {
                if of_place > 0.0 {
                    let span = &mut self.spans[row];
                    *span = (span.0.min(place as u32), span.1.max(place as u32 + 1));
                    let at = (row * width + place) * self.ways + way;
                    self.masses[at].add(mass.times(of_row * of_place));
                }
            }
        }
    }

    fn count(&mut self, p: f64, contends: bool) {
        self.sums.stages += p;
        self.sums.contentions += if contends { p } else { 0.0 };
    }

    fn end(&mut self, mass: Mass, sent: f64) {
        self.sums.ended += mass.p;
        let inverse = mass.inverse();
        self.sums.packets += mass.p * sent;
        self.sums.time_s += mass.t;
        self.sums.ratios += sent * inverse;
        self.sums.inverses += inverse;
    }

    /// A stage of everything. Mass moves to more packets, so that what has moved is not met again when
    /// the rows are gone through from the last.
    fn pass_all(&mut self) {
        let (from, until) = std::mem::replace(&mut self.used, (usize::MAX, 0));
        let width = self.steps.len();
        for row in (from..until).rev() {
            let (first, end) = std::mem::replace(&mut self.spans[row], EMPTY);
            for place in first..end {
                let place = place as usize;
                for way in 0..self.ways {
                    let at = (row * width + place) * self.ways + way;
                    let mass = std::mem::take(&mut self.masses[at]);
                    if mass.p > LEAST {
                        self.pass(row, place, way, mass);
                    }
                }
            }
        }
    }

    #[inline]
    fn pass(&mut self, row: usize, place: usize, way: usize, mass: Mass) {
        let problem = self.problem;
        let Step { window, sent, arrives, growth, grown, halved } = self.steps[place];
        let way = if self.ways == 1 {
            Way { came: Came::Increased, contended: true, contends: true }
        } else {
            Way::of(way)
        };
        let queue_s = if self.ways == 1 { 0.0 } else { self.queue_of(window, way) };
        let state = State { window, ssthresh: 0.0, queue_s, contends: way.contends };
        let passed = problem.pass(&state);
        self.count(mass.p, way.contends);
        let mass = mass.after(passed.rtt_s);
        let row = Between { place: row + sent.place, next: sent.next };
        let packets = (row.place as f64 + row.next) * self.step;
        if packets > self.target + 1e-9 {
            return self.end(mass, packets);
        }
        let next = |came| Way { came, contended: way.contends, contends: passed.was_idle };
        self.share(row, grown, next(growth), mass.times(arrives));
        if arrives < 1.0 {
            self.share(row, halved, next(Came::Halved), mass.times(1.0 - arrives));
        }
    }

    /// t_q of a stage of `window`, from the stage before: its window follows from this one.
    #[inline]
    fn queue_of(&self, window: f64, way: Way) -> f64 {
        let problem = self.problem;
        let (top, b) = (problem.max_window_packets, problem.packets_per_ack);
        let before = match way.came {
            Came::Halved => (2.0 * window).min(top),
            Came::Increased if window >= top => top,
            Came::Increased => window - 1.0 / b,
            Came::Doubled => window / (1.0 / b).exp2(),
        };
        let waited = problem.base_rtt_s + problem.request_s(way.contended);
        ((before - 1.0) * problem.packet_s() - waited).max(0.0)
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

/// The windows of the grid: from 1 to `top`, with a point at W_th and one just below it, so that what
/// is in slow start stays so.
fn windows(top: f64, ssthresh: f64, step: f64) -> Vec<f64> {
    let count = ((top - 1.0) / step).ceil() as usize + 1;
    let mut windows: Vec<f64> =
        (0..count).map(|place| (1.0 + place as f64 * step).min(top)).collect();
    if 1.0 < ssthresh && ssthresh < top {
        windows.extend([ssthresh - JUST_BELOW, ssthresh]);
        windows.sort_unstable_by(f64::total_cmp);
        windows.dedup();
    }
    windows
}

/// A window between those of the grid.
fn between(windows: &[f64], window: f64) -> Between {
    let place = windows.partition_point(|point| *point <= window).max(1) - 1;
    match windows.get(place + 1) {
        Some(next) => {
            let next = (window - windows[place]) / (next - windows[place]);
            Between { place, next: next.clamp(0.0, 1.0) }
        }
        None => Between { place, next: 0.0 },
    }
}

/// A value between whole numbers.
fn split(value: f64) -> Between {
    let place = value as usize;
    let next = value - place as f64;
    // What is a whole number by algebra is one.
    if next < 1e-9 {
        Between { place, next: 0.0 }
    } else if next > 1.0 - 1e-9 {
        Between { place: place + 1, next: 0.0 }
    } else {
        Between { place, next }
    }
}
