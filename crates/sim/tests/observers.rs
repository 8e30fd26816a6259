//! Tests that captures, samples and flow monitors do not change results.

use crate::common::{Memory, datagrams, droptail, flow, scenario, tcp};
use airpath_core::Time;
use airpath_path::{Components, Scenario};
use airpath_sim::{
    CapturePlan, CaptureRequest, Monitor, Outcome, Plan, Point, RunError, Sink,
    replicate_and_capture,
};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::Arc;

/// A sink with a limited capacity in bytes.
struct Small(usize);

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the point with this name of the path of [`watched_scenario`].
fn point(name: &str) -> Point {
    Point::named(name, &watched_scenario(json!({}))).expect("a point")
}

fn request(point: Point, sink: impl Write + Send + 'static) -> CaptureRequest {
    let sink: Sink = Box::new(sink);
    let comments = ("where from".to_owned(), "in short".to_owned());
    CaptureRequest { point, application: "airpath".to_owned(), comments, sink }
}

fn watched_scenario(record: Value) -> Scenario {
    let sources =
        [tcp(json!({"recovery": "sack", "timestamps": true})), datagrams("poisson", 500_000)];
    let flows = sources.map(|source| flow(source, json!({}))).to_vec();
    let link = json!({"kind": "fixed", "rate_bps": 5_000_000, "loss": 0.01});
    let change = json!({"record": record, "warmup_ns": 2_000_000_000_u64,
        "ack_path": {"kind": "reverse", "queue": droptail(50)}});
    scenario(10, flows, link, droptail(20), change)
}

fn run(record: Value, requests: Vec<CaptureRequest>, replication: u64) -> Outcome {
    run_scenario(&watched_scenario(record), requests, replication)
}

fn run_scenario(scenario: &Scenario, requests: Vec<CaptureRequest>, replication: u64) -> Outcome {
    let (components, files) = (Components::default(), Arc::default());
    let plan = Plan {
        scenario,
        components: &components,
        files: &files,
        seed: 4,
        first: 0,
        count: 3,
        threads: 2,
    };
    let captures = CapturePlan { replication, requests };
    replicate_and_capture(&plan, Some(captures), &Monitor::default()).expect("a network")
}

#[test]
fn observers_do_not_change_results() {
    let plain = run(json!({}), Vec::new(), 0);
    let everything = json!({"ss": true, "ss_interval_ns": 3_000_000, "flow_monitor": true});
    let requests = Point::all(&watched_scenario(json!({})))
        .into_iter()
        .map(|point| request(point, Memory::default()))
        .collect();
    let watched = run(everything, requests, 1);
    for (plain, watched) in plain.finished.iter().zip(&watched.finished) {
        assert_eq!(plain.report, watched.report);
        assert!(plain.ss.is_empty() && plain.flow_monitor.is_none());
        assert!(!watched.ss.is_empty() && watched.flow_monitor.is_some());
    }
    assert_eq!((plain.finished.len(), watched.finished.len()), (3, 3));
}

#[test]
fn capture_does_not_depend_on_the_thread_of_the_replication() {
    let files: Vec<Vec<u8>> = (0..3)
        .map(|replication| {
            let memory = Memory::default();
            run(json!({}), vec![request(point("sender"), memory.clone())], replication);
            let file = memory.0.lock().expect("no thread panics with the lock");
            file.clone()
        })
        .collect();
    assert!(files.iter().all(|file| file.len() > 100_000));
    assert!(files[0] != files[1] && files[1] != files[2]);
    let memory = Memory::default();
    run(json!({}), vec![request(point("sender"), memory.clone())], 1);
    assert_eq!(*memory.0.lock().expect("no thread panics with the lock"), files[1]);
}

#[test]
fn a_full_disk_ends_the_run_with_its_message() {
    for room in [0, 10_000] {
        let outcome = run(json!({}), vec![request(point("bottleneck"), Small(room))], 1);
        let Some((1, error @ RunError::Capture(_))) = &outcome.failed else {
            panic!("{:?}", outcome.failed);
        };
        assert!(error.to_string().starts_with("the capture cannot be written: "));
    }
}

#[test]
fn samples_are_taken_at_multiples_of_the_interval() {
    let outcome = run(json!({"ss": true, "ss_interval_ns": 1_500_000_000}), Vec::new(), 0);
    let times: Vec<Time> = outcome.finished[0].ss.iter().map(|sample| sample.time).collect();
    let expected: Vec<Time> = (1..=6).map(|n| Time::from_millis(1500 * n)).collect();
    assert_eq!(times, expected, "of the TCP flow alone");
}
