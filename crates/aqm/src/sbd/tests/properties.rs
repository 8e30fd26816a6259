//! Properties of SBD under any order of arrivals, departures and pauses.

use super::*;
use proptest::prelude::*;

/// An event: arrivals, a departure, a departure to a link that holds the packet, a release, or a
/// pause in ms.
#[derive(Clone, Copy, Debug)]
enum Step {
    Put(u32),
    Take,
    Hold,
    Release,
    Pause(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (1..8u32).prop_map(Step::Put),
        4 => Just(Step::Take),
        3 => Just(Step::Hold),
        3 => Just(Step::Release),
        4 => (0..120u64).prop_map(Step::Pause),
    ];
    prop::collection::vec(step, 1..300)
}

fn configs() -> impl Strategy<Value = SbdConfig> {
    let expiry = prop_oneof![Just(SbdExpiry::Timer), Just(SbdExpiry::Arrival)];
    (1..50usize, 0..50usize, 1..20usize, 1..400u64, expiry, any::<bool>()).prop_map(
        |(limit, min_th, alpha, ms, expiry, ecn)| SbdConfig {
            limit,
            min_th: min_th.min(limit),
            reaction_time_ns: ms * 1_000_000,
            alpha,
            expiry,
            ecn,
            ..paper()
        },
    )
}

/// Performs the steps. Returns the queue, and for each drop or mark the occupancy including the
/// arriving packet.
fn run(config: &SbdConfig, steps: &[Step]) -> (Line, Vec<usize>) {
    let mut line = Line::new(config.clone());
    line.ecn = Ecn::Ect0;
    let (mut now, mut taken, mut found) = (0, 0, Vec::new());
    for step in steps {
        match *step {
            Step::Put(count) => {
                for _ in 0..count {
                    let signals = line.marks().len() + line.dropped(DropReason::Early).len();
                    let occupancy = line.occupancy() + 1;
                    line.put(1, now);
                    if line.marks().len() + line.dropped(DropReason::Early).len() > signals {
                        found.push(occupancy);
                    }
                    assert!(line.occupancy() <= config.limit);
                }
            }
            Step::Take | Step::Hold if line.sbd.packets() == 0 => {}
            Step::Take => {
                line.take(1, now);
                taken += 1;
            }
            Step::Hold => {
                line.hold(1, now);
                taken += 1;
            }
            Step::Release => {
                line.held = line.held.saturating_sub(1);
                line.hold(0, now);
            }
            Step::Pause(ms) => now += ms,
        }
    }
    let dropped = line.harness.counts().total();
    assert_eq!(u64::from(line.put), taken + dropped + line.sbd.packets() as u64);
    (line, found)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn signals_are_at_least_t_r_apart(config in configs(), steps in steps()) {
        let (line, _) = run(&config, &steps);
        let samples = [Series::Mark, Series::Drop].map(|s| line.harness.recorder().samples(s).to_vec());
        let mut times: Vec<Time> = samples
            .concat()
            .iter()
            .filter(|s| s.value == f64::from(DropReason::Early as u8))
            .map(|s| s.time)
            .collect();
        times.sort();
        for pair in times.windows(2) {
            prop_assert!(pair[1] - pair[0] >= Duration::from_nanos(config.reaction_time_ns));
        }
    }

    #[test]
    fn sbd_never_signals_below_min_th(config in configs(), steps in steps()) {
        let (_, found) = run(&config, &steps);
        prop_assert!(found.iter().all(|occupancy| *occupancy >= config.min_th), "{found:?}");
    }

    #[test]
    fn equal_steps_give_equal_drops(config in configs(), steps in steps()) {
        let [first, second] = [0, 1].map(|_| run(&config, &steps).0);
        prop_assert_eq!(first.drops_and_marks(), second.drops_and_marks());
    }
}

impl Line {
    fn drops_and_marks(&self) -> [Vec<(u64, u32)>; 3] {
        let marks = self.harness.recorder().samples(Series::Mark).iter();
        [
            self.dropped(DropReason::Early),
            self.dropped(DropReason::Overflow),
            marks.map(|mark| (mark.time.as_nanos(), mark.id)).collect(),
        ]
    }
}
