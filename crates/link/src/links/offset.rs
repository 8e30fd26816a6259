//! Where in its trace a link begins.
//!
//! At time t of the run the trace is at t + offset, through all its repetitions. A random offset
//! has a separate stream: the link's other draws are the same with and without it.

use airpath_core::{Checks, Duration, Seed};
use serde::Deserialize;
use std::borrow::Cow;

/// Drawn offsets are whole milliseconds, as the times of recorded opportunities are.
const GRID_NS: u64 = 1_000_000;

/// Configuration of the offset; absent: the start of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum OffsetSpec {
    /// A given place.
    At {
        /// From the start of the trace, ns; beyond its end, of its repetitions.
        time_ns: u64,
    },
    /// A random place, drawn in each replication.
    Uniform {
        /// Earliest, ns.
        low_ns: u64,
        /// Latest (exclusive), ns.
        high_ns: u64,
    },
    /// Any place of a round, drawn in each replication.
    Random {},
}

impl OffsetSpec {
    /// Rejects a time that is not one of the whole milliseconds at which recorded opportunities,
    /// and values of the capacity, come.
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
                    "Use one such as \"250 ms\"",
                );
            }
        }
    }

    /// The place in a round of `period`, for the link of `seed`.
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

/// The place in this replication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offset {
    /// From the start of the round, ns; less than the period.
    pub(crate) nanos: u64,
    is_set: bool,
}

impl Offset {
    pub(crate) fn at(nanos: u64) -> Offset {
        Offset { nanos, is_set: true }
    }

    /// That of `spec`, the start of the trace without one.
    pub(crate) fn of(spec: Option<OffsetSpec>, period: Duration, seed: &Seed) -> Offset {
        spec.map_or_else(Offset::default, |spec| spec.draw(period, seed))
    }

    /// Result of a link with an offset in addition to its counters.
    pub(crate) fn counters(self) -> Vec<(Cow<'static, str>, f64)> {
        let seconds = Duration::from_nanos(self.nanos).as_secs_lossy();
        self.is_set.then_some((Cow::Borrowed("trace_offset_s"), seconds)).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_times_are_whole_milliseconds() {
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
