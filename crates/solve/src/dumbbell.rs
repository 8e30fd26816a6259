//! Converts scenarios whose path has one bottleneck.

use crate::reasons::{Reason, Reasons};
use airpath_core::Duration;
use airpath_path::{AckPath, Bottleneck, Dumbbell, Scenario, WireSpec};
use serde_json::Value;
use std::ops::Deref;

/// A scenario whose data packets traverse one link, which all flows share.
#[derive(Clone, Debug)]
pub struct DumbbellScenario {
    scenario: Scenario,
    /// The hop whose link the data packets cross.
    pub bottleneck: Bottleneck,
    /// The path of the ACKs.
    pub ack_path: AckPath,
    /// The wired hop between the servers and the bottleneck, if any.
    pub backhaul: Option<WireSpec>,
}

impl Deref for DumbbellScenario {
    type Target = Scenario;

    fn deref(&self) -> &Scenario {
        &self.scenario
    }
}

impl DumbbellScenario {
    /// Converts a scenario.
    ///
    /// # Errors
    /// Returns a reason for the hops if the data traverse several links, and for each flow that
    /// does not cross all hops.
    pub fn of(scenario: &Scenario) -> Result<DumbbellScenario, Reasons> {
        let mut reasons = Reasons::default();
        let last = scenario.hops.len().saturating_sub(1);
        for (number, flow) in scenario.flows.iter().enumerate() {
            if scenario.crossed(flow) != (0..=last) {
                let covered = "flows that cross all hops";
                let value = flow.hops.as_ref().map(|hops| hops.join(" to ")).unwrap_or_default();
                let reason = Reason::not_covered("hops", value, covered);
                reasons.keep_of_flow::<()>((number, flow.group), Err(reason));
            }
        }
        let found = Dumbbell::from_hops(&scenario.hops).ok_or_else(|| {
            let names: Vec<&str> = scenario.hops.iter().map(|hop| hop.name.as_str()).collect();
            Reason::other_path(names.join(", "), "one hop with a link for data")
        });
        let Some(Dumbbell { bottleneck, ack_path, backhaul }) = reasons.keep(found) else {
            return Err(reasons);
        };
        reasons.or(Some(DumbbellScenario {
            scenario: scenario.clone(),
            bottleneck,
            ack_path,
            backhaul,
        }))
    }

    /// Returns link, queue discipline and propagation delay of the hop that all ACKs share; `None`
    /// on an ideal ACK path.
    pub(crate) fn ack_hop(&self) -> Option<(&Value, &Value, Duration)> {
        let (link, queue, delay_ns) = match &self.ack_path {
            AckPath::Ideal {} => return None,
            AckPath::Link { link, queue, delay_ns } => (link, queue, *delay_ns),
            AckPath::Reverse { link, queue, delay_ns } => {
                let of_forward = if link.is_none() { self.bottleneck.delay_ns } else { 0 };
                let link = link.as_ref().unwrap_or(&self.bottleneck.link);
                (link, queue, delay_ns.unwrap_or(of_forward))
            }
        };
        Some((link, queue, Duration::from_nanos(delay_ns)))
    }

    /// Returns the one-way propagation delay after the bottleneck's link.
    pub(crate) fn forward_delay(&self) -> Duration {
        Duration::from_nanos(self.bottleneck.delay_ns)
    }
}
