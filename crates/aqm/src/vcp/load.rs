//! The load factor of a VCP router: the bytes that arrived in an interval and the persistent queue,
//! divided by the bytes that the link can carry.
//!
//! Source: vcp-2005 §3.2, Table 1. The methods for the average queue are from the authors' package
//! for ns-2.

use airpath_core::{Duration, Ecn, Time};
use serde::Deserialize;

/// Weight of an interval's mean in the average queue.
const WEIGHT: f64 = 0.25;
/// Divisor of the interval's mean in the authors' package.
const PUBLIC_DIVISOR: f64 = 16.0;
/// Largest distance, bytes, at which a value counts as equal to its limit.
const NEAR: f64 = 1e-6;
/// Weight of the previous interval in the measured capacity.
const KEPT: f64 = 0.75;
/// Assumed capacity of a link with rate 0, bytes/s.
const LEAST_CAPACITY: f64 = 1.0;

/// Computation of the persistent queue q̃ from the samples of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VcpAverage {
    /// Exponentially weighted average of the interval means; a new mean has the weight 1/4.
    Ewma,
    /// Mean of the last interval, divided by 16. The authors' package computes this value, although
    /// the average of `Ewma` is intended.
    PublicCode,
}

/// Returns the persistent queue q̃ after an interval whose samples have the mean `mean`.
pub fn vcp_average_queue(average: f64, mean: f64, kind: VcpAverage) -> f64 {
    match kind {
        VcpAverage::PublicCode => mean / PUBLIC_DIVISOR,
        VcpAverage::Ewma => {
            let next = average + WEIGHT * (mean - average);
            if libm::fabs(next - mean) < NEAR { mean } else { next }
        }
    }
}

/// Returns the load factor ρ = (λ + κ_q q̃) / (γ C t_ρ). `arrived` is λ and `queue` is κ_q q̃, both
/// in bytes; `capacity` is C in bytes/s; `target` is γ; `interval_s` is t_ρ.
pub fn vcp_load_factor(
    arrived: f64,
    queue: f64,
    capacity: f64,
    target: f64,
    interval_s: f64,
) -> f64 {
    (arrived + queue) / (target * capacity.max(LEAST_CAPACITY) * interval_s)
}

/// Returns the code of a load factor: low load below `low`, overload at 1 and above, otherwise high
/// load.
pub fn vcp_code(load: f64, low: f64) -> Ecn {
    if load < low {
        Ecn::Ect1
    } else if load < 1.0 {
        Ecn::Ect0
    } else {
        Ecn::Ce
    }
}

/// Constants of the load factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadSettings {
    /// Target utilisation γ.
    pub(super) target: f64,
    /// Time t_q between samples.
    pub(super) sampling: Duration,
    /// Samples per interval: t_ρ / t_q.
    pub(super) samples: u64,
    /// Weight κ_q of the persistent queue.
    pub(super) queue_weight: f64,
    /// Load factor at which low load changes to high load.
    pub(super) low: f64,
    pub(super) average: VcpAverage,
}

/// Sums over the intervals since measurement started.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    intervals: u64,
    load: f64,
    /// Sum of the squared loads.
    squares: f64,
    capacity: f64,
    /// Number of intervals with code low, high, overload.
    codes: [u64; 3],
}

/// Bytes served by the link, and the busy time.
#[derive(Clone, Copy, Debug, Default)]
struct Service {
    /// Decayed sums over previous intervals: served bytes, and busy time in s.
    bytes: f64,
    busy_s: f64,
    /// Bytes served in this interval.
    new_bytes: u64,
    new_busy: Duration,
    /// Start of the current busy period in this interval; `None` while idle.
    since: Option<Time>,
}

/// Load factor and its timers. The timers are checked only when a packet changes the state.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    settings: LoadSettings,
    interval_s: f64,
    /// Nominal capacity C, bytes/s.
    nominal: f64,
    /// Service of the link; `None` if the capacity is not measured.
    service: Option<Service>,
    /// Time of the next sample.
    next: Time,
    /// Number of samples in this interval.
    samples: u64,
    /// Sum of these samples, bytes.
    sum: f64,
    /// Arrived bytes λ of this interval.
    arrived: u64,
    /// Average queue q̃, bytes.
    pub(super) average: f64,
    load: f64,
    code: Ecn,
    sums: Sums,
}

impl Meter {
    pub(super) fn new(settings: LoadSettings, nominal: f64, is_measured: bool) -> Meter {
        let interval_s = settings.sampling.as_secs_lossy() * settings.samples as f64;
        Meter {
            settings,
            interval_s,
            nominal,
            service: is_measured.then(Service::default),
            next: Time::ZERO + settings.sampling,
            samples: 0,
            sum: 0.0,
            arrived: 0,
            average: 0.0,
            load: 0.0,
            code: Ecn::Ect1,
            sums: Sums::default(),
        }
    }

    pub(super) fn load(&self) -> f64 {
        self.load
    }

    #[inline]
    pub(super) fn code(&self) -> Ecn {
        self.code
    }

    pub(super) fn set_nominal(&mut self, rate: f64) {
        self.nominal = rate;
    }

    #[inline]
    pub(super) fn note_arrival(&mut self, bytes: u64) {
        self.arrived += bytes;
    }

    #[inline]
    pub(super) fn is_measuring(&self) -> bool {
        self.service.is_some()
    }

    pub(super) fn note_served(&mut self, bytes: u64) {
        if let Some(service) = &mut self.service {
            service.new_bytes += bytes;
        }
    }

