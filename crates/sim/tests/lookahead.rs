//! Tests that lookahead does not change results. At the end and at each pause, three runs are
//! compared: with lookahead, without lookahead (in order of time and stage), and with a simple
//! driver that checks every stage.

use crate::common::*;
use crate::networks::{Case, any_case, files};
use airpath_conformance::cases;
use airpath_core::{FlowId, Series, Stage, StageError, Time};
use airpath_path::{Components, ReplicationReport};
use airpath_sim::{CapturePlan, CaptureRequest, Driver, Plan, Point, Sink, replicate_and_capture};
use airpath_tcp::window::{Arrival, ReceiveWindow};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The observable state of a paused run.
#[derive(Debug, PartialEq)]
struct Look {
    at: Time,
    report: String,
    senders: Vec<String>,
    held: Vec<usize>,
}

fn look(driver: &Driver) -> Look {
    let report = serde_json::to_string(&driver.report(0)).expect("a report is JSON");
    let senders = (0..).map(FlowId).zip(driver.flows());
    let senders = senders.filter_map(|(flow, ends)| {
        let sender = driver.stages()[ends.source.0 as usize].sender(flow)?;
        Some(format!("{:?}", sender.info()))
    });
    let senders = senders.collect();
    let held = driver.stages().iter().map(Stage::held).collect();
    Look { at: driver.now(), report, senders, held }
}

/// Runs to the end, with pauses. Calls `at_first` at the first pause.
fn follow(mut driver: Driver, pauses: &[u64], at_first: impl FnOnce(&mut Driver)) -> Vec<Look> {
    let mut at_first = Some(at_first);
    let mut seen = Vec::new();
    for pause in pauses.iter().map(|pause| Time::from_nanos(*pause)) {
        if pause > driver.warmup() {
            driver.run_until(driver.warmup(), &()).expect("a run");
            driver.start_measurement().expect("a run");
        }
        driver.run_until(pause, &()).expect("a run");
        if let Some(at_first) = at_first.take() {
            at_first(&mut driver);
        }
        seen.push(look(&driver));
    }
    driver.run(&()).expect("a run");
    seen.push(look(&driver));
    seen
}

fn any_pauses() -> impl Strategy<Value = Vec<u64>> {
    let pause = prop_oneof![0..2 * SECOND, (0..200u64).prop_map(|step| step * 10 * MS)];
    prop::collection::vec(pause, 0..6).prop_map(|mut pauses| {
        pauses.sort_unstable();
        pauses
    })
}

fn ordered(case: &Case) -> Driver {
    let mut driver = Driver::new(case.network());
    driver.keep_order();
    driver
}

/// Runs replication 0 with [`replicate_and_capture`]. Returns the report and the `ss` samples as
/// text.
fn replicated(case: &Case, record: Value, captures: bool) -> [String; 2] {
    let (scenario, components, files) =
        (case.scenario_with(json!({"record": record})), case.components(), files());
    let plan = Plan {
        scenario: &scenario,
        components: &components,
        files: &files,
        seed: case.seed,
        first: 0,
        count: 1,
        threads: 1,
    };
    let request = |point| {
        let (comments, sink): (_, Sink) = (Default::default(), Box::new(std::io::sink()));
        CaptureRequest { point, application: "airpath".to_owned(), comments, sink }
    };
    let requests = Point::all(&scenario).into_iter().map(request).collect();
    let captures = captures.then_some(CapturePlan { replication: 0, requests });
    let outcome = replicate_and_capture(&plan, captures, &Default::default()).expect("a network");
    assert!(outcome.failed.is_none(), "{:?}", outcome.failed);
    let replication = &outcome.finished[0];
    for (series, name) in Series::ALL {
        let samples = replication.recorder.samples(series);
        assert!(samples.is_sorted_by_key(|sample| sample.time), "{name} is out of order");
    }
    [format!("{:?}", replication.report), format!("{:?}", replication.ss)]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(200), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn lookahead_does_not_change_the_state_at_any_pause(
        case in any_case(), pauses in any_pauses(),
    ) {
        let ahead = follow(Driver::new(case.network()), &pauses, |_| {});
        prop_assert_eq!(&ahead, &follow(ordered(&case), &pauses, |_| {}));
        // Lookahead is disabled at the first pause.
        prop_assert_eq!(&ahead, &follow(Driver::new(case.network()), &pauses, Driver::keep_order));
        let straight = follow(Driver::new(case.network()), &[], |_| {});
        prop_assert_eq!(ahead.last(), straight.last());
    }

    #[test]
    fn lookahead_and_plain_driver_give_equal_reports(case in any_case()) {
        let mut driver = Driver::new(case.network());
        driver.run(&()).expect("a run");
        // The simple driver records no phases.
        let report = ReplicationReport { phases: Vec::new(), ..driver.report(0) };
        let plain = PlainDriver::new(case.network()).run();
        prop_assert_eq!(format!("{report:?}"), format!("{plain:?}"));
    }

    #[test]
    fn lookahead_does_not_change_ss_samples(
        case in any_case(), interval_ns in prop_oneof![Just(10 * MS), MS..300 * MS],
    ) {
        let ss = json!({"ss": true, "ss_interval_ns": interval_ns});
        let ahead = replicated(&case, ss.clone(), false);
        // With a recorded series or observers, all events are processed in order.
        let with = |change: Value| {
            let mut record = ss.clone();
            merge(&mut record, change);
            record
        };
        let series = Series::ALL.map(|(_, name)| name);
        prop_assert_eq!(&ahead, &replicated(&case, with(json!({"series": series})), false));
        prop_assert_eq!(&ahead, &replicated(&case, with(json!({"flow_monitor": true})), true));
    }
}

/// Receive window that records arrival times in a list that all receivers share.
struct EnqueueTimestamps(Arc<Mutex<Vec<Time>>>);

impl ReceiveWindow for EnqueueTimestamps {
    fn on_arrival(&mut self, arrival: &Arrival) -> Result<(), StageError> {
        self.0.lock().expect("no thread panics with the lock").push(arrival.now);
        Ok(())
    }

    fn window(&self) -> u64 {
        65_535
    }
}

/// Plug-ins that may share state are called in order of time. Plug-ins that are declared
/// independent may be called out of order.
#[test]
fn plug_ins_that_share_state_are_called_in_order_of_time() {
    let flows = [10, 90].map(|delay_ms| {
        let mut source = tcp(json!({}));
        source["window"] = json!({"kind": "noting"});
        flow(source, json!({"egress": {"delay_ns": delay_ms * MS}}))
    });
    let scenario = scenario(5, flows.to_vec(), fixed(5_000_000), droptail(50), json!({}));
    let arrivals = |is_independent: bool| {
        let noted = Arc::new(Mutex::new(Vec::new()));
        let mut components = Components::default();
        let list = Arc::clone(&noted);
        components
            .windows
            .register("noting", move |_, _| Ok(Box::new(EnqueueTimestamps(Arc::clone(&list)))));
        if is_independent {
            components.windows.declare_independent("noting");
        }
        let report = run_with(&scenario, &components, &files(), 1).report(0);
        let noted = noted.lock().expect("no thread panics with the lock").clone();
        (report, noted)
    };
    let ((in_order, ordered), (independent, mixed)) = (arrivals(false), arrivals(true));
    assert_eq!(in_order, independent);
    assert!(ordered.len() > 1000 && ordered.is_sorted());
    assert!(mixed.len() == ordered.len() && !mixed.is_sorted());
}
