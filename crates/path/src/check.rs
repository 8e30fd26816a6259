//! All problems of a scenario at once.

use crate::hops::AckPath;
use crate::scenario::{FlowSpec, Scenario, SourceSpec};
use airpath_aqm::AnyQueue;
use airpath_core::{Checks, ConfigError};
use airpath_link::AnyLink;
use airpath_tcp::congestion::AnyCongestion;
use airpath_tcp::window::AnyWindow;

impl Scenario {
    /// Checks the values of the scenario and of its built-in components. A flow is named by the number of
    /// its entry.
    ///
    /// # Errors
    /// With every problem that is known without files and without building the network.
    pub fn check(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.nested("", self.validate());
        for hop in [Some(self.forward_hop()), self.reverse_hop()].into_iter().flatten() {
            checks.nested(&format!("{}.queue", hop.name), AnyQueue::check(hop.queues));
            let is_as_forward = hop.name == "reverse"
                && matches!(self.ack_path, AckPath::Reverse { link: None, .. });
            if !is_as_forward {
                checks.nested(&format!("{}.link", hop.name), AnyLink::check(hop.link));
            }
        }
        for (number, entry) in self.flows.entries().iter().enumerate() {
            checks.nested(&format!("flows.{number}"), entry.check_components());
        }
        checks.finish()
    }
}

impl FlowSpec {
    fn check_components(&self) -> Result<(), ConfigError> {
        let SourceSpec::Tcp(tcp) = &self.source else { return Ok(()) };
        let mut checks = Checks::default();
        checks.nested("congestion", AnyCongestion::check(&tcp.congestion));
        if let Some(window) = &tcp.window {
            checks.nested("window", AnyWindow::check(window));
        }
        checks.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn scenario(changes: &[(&str, Value)]) -> Scenario {
        let wire = json!({"delay_ns": 0});
        let flow = json!({
            "source": {"kind": "cbr", "rate_bps": 1, "packet_bytes": 1},
            "start": {"kind": "at", "time_ns": 0},
            "access": wire, "egress": wire, "return_wire": wire});
        let mut document = json!({
            "duration_ns": 2, "warmup_ns": 1, "flows": [flow.clone(), flow],
            "bottleneck": {
                "link": {"kind": "fixed", "rate_bps": 8},
                "queue": {"kind": "gred", "min_th": 1, "max_th": 3, "max_p": 0.1}},
            "ack_path": {"kind": "reverse", "queue": {"kind": "droptail", "limit": {"packets": 9}}}});
        for (pointer, value) in changes {
            *document.pointer_mut(pointer).expect("a key of the scenario") = value.clone();
        }
        serde_json::from_value(document).expect("of the right types")
    }

    #[test]
    fn check_reports_the_problems_of_all_components() {
        assert_eq!(scenario(&[]).check(), Ok(()));
        let error = scenario(&[
            ("/warmup_ns", json!(5)),
            ("/flows/1/source/rate_bps", json!(0)),
            ("/flows/1/source/packet_bytes", json!(70_000)),
            ("/bottleneck/queue/max_th", json!(1)),
            ("/bottleneck/queue/max_p", json!(1.5)),
            ("/ack_path/queue/limit/packets", json!(0)),
        ])
        .check()
        .expect_err("six problems");
        let fields: Vec<&str> = error.problems().iter().map(|found| &*found.field).collect();
        assert_eq!(
            fields,
            [
                "warmup",
                "flows.1.rate_bps",
                "flows.1.packet_bytes",
                "bottleneck.queue.max_th",
                "bottleneck.queue.max_p",
                "reverse.queue.limit.packets",
            ]
        );
    }
}