    /// Records the start or the end of a busy period.
    pub(super) fn note_work(&mut self, is_busy: bool, now: Time) {
        let Some(service) = &mut self.service else { return };
        match service.since {
            None if is_busy => service.since = Some(now),
            Some(since) if !is_busy => {
                service.new_busy += now.saturating_since(since);
                service.since = None;
            }
            _ => {}
        }
    }

    /// Capacity C, bytes/s.
    pub(super) fn capacity(&self) -> f64 {
        match self.service {
            Some(Service { bytes, busy_s, .. }) if busy_s > 0.0 => bytes / busy_s,
            _ => self.nominal,
        }
    }

    /// Returns true if a sample is due.
    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// Takes the samples that are due by `now` and ends the intervals. `queue` is the number of
    /// waiting bytes since the last sample. Returns true if an interval has ended. If a sample and
    /// an arrival have the same time, the sample is taken first.
    #[inline(never)]
    pub(super) fn advance(&mut self, queue: u64, now: Time) -> bool {
        let mut has_ended = false;
        while self.next <= now {
            let missing = self.settings.samples - self.samples;
            let due = self.samples_until(now).min(missing);
            self.samples += due;
            self.sum += due as f64 * queue as f64;
            let last = self.next_after(due - 1);
            self.next = self.next_after(due);
            if due < missing {
                break;
            }
            has_ended = true;
            let was_at_rest = self.arrived == 0;
            let before = (self.average, self.service);
            self.end_interval(last);
            if was_at_rest && self.is_as(before) {
                self.repeat_interval(now);
            }
            if self.next.is_never() {
                break;
            }
        }
        has_ended
    }

    /// Number of samples that are due by `now`, at least one.
    fn samples_until(&self, now: Time) -> u64 {
        now.saturating_since(self.next).as_nanos() / self.settings.sampling.as_nanos() + 1
    }

    fn next_after(&self, samples: u64) -> Time {
        let passed = self.settings.sampling.as_nanos().saturating_mul(samples);
        Time::from_nanos(self.next.as_nanos().saturating_add(passed))
    }

    /// Returns true if the average queue and the measured rates equal the given values. The next
    /// interval without arrivals then has the same load.
    fn is_as(&self, (average, service): (f64, Option<Service>)) -> bool {
        let rates = |service: Option<Service>| service.map(|s| (s.bytes, s.busy_s));
        self.average == average && rates(self.service) == rates(service)
    }

    fn end_interval(&mut self, now: Time) {
        if let Some(service) = &mut self.service {
            service.end_interval(now);
        }
        let mean = self.sum / self.settings.samples as f64;
        self.average = vcp_average_queue(self.average, mean, self.settings.average);
        let LoadSettings { target, queue_weight, low, .. } = self.settings;
        let queue = queue_weight * self.average;
        let capacity = self.capacity();
        self.load = vcp_load_factor(self.arrived as f64, queue, capacity, target, self.interval_s);
        self.code = vcp_code(self.load, low);
        (self.arrived, self.samples, self.sum) = (0, 0, 0.0);
        self.count_intervals(1);
    }

    /// Counts further complete intervals until `now`, each with the load of the last interval.
    fn repeat_interval(&mut self, now: Time) {
        if self.next > now {
            return;
        }
        let whole = self.samples_until(now) / self.settings.samples;
        let samples = whole.saturating_mul(self.settings.samples);
        let span = self.settings.sampling.as_nanos().saturating_mul(samples);
        self.next = self.next_after(samples);
        if let Some(since) = self.service.as_mut().and_then(|service| service.since.as_mut()) {
            *since = *since + Duration::from_nanos(span);
        }
        self.count_intervals(whole);
    }

    fn count_intervals(&mut self, intervals: u64) {
        let (capacity, count) = (self.capacity(), intervals as f64);
        let sums = &mut self.sums;
        sums.intervals += intervals;
        sums.load += count * self.load;
        sums.squares += count * self.load * self.load;
        sums.capacity += count * capacity;
        let code = match self.code {
            Ecn::NotEct | Ecn::Ect1 => 0,
            Ecn::Ect0 => 1,
            Ecn::Ce => 2,
        };
        sums.codes[code] += intervals;
    }

    pub(super) fn restart_measurement(&mut self) {
        self.sums = Sums::default();
    }

    pub(super) fn measured(&self) -> Vec<(&'static str, Option<f64>)> {
        let Sums { intervals, load, squares, capacity, codes } = self.sums;
        let mean_of = |sum: f64| (intervals > 0).then(|| sum / intervals as f64);
        let (mean, mean_square) = (mean_of(load), mean_of(squares));
        let deviation =
            mean.zip(mean_square).map(|(mean, square)| libm::sqrt((square - mean * mean).max(0.0)));
        let mut all = vec![("vcp_load_factor", mean), ("vcp_load_deviation", deviation)];
        let names = ["vcp_low_share", "vcp_high_share", "vcp_overload_share"];
        all.extend(names.into_iter().zip(codes.map(|count| mean_of(count as f64))));
        if self.is_measuring() {
            all.push(("vcp_capacity_bps", mean_of(8.0 * capacity)));
        }
        all
    }
}

impl Service {
    fn end_interval(&mut self, now: Time) {
        if let Some(since) = &mut self.since {
            self.new_busy += now.saturating_since(*since);
            *since = now;
        }
        if self.new_busy > Duration::ZERO {
            let bytes = KEPT * self.bytes + self.new_bytes as f64;
            self.bytes = if bytes < NEAR { 0.0 } else { bytes };
            self.busy_s = KEPT * self.busy_s + self.new_busy.as_secs_lossy();
        }
        (self.new_bytes, self.new_busy) = (0, Duration::ZERO);
    }
}
