//! Tests of plug-in schedulers. A scheduler receives rates, backlogs and waiting times, and the
//! chosen user is served. An invalid choice ends the run.

use crate::common::{MS, datagrams, droptail, failure, flow, run_with, scenario};
use airpath_core::Duration;
use airpath_link::scheduler::{Candidate, Scheduler};
use airpath_path::{Components, Scenario};
use serde_json::json;
use std::sync::{Arc, Mutex};

/// Candidates that a scheduler received, by slot.
type Shown = Vec<(u64, Vec<Candidate>)>;

/// Scheduler that serves the user with the longest backlog and records its candidates.
struct LongestBacklog(Arc<Mutex<Shown>>);

impl Scheduler for LongestBacklog {
    fn choose(&mut self, slot: u64, candidates: &[Candidate]) -> usize {
        self.0.lock().expect("one thread").push((slot, candidates.to_vec()));
        let stage_map = 0..candidates.len();
        stage_map.max_by_key(|place| candidates[*place].backlog).unwrap_or(0)
    }

    fn served(&mut self, slot: u64, candidates: &[Candidate], place: usize, rate: f64) {
        let recorded = self.0.lock().expect("one thread");
        let (last, of) = recorded.last().expect("it was called");
        assert_eq!((*last, &of[..]), (slot, candidates), "what was chosen is served");
        assert_eq!(rate, candidates[place].rate, "a separate slot");
    }
}

struct Astray;

impl Scheduler for Astray {
    fn choose(&mut self, _slot: u64, candidates: &[Candidate]) -> usize {
        candidates.len() + 7
    }

    fn served(&mut self, _slot: u64, _candidates: &[Candidate], _place: usize, _rate: f64) {
        unreachable!("there is no such place");
    }
}

/// Returns a scenario with two users of 1.5 and 0.9 Mbit/s in a cell of 2 Mbit/s, for 10 s.
fn two_users(scheduler: &str) -> Scenario {
    let flows = [1_500_000, 900_000].map(|rate| flow(datagrams("cbr", rate), json!({})));
    let cell = json!({
        "kind": "cell", "slot_ns": 5 * MS, "attempts": 1, "scheduler": {"kind": scheduler},
        "rate": {"kind": "shannon", "bandwidth_hz": 2e6, "cap_bps": 2_000_000},
        "snr": {"kind": "constant", "mean_db": 20},
    });
    scenario(10, flows.to_vec(), cell, droptail(1000), json!({}))
}

#[test]
fn plug_in_scheduler_receives_the_users_and_its_choice_is_served() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (mut components, note) = (Components::default(), Arc::clone(&seen));
    components.schedulers.register("longest-backlog", move |_, setup| {
        assert_eq!(setup.extra.slot, Duration::from_millis(5));
        assert_eq!((&setup.extra.weights[..], setup.extra.rate.0), (&[1.0, 1.0][..], 2_000_000));
        Ok(Box::new(LongestBacklog(Arc::clone(&note))))
    });
    let report = run_with(&two_users("longest-backlog"), &components, &Arc::default(), 1).report(0);
    // Both backlogs grow at 0.2 Mbit/s.
    let mbps: Vec<f64> = report.users.iter().map(|user| user.throughput_bps / 1e6).collect();
    assert!((mbps[0] - 1.3).abs() < 0.02 && (mbps[1] - 0.7).abs() < 0.02, "{mbps:?}");
    let seen = seen.lock().expect("one thread");
    assert!(seen.is_sorted_by(|(before, _), (after, _)| before < after), "slots rise");
    assert!(seen.len() > 1990, "a slot of 5 ms is never left out");
    let (_, last) = seen.last().expect("many");
    for candidate in last {
        assert_eq!(candidate.rate, 2e6);
        let (bytes, waited_s) = (candidate.backlog.0 as f64, candidate.head_wait.as_secs_lossy());
        assert!((bytes / 250_000.0 - 1.0).abs() < 0.05, "{candidate:?}");
        let drained_s = bytes * 8.0 / 1e6 / [1.5, 0.9][candidate.user.0 as usize];
        assert!((waited_s / drained_s - 1.0).abs() < 0.05, "{candidate:?}: {drained_s}");
    }
}

#[test]
fn scheduler_that_names_no_candidate_ends_the_run() {
    let mut components = Components::default();
    components.schedulers.register("astray", |_, _| Ok(Box::new(Astray)));
    let message = failure(&two_users("astray"), &components).to_string();
    assert!(
        message.starts_with("`choose` of the scheduler returned index 8. Accepted: 0 to 0 (at "),
        "{message}"
    );
}
