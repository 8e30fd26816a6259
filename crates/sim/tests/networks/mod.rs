//! Tests of random networks of all registered components. Delays, start times and pauses are round
//! numbers, so that many events have equal times.
//!
//! | file | content |
//! | --- | --- |
//! | `links.rs` | links, disciplines and hops |
//! | `flows.rs` | flows and their traffic |
//! | `paths.rs` | paths, routes and open ends |
//! | `controls.rs` | control events |

mod controls;
mod flows;
mod links;
mod paths;

pub(crate) use links::{all_links, all_queues, sides};

use crate::common::links::link_files;
use crate::common::{MS, SECOND};
use crate::contracts::arq_link::register_arq;
use crate::contracts::cell::with_cell;
use airpath_core::FlowId;
use airpath_link::Files;
use airpath_path::{Components, Network, OpenEnds, Scenario, build_cut};
use airpath_phy::per_table::PerTable;
use airpath_phy::snr::SnrSteps;
use controls::{any_control, fitting_controls};
use flows::any_flow;
use paths::{any_ends, any_hops, any_short_path, set_route};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::sync::Arc;

/// A scenario document, and test parameters that the document does not contain.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) document: String,
    /// True if the plug-in links are declared independent.
    pub(crate) is_independent: bool,
    /// Open ends by flow. Flows without an entry have none.
    pub(crate) open: Vec<OpenEnds>,
    pub(crate) seed: u64,
}

impl Case {
    pub(crate) fn scenario(&self) -> Scenario {
        Scenario::from_json(&self.document).expect("a scenario")
    }

    /// Returns the scenario with top-level keys replaced by those of `change`.
    pub(crate) fn scenario_with(&self, change: Value) -> Scenario {
        let mut document: Value = serde_json::from_str(&self.document).expect("JSON");
        crate::common::merge(&mut document, change);
        Scenario::from_json(&document.to_string()).expect("a scenario")
    }

    pub(crate) fn components(&self) -> Components {
        components(self.is_independent)
    }

    pub(crate) fn network(&self) -> Network {
        let open = |flow: FlowId| self.open.get(flow.0 as usize).copied().unwrap_or(OpenEnds::NONE);
        build_cut(&self.scenario(), &self.components(), &files(), self.seed, 0, &open)
            .expect("a network")
    }
}

/// Returns components with the toy links of the contract tests, `toy-cell` and `arq`.
pub(crate) fn components(is_independent: bool) -> Components {
    let mut components = with_cell();
    register_arq(&mut components, Arc::default());
    for name in ["toy-cell", "arq"].into_iter().filter(|_| is_independent) {
        components.links.declare_independent(name);
    }
    components
}

/// Returns the files of [`link_files`], an error table with two MCS, and an SNR trace with two
/// levels.
pub(crate) fn files() -> Arc<Files> {
    let scheme = |name: &str, bits: u64, onset_db: u64| {
        let points = [0, 10, 20, 30].map(|snr_db| {
            let errors = if snr_db < onset_db { 500_u64 } else { 500 >> ((snr_db - onset_db) / 2) };
            json!({"snr_db": snr_db, "errors": errors, "blocks": 1000})
        });
        json!({"mcs": {"name": name, "bits_per_symbol": bits, "code_rate": 0.5, "block_bytes": 50,
                       "rate_bps": 1e6 * bits as f64}, "points": points})
    };
    let table = json!({"channel": "none", "curves": [scheme("low", 2, 0), scheme("high", 4, 10)]});
    let table = PerTable::from_json(&table.to_string()).expect("a table");
    let steps = SnrSteps::new(vec![(0, 25.0), (300 * MS, 5.0)], 600 * MS).expect("steps");
    let mut files = Arc::unwrap_or_clone(link_files());
    files.tables.insert("two".to_owned(), Arc::new(table));
    files.snr.insert("steps".to_owned(), Arc::new(steps));
    Arc::new(files)
}

pub(super) fn any_delay() -> impl Strategy<Value = u64> {
    select(vec![0, 0, 1, 2, 3, MS, 2 * MS, 6 * MS, 10 * MS, 25 * MS, 120 * MS])
}

pub(super) fn any_wire() -> impl Strategy<Value = Value> {
    let rate = select(vec![None, None, Some(2_000_000u64), Some(10_000_000), Some(100_000_000)]);
    (rate, any_delay())
        .prop_map(|(rate_bps, delay_ns)| json!({"rate_bps": rate_bps, "delay_ns": delay_ns}))
}

/// Any network, for a run of two seconds.
pub(crate) fn any_case() -> impl Strategy<Value = Case> {
    let route = prop::option::of((0..4usize, 0..4usize));
    let flows = prop::collection::vec((any_flow(), route, any_ends()), 1..5);
    let controls = prop::collection::vec((any_control(), 0..4usize), 0..4);
    let warmup_ns = select(vec![0, 500 * MS, 777_777_777]);
    let path = prop_oneof![any_short_path(), any_hops()];
    (flows, path, controls, warmup_ns, any::<bool>(), any::<u64>()).prop_map(
        |(flows, path, controls, warmup_ns, is_independent, seed)| {
            let open: Vec<OpenEnds> = flows.iter().map(|(_, _, open)| *open).collect();
            let mut flows: Vec<_> =
                flows.into_iter().map(|(flow, route, _)| (flow, route)).collect();
            for (flow, route) in &mut flows {
                set_route(flow, &path, *route);
                if path["ack_path"]["kind"] == "ideal" {
                    let flow = flow.as_object_mut().expect("a table");
                    flow.insert("direction".to_owned(), json!("forward"));
                    flow.remove("ack_access");
                }
            }
            let flows: Vec<Value> = flows.into_iter().map(|(flow, _)| flow).collect();
            let controls = fitting_controls(&path, controls);
            let mut document = json!({
                "duration_ns": 2 * SECOND, "warmup_ns": warmup_ns, "flows": flows,
                "controls": controls});
            crate::common::merge(&mut document, path);
            Case { document: document.to_string(), is_independent, open, seed }
        },
    )
}
