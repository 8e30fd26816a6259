//! Tests that the error process, the SNR process and the policy of a link can be plug-ins.

use crate::common::links::link_files;
use crate::common::{datagrams, droptail, flow, run_with, scenario};
use airpath_core::Time;
use airpath_path::Components;
use airpath_phy::adaptation::{Candidate, Policy};
use airpath_phy::errors::{ErrorProcess, Frame};
use airpath_phy::snr::{Sample, SnrProcess};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Error process that corrupts every second frame.
#[derive(Default)]
struct EverySecond(usize);

impl ErrorProcess for EverySecond {
    fn corrupts(&mut self, _frame: &Frame) -> bool {
        self.0 += 1;
        self.0.is_multiple_of(2)
    }
}

/// SNR process of 0 dB that counts its calls.
struct Zero(Arc<AtomicUsize>);

impl SnrProcess for Zero {
    fn sample(&mut self, at: Time) -> Sample {
        self.0.fetch_add(1, Relaxed);
        Sample { snr_db: 0.0, until: at }
    }
}

/// Policy that always selects the first MCS and counts its calls.
struct First(Arc<AtomicUsize>);

impl Policy for First {
    fn choose(&self, _candidates: &[Candidate], _regime: usize) -> usize {
        self.0.fetch_add(1, Relaxed);
        0
    }
}

#[test]
fn a_link_uses_plug_ins_of_three_families() {
    let calls = [0; 2].map(|_| Arc::new(AtomicUsize::new(0)));
    let [of_snr, of_policy] = calls.clone();
    let mut components = Components::default();
    components.errors.register("mine", |_, _| Ok(Box::new(EverySecond::default())));
    components.snr.register("mine", move |_, _| Ok(Box::new(Zero(Arc::clone(&of_snr)))));
    components.policies.register("mine", move |_, _| Ok(Box::new(First(Arc::clone(&of_policy)))));
    let mine = json!({"kind": "mine"});
    let link = json!({"kind": "adaptive", "table": "t", "snr": mine, "policy": mine,
                      "errors": mine});
    let flows = vec![flow(datagrams("cbr", 1_000_000), json!({}))];
    let scenario = scenario(2, flows, link, droptail(100), json!({}));
    let report = run_with(&scenario, &components, &link_files(), 1).report(0);
    let link = &report.links[0];
    assert!(link.delivered_packets > 80, "{} delivered", link.delivered_packets);
    assert!(link.lost_packets.abs_diff(link.delivered_packets) <= 1, "{} lost", link.lost_packets);
    // The plug-ins are called at the start and at each SNR estimate: every 5 ms while packets wait.
    assert!(calls.iter().all(|calls| calls.load(Relaxed) > 100), "{calls:?}");
}
