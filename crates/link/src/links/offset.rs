//! Offset: position in a trace at which a run starts.
//!
//! At time t of the run, the link reads the repeated trace at t + offset. A random offset has its
//! own random stream, so it does not change other random variates of the link.

use airpath_core::{Checks, Duration, Seed};
use serde::Deserialize;
use std::borrow::Cow;

/// Random offsets are multiples of 1 ms, like the times of recorded transmission opportunities.
const GRID_NS: u64 = 1_000_000;

/// Configuration of the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum OffsetSpec {
    /// A fixed offset.
    At {
        /// Time since the start of the trace, ns, modulo the period of the trace.
        time_ns: u64,
    },
    /// A uniformly distributed offset, sampled in each replication.
    Uniform {
        /// Lower bound (inclusive), ns.
        low_ns: u64,
        /// Upper bound (exclusive), ns.
        high_ns: u64,
    },
    /// An offset that is uniformly distributed over one period of the trace, sampled in each
    /// replication.
    Random {},
}

impl OffsetSpec {
    /// Rejects a time that is not a multiple of 1 ms, the resolution of recorded opportunities
    /// and capacities.
    pub(crate) fn check_grid(self, checks: &mut Checks) {
        let times = match self {
            OffsetSpec::At { time_ns } => vec![("time_ns", time_ns)],
            OffsetSpec::Uniform { low_ns, high_ns } => {
                vec![("low_ns", low_ns), ("high_ns", high_ns)]
            }
            OffsetSpec::Random {} => vec![],
        };
        for (field, nanos) in times {
            if !nanos.is_multiple_of(GRID_NS) {
                let problem = "must be an integer number of milliseconds, as the trace's times are";
                checks.reject(
                    &format!("offset.{field}"),
                    nanos,
                    problem,
                    "Use a value such as \"250 ms\"",
                );
            }
        }
    }

    /// Returns the fixed offset or a random offset from `seed`, modulo the `period` of the trace.
    fn draw(self, period: Duration, seed: &Seed) -> Offset {
        let (low_ns, high_ns) = match self {
            OffsetSpec::At { time_ns } => return Offset::at(time_ns % period.as_nanos()),
            OffsetSpec::Uniform { low_ns, high_ns } => (low_ns, high_ns),
            OffsetSpec::Random {} => (0, period.as_nanos()),
        };
        let (low, high) = (Duration::from_nanos(low_ns), Duration::from_nanos(high_ns));
        let drawn = seed.child("offset").stream().uniform_duration(low, high).as_nanos();
        Offset::at((drawn - drawn % GRID_NS).max(low_ns) % period.as_nanos())
    }
}

/// The offset of this replication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offset {
    /// Time since the start of the trace, ns; less than its period.
    pub(crate) nanos: u64,
    is_set: bool,
}

impl Offset {
    pub(crate) fn at(nanos: u64) -> Offset {
        Offset { nanos, is_set: true }
    }

    /// Returns the offset that `spec` configures. If `spec` is `None`, the run starts at the start
    /// of the trace.
    pub(crate) fn of(spec: Option<OffsetSpec>, period: Duration, seed: &Seed) -> Offset {
        spec.map_or_else(Offset::default, |spec| spec.draw(period, seed))
    }

    /// Returns the counter `trace_offset_s`; no counter if no offset is configured.
    pub(crate) fn counters(self) -> Vec<(Cow<'static, str>, f64)> {
        let seconds = Duration::from_nanos(self.nanos).as_secs_lossy();
        self.is_set.then_some((Cow::Borrowed("trace_offset_s"), seconds)).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_offsets_are_multiples_of_one_ms() {
        let fields = |spec: OffsetSpec| {
            let mut checks = Checks::default();
            spec.check_grid(&mut checks);
            let error = checks.finish().err();
            let problems = error.iter().flat_map(|error| error.problems());
            problems.map(|problem| problem.field.clone()).collect::<Vec<_>>()
        };
        assert!(fields(OffsetSpec::At { time_ns: 2_000_000 }).is_empty());
        assert!(fields(OffsetSpec::Random {}).is_empty());
        assert_eq!(fields(OffsetSpec::At { time_ns: 2_000_001 }), ["offset.time_ns"]);
        let both = OffsetSpec::Uniform { low_ns: 1, high_ns: 2 };
        assert_eq!(fields(both), ["offset.low_ns", "offset.high_ns"]);
        assert!(fields(OffsetSpec::Uniform { low_ns: 0, high_ns: 1_000_000 }).is_empty());
    }
}
