//! Integrates the equations of the fluid model by the method of steps.
//!
//! Each slope depends only on values that are at least one delay old. With a step of at most half
//! the shortest delay, all these values are known. Simpson's rule over the slopes at the ends and
//! in the middle of a step is then the classical Runge–Kutta method (fourth order). Past values
//! between grid points come from cubic Hermite interpolation, which has the same order.
//!
//! Source: Eqs. 6 to 10 of the paper. The price follows Eq. 13 and is never negative. If the
//! windows do not fill the link, the queue is empty.

use super::ClampFluid;
use crate::error::{ModelError, require};

/// Number of steps in the shortest delay.
const STEPS: f64 = 16.0;
/// Maximum number of steps of a trajectory (minutes of computation).
const MOST_STEPS: f64 = 2e7;

/// Lifetime of a flow, and its initial window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Life {
    /// Time at which the flow sends its first byte, s.
    pub start_s: f64,
    /// Time at which the flow stops sending, s; infinite if the flow never stops.
    pub stop_s: f64,
    /// Initial window, bytes.
    pub window: f64,
}

/// Past values and slopes of a quantity at grid points, as far back as the delay requires.
#[derive(Debug, Clone)]
struct Past {
    /// Value and slope of each point; point n is at index n modulo the length.
    points: Vec<(f64, f64)>,
    /// Number of points so far.
    count: usize,
    step_s: f64,
    /// Value before the first point.
    before: f64,
}

impl Past {
    fn new(delay_s: f64, step_s: f64, before: f64) -> Past {
        let length = (delay_s / step_s).ceil() as usize + 3;
        Past { points: vec![(0.0, 0.0); length], count: 0, step_s, before }
    }

    fn push(&mut self, value: f64, slope: f64) {
        let length = self.points.len();
        self.points[self.count % length] = (value, slope);
        self.count += 1;
    }

    fn point(&self, number: usize) -> (f64, f64) {
        self.points[number % self.points.len()]
    }

    /// Returns the value `place` steps after the first point, which must not be after the last
    /// point.
    fn at(&self, place: f64) -> f64 {
        if place < 0.0 || self.count == 0 {
            return self.before;
        }
        let left = (place.floor() as usize).min(self.count.saturating_sub(2));
        let ((one, slope_one), x) = (self.point(left), place - left as f64);
        if x == 0.0 {
            return one;
        }
        let (two, slope_two) = self.point(left + 1);
        let (rest, h) = (1.0 - x, self.step_s);
        rest * rest * ((1.0 + 2.0 * x) * one + x * h * slope_one)
            + x * x * ((3.0 - 2.0 * x) * two - rest * h * slope_two)
    }
}

/// Integrator of the queue with constant, equal shares of the rate: Eq. 9 with μ_i = μ_c/k.
#[derive(Debug, Clone)]
pub struct ConstantShares<'a> {
    model: &'a ClampFluid,
    past: Past,
    queue: f64,
    step_s: f64,
}

impl<'a> ConstantShares<'a> {
    /// Creates an integrator whose queue length was `queue` bytes at all earlier times. The queue
    /// length may become negative, because the equation is linear.
    ///
    /// # Errors
    /// Fails if a parameter of the model is outside its range.
    pub fn new(model: &'a ClampFluid, queue: f64) -> Result<ConstantShares<'a>, ModelError> {
        model.require_ranges()?;
        let (shortest_s, longest_s) = extremes(&model.delays_s);
        let step_s = shortest_s / STEPS;
        let mut past = Past::new(longest_s, step_s, queue);
        past.push(queue, slope_of(model, |_| queue));
        Ok(ConstantShares { model, past, queue, step_s })
    }

    /// Advances one step. Returns the new queue length, bytes.
    pub fn advance(&mut self) -> f64 {
        let here = (self.past.count - 1) as f64;
        let slope = |place: f64| slope_of(self.model, |d| self.past.at(place - d / self.step_s));
        let (first, middle, last) = (slope(here), slope(here + 0.5), slope(here + 1.0));
        self.queue += self.step_s / 6.0 * (first + 4.0 * middle + last);
        self.past.push(self.queue, last);
        self.queue
    }

    /// Returns the length of a step, s.
    pub fn step_s(&self) -> f64 {
        self.step_s
    }
}

/// Returns dq/dt of Eq. 9; `queue(d)` returns the queue length, bytes, at the time d before now.
fn slope_of(model: &ClampFluid, queue: impl Fn(f64) -> f64) -> f64 {
    let flows = model.delays_s.len() as f64;
    let of_flow = |d: &f64| (model.tau - (model.b * queue(*d) - model.a) / flows) / d;
    model.delays_s.iter().map(of_flow).sum()
}

fn extremes(delays_s: &[f64]) -> (f64, f64) {
    let shortest_s = delays_s.iter().copied().fold(f64::INFINITY, f64::min);
    (shortest_s, delays_s.iter().copied().fold(0.0, f64::max))
}

/// Integrator of the closed model: windows, rates and queue.
#[derive(Debug, Clone)]
pub struct Trajectory<'a> {
    model: &'a ClampFluid,
    flows: Vec<Flow>,
    step_s: f64,
    /// Number of steps so far.
    steps: usize,
    /// Current queueing delay q/μ_c, s.
    wait_s: f64,
}

