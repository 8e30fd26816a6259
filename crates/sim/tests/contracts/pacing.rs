//! Tests that the pacing rate of a congestion control algorithm is applied, regardless of its
//! window.

use crate::common::{MS, PlainDriver, SECOND, droptail, fixed, flow, scenario, tcp};
use airpath_conformance::Law;
use airpath_core::{Port, Rate};
use airpath_path::{Components, build};
use airpath_tcp::congestion::{AckEvent, CongestionControl, LossEvent, UndoEvent};
use serde_json::{Value, json};
use std::sync::Arc;

/// Algorithm with a pacing rate of 1 Mbit/s and a window of a hundred segments.
struct OneMegabit;

impl CongestionControl for OneMegabit {
    fn on_ack(&mut self, _event: &AckEvent) {}
    fn on_loss(&mut self, _event: &LossEvent) {}
    fn on_rto(&mut self, _event: &LossEvent) {}
    fn on_recovered(&mut self, _cwnd: u64) {}
    fn on_undo(&mut self, _event: &UndoEvent) {}
    fn cwnd(&self) -> u64 {
        100 * 1460
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate(1_000_000))
    }
}

const RATE: Law = Law {
    area: "Pacing",
    source: "The pacing rate of the congestion control, in IP packets",
    allows: "1 %",
};

/// Returns the departure times of the segments of one flow in 30 s, ns, over 100 Mbit/s with the
/// loss rate `loss`.
fn departures(options: Value, loss: f64) -> Vec<u64> {
    let mut components = Components::default();
    components.congestion.register("one-megabit", |_, _| Ok(Box::new(OneMegabit)));
    let mut source = tcp(options);
    source["congestion"] = json!({"kind": "one-megabit"});
    let mut link = fixed(100_000_000);
    link["loss"] = json!(loss);
    let scenario = scenario(30, vec![flow(source, json!({}))], link, droptail(200), json!({}));
    let network = build(&scenario, &components, &Arc::default(), 1, 0).expect("a network");
    let sender = network.flows[0].source;
    let mut driver = PlainDriver::new(network);
    driver.run();
    let left = driver.log.iter().filter(|departure| {
        departure.from == sender && departure.port == Port(0) && departure.size == 1500
    });
    left.map(|departure| departure.at.as_nanos()).collect()
}

#[test]
fn pacing_rate_of_a_congestion_control_is_sent_without_bursts() {
    for (loss, options) in [
        (0.0, json!({"recovery": "newreno"})),
        (0.02, json!({"recovery": "newreno"})),
        (0.02, json!({"recovery": "sack"})),
        (0.02, json!({"recovery": "prr"})),
        (0.02, json!({"recovery": "sack", "stack": "ns3"})),
    ] {
        let mut options = options;
        options["receive_window"] = json!(1_000_000);
        let name = format!("{} with {loss} of the packets lost", options["recovery"]);
        let left = departures(options, loss);
        let sent = left.len() as f64 * 12_000.0 / 30.0;
        RATE.close_relative(format!("sent, {name}"), "bit/s", sent, 1e6, 0.01);
        // A packet takes 12 ms at the pacing rate.
        let gaps = left.windows(2).map(|pair| pair[1] - pair[0]);
        if loss == 0.0 {
            assert!(gaps.clone().all(|gap| gap == 12 * MS), "{name}");
        }
        let bursts = left.windows(3).filter(|three| three[2] - three[0] < 12 * MS).count();
        assert_eq!(bursts, 0, "{name}: three packets within the time of one");
        assert!(left.last().is_some_and(|last| *last > 29 * SECOND), "{name}");
    }
}