#[derive(Debug, Clone)]
struct Flow {
    /// First step in which the flow sends.
    start: f64,
    stop: f64,
    /// Delay d_i, steps.
    delay: f64,
    past: Past,
    window: f64,
    /// w_i(t − d_i): window at the sending time of the data that arrive now, bytes.
    arrived: f64,
    /// dw_i/dt at the last evaluated position.
    slope: f64,
}

impl Flow {
    fn is_there(&self, place: f64) -> bool {
        self.start <= place && place < self.stop
    }

    /// Returns the window at the sending time of the data that arrive now.
    fn arrived_at(&self, place: f64) -> f64 {
        let sent = place - self.delay;
        if self.is_there(sent) { self.past.at(sent - self.start) } else { 0.0 }
    }
}

impl<'a> Trajectory<'a> {
    /// Creates a trajectory with one lifetime per flow. Start and stop times are rounded to steps,
    /// 1/16 of the shortest delay.
    ///
    /// # Errors
    /// Fails if a parameter of the model is outside its range, or if the steps to `until_s` would
    /// take minutes.
    ///
    /// # Panics
    /// Panics if the number of lifetimes differs from the number of flows.
    pub fn new(
        model: &'a ClampFluid,
        lives: &[Life],
        until_s: f64,
    ) -> Result<Trajectory<'a>, ModelError> {
        model.require_ranges()?;
        assert_eq!(
            lives.len(),
            model.delays_s.len(),
            "the number of lifetimes equals the number of flows"
        );
        let step_s = extremes(&model.delays_s).0 / STEPS;
        let work = until_s / step_s * lives.len() as f64;
        let accepted = "at most 20 million steps of a sixteenth of the shortest delay, all flows \
                        together";
        require(work <= MOST_STEPS, "trajectory_s", until_s, accepted)?;
        let flow = |(life, delay_s): (&Life, &f64)| Flow {
            start: (life.start_s / step_s).round(),
            stop: (life.stop_s / step_s).round(),
            delay: delay_s / step_s,
            past: Past::new(*delay_s, step_s, 0.0),
            window: life.window,
            arrived: 0.0,
            slope: 0.0,
        };
        let flows = lives.iter().zip(&model.delays_s).map(flow).collect();
        let mut trajectory = Trajectory { model, flows, step_s, steps: 0, wait_s: 0.0 };
        trajectory.look(0.0);
        trajectory.keep();
        Ok(trajectory)
    }

    /// Returns the current time, s.
    pub fn now_s(&self) -> f64 {
        self.steps as f64 * self.step_s
    }

    /// Returns the length of a step, s.
    pub fn step_s(&self) -> f64 {
        self.step_s
    }

    /// Returns the queue length q, bytes.
    pub fn queue(&self) -> f64 {
        self.wait_s * self.model.rate
    }

    /// Returns the price p, s (Eq. 13).
    pub fn price_s(&self) -> f64 {
        (self.model.b * self.wait_s - self.model.a / self.model.rate).max(0.0)
    }

    /// Returns the rate μ_i of a flow, bytes/s.
    pub fn flow_rate(&self, flow: usize) -> f64 {
        self.flows[flow].arrived / (self.model.delays_s[flow] + self.wait_s)
    }

    /// Returns the window w_i of a flow, bytes; 0 for an inactive flow.
    pub fn window(&self, flow: usize) -> f64 {
        let flow = &self.flows[flow];
        if flow.is_there(self.steps as f64) { flow.window } else { 0.0 }
    }

    /// Advances one step.
    pub fn advance(&mut self) {
        let here = self.steps as f64;
        let sixth = self.step_s / 6.0;
        for (place, weight) in [(here, 1.0), (here + 0.5, 4.0), (here + 1.0, 1.0)] {
            self.look(place);
            for flow in self.flows.iter_mut().filter(|flow| flow.is_there(here)) {
                flow.window += weight * sixth * flow.slope;
            }
        }
        self.steps += 1;
        self.keep();
    }

    /// Computes arrivals, queueing delay and slopes at position `place`, steps.
    fn look(&mut self, place: f64) {
        for flow in &mut self.flows {
            flow.arrived = flow.arrived_at(place);
        }
        self.wait_s = self.solve_wait_s();
        let price_s = self.price_s();
        for (flow, d) in self.flows.iter_mut().zip(&self.model.delays_s) {
            flow.slope = (self.model.tau - price_s * flow.arrived / (d + self.wait_s)) / d;
        }
    }

    fn keep(&mut self) {
        let place = self.steps as f64;
        for flow in self.flows.iter_mut().filter(|flow| flow.is_there(place)) {
            flow.past.push(flow.window, flow.slope);
        }
    }

    /// Solves Eq. 10 for q/μ_c: Σ w_i(t − d_i)/(d_i + q/μ_c) = μ_c. Returns 0 if the sum is below
    /// μ_c even at q = 0. The sum decreases with q and is convex, so Newton's method from the left
    /// never overshoots.
    fn solve_wait_s(&self) -> f64 {
        let excess = |wait_s: f64| {
            let flows = self.flows.iter().zip(&self.model.delays_s);
            flows.fold((-self.model.rate, 0.0), |(sum, slope), (flow, d)| {
                let rate = flow.arrived / (d + wait_s);
                (sum + rate, slope - rate / (d + wait_s))
            })
        };
        let mut wait_s = self.wait_s;
        if excess(wait_s).0 < 0.0 {
            wait_s = 0.0;
        }
        loop {
            let (sum, slope) = excess(wait_s);
            if sum <= 1e-13 * self.model.rate {
                return wait_s;
            }
            wait_s -= sum / slope;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    fn model(b: f64, delays_s: &[f64]) -> ClampFluid {
        let delays_s = delays_s.to_vec();
        ClampFluid { rate: 1.25e6, a: 5500.0, b, tau: 500.0, delays_s }
    }

    fn forever(window: f64) -> Life {
        Life { start_s: 0.0, stop_s: f64::INFINITY, window }
    }

    #[test]
    fn the_integration_ends_at_the_equilibrium_of_equation_11() {
        for flows in [1, 2, 3, 8] {
            for b in [1.0, 1.4] {
                let model = model(b, &vec![0.05; flows]);
                let lives: Vec<Life> =
                    (0..flows).map(|number| forever(1500.0 + 9000.0 * number as f64)).collect();
                let mut found = Trajectory::new(&model, &lives, 120.0).unwrap();
                while found.now_s() < 120.0 {
                    found.advance();
                }
                let expected = (flows as f64 * 500.0 + 5500.0) / b;
                assert!(
                    (found.queue() / expected - 1.0).abs() < 1e-3,
                    "{flows}: {}",
                    found.queue()
                );
                for flow in 0..flows {
                    let share = found.flow_rate(flow) * flows as f64 / 1.25e6;
                    assert!((share - 1.0).abs() < 1e-3, "{flows}, flow {flow}: {share}");
                }
            }
        }
    }

    /// Returns the growth of the queue's oscillation in the second half of a run of `rtts` times
    /// the longest delay; above 1 the oscillation grows. Differences over the shortest delay are
    /// used, because they hide the slow equalization of the shares.
    fn growth(model: &ClampFluid, rtts: f64, is_closed: bool) -> f64 {
        let rest = model.equilibrium().unwrap();
        let until_s = rtts * extremes(&model.delays_s).1;
        let (mut largest, mut queues) = ([0.0f64; 4], Vec::new());
        let mut see = |now_s: f64, queue: f64| {
            let quarter = ((4.0 * now_s / until_s) as usize).min(3);
            queues.push(queue);
            let earlier = queues.len().checked_sub(1 + STEPS as usize).map(|at| queues[at]);
            largest[quarter] = largest[quarter].max((queue - earlier.unwrap_or(queue)).abs());
        };
        if is_closed {
            // All flows start at time 0, with windows that differ slightly from the equilibrium.
            let start = |(number, d): (usize, &f64)| Life {
                start_s: 0.0,
                stop_s: f64::INFINITY,
                window: rest.window(*d) * (1.0 + 1e-8 * (1.0 + number as f64)),
            };
            let lives: Vec<Life> = model.delays_s.iter().enumerate().map(start).collect();
            let mut found = Trajectory::near_rest(model, &lives);
            while found.now_s() < until_s {
                found.advance();
                see(found.now_s(), found.queue());
            }
        } else {
            let mut found = ConstantShares::new(model, rest.queue * 1.001).unwrap();
            let mut now_s = 0.0;
            while now_s < until_s {
                let queue = found.advance();
                now_s += found.step_s();
                see(now_s, queue);
            }
        }
        largest[3] / largest[1]
    }

    impl<'a> Trajectory<'a> {
        /// Creates a trajectory in which the windows were constant before the start.
        fn near_rest(model: &'a ClampFluid, lives: &[Life]) -> Trajectory<'a> {
            let mut found = Trajectory::new(model, lives, 0.0).unwrap();
            for flow in &mut found.flows {
                flow.past.before = flow.window;
                flow.start = f64::NEG_INFINITY;
                flow.past.count = 0;
            }
            let longest = extremes(&model.delays_s).1 / found.step_s;
            for flow in &mut found.flows {
                flow.start = -(longest.ceil() + 2.0);
                for _ in 0..=(longest.ceil() as usize + 2) {
                    flow.past.push(flow.window, 0.0);
                }
            }
            found.look(0.0);
            found
        }
    }

    #[test]
    fn theorem_1_oscillation_grows_only_above_half_pi() {
        for (b, grows) in [(0.99 * FRAC_PI_2, false), (1.01 * FRAC_PI_2, true)] {
            for is_closed in [false, true] {
                for delays_s in [vec![0.05], vec![0.05; 3]] {
                    let found = growth(&model(b, &delays_s), 400.0, is_closed);
                    assert_eq!(found > 1.0, grows, "{b} {is_closed} {delays_s:?}: {found}");
                }
            }
        }
    }

    #[test]
    fn oscillation_with_unequal_delays_grows_only_above_the_limit() {
        for delays_s in [[0.05, 0.1], [0.05, 0.15], [0.05, 0.5], [0.012, 0.182], [0.032, 0.132]] {
            let limit = model(1.0, &delays_s).limit().unwrap();
            for (is_closed, limit) in [(false, limit.constant_shares), (true, limit.closed)] {
                let limit = limit.expect("the model has a limit");
                for (b, grows) in [(0.99 * limit, false), (1.01 * limit, true)] {
                    let found = growth(&model(b, &delays_s), 400.0, is_closed);
                    assert_eq!(found > 1.0, grows, "{delays_s:?} {is_closed} {b}: {found}");
                }
            }
        }
    }

    #[test]
    fn integration_error_is_of_fourth_order() {
        // The solution of dq/dt = −q(t − 1) with q = 1 up to t = 0 is a polynomial in each interval
        // of length 1: first 1 − t, then (2 − t)²/2 … − 1/2.
        let model = ClampFluid { rate: 1.0, a: 0.0, b: 1.0, tau: 1e-300, delays_s: vec![1.0] };
        let mut found = ConstantShares::new(&model, 1.0).unwrap();
        let mut values = vec![1.0];
        for _ in 0..48 {
            values.push(found.advance());
        }
        for (place, value) in values.into_iter().enumerate() {
            let t = place as f64 / STEPS;
            let terms =
                [1.0, -t, (t - 1.0).max(0.0).powi(2) / 2.0, -(t - 2.0).max(0.0).powi(3) / 6.0];
            let exact: f64 = terms.into_iter().sum();
            assert!((value - exact).abs() < 1e-12, "{t}: {value}, not {exact}");
        }
    }

    #[test]
    fn flows_start_and_stop_and_an_underused_link_has_no_queue() {
        let model = model(1.0, &[0.05, 0.08]);
        let second = Life { start_s: 20.0, stop_s: 60.0, window: 1500.0 };
        let mut found = Trajectory::new(&model, &[forever(1500.0), second], 100.0).unwrap();
        let mut seen = Vec::new();
        for time_s in [0.0, 0.04, 2.0, 19.9, 59.9, 99.9] {
            while found.now_s() < time_s {
                found.advance();
            }
            seen.push((found.queue(), found.flow_rate(0), found.flow_rate(1), found.window(1)));
        }
        assert_eq!(seen[1], (0.0, 0.0, 0.0, 0.0)); // no packet has made a full round trip yet
        assert!(seen[2].0 == 0.0 && seen[2].1 < 1.25e6 && seen[2].1 > 1e5, "{:?}", seen[2]);
        assert!((seen[3].0 / 6000.0 - 1.0).abs() < 1e-3, "{:?}", seen[3]);
        assert!((seen[4].0 / 6500.0 - 1.0).abs() < 1e-2, "{:?}", seen[4]);
        assert!((seen[4].2 / 625e3 - 1.0).abs() < 1e-2, "{:?}", seen[4]);
        assert!((seen[5].0 / 6000.0 - 1.0).abs() < 1e-3 && seen[5].3 == 0.0, "{:?}", seen[5]);
    }

    #[test]
    fn trajectory_of_too_many_steps_is_rejected() {
        let model = model(1.0, &[1e-9]);
        let error = Trajectory::new(&model, &[forever(1500.0)], 30.0).unwrap_err();
        assert!(error.to_string().starts_with("trajectory_s = 30: must be at most 20"), "{error}");
    }
}
