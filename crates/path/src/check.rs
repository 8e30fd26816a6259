//! Checks a scenario and reports all of its problems in one error.

use crate::scenario::{FlowSpec, Scenario, SourceSpec, StartSpec, TcpSpec, WireSpec};
use airpath_aqm::AnyQueue;
use airpath_core::{Checks, ConfigError, above, at_least, at_most, below};
use airpath_link::AnyLink;
use airpath_phy::radio_budget::RadioBudgetConfig;
use airpath_tcp::congestion::AnyCongestion;
use airpath_tcp::window::AnyWindow;
use airpath_tcp::{OnOffConfig, RequestsConfig, SizeDistribution, VideoConfig};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Longest simulated time: 100 days.
const MAX_DURATION_NS: u64 = 100 * 86_400 * 1_000_000_000;

/// Largest IP packet, bytes.
const LARGEST_PACKET: u64 = 65_535;

/// Largest user number in a scenario.
const MAX_USER: u32 = 65_535;

/// Problem of a time that is not after the start of a flow.
const TOO_EARLY: &str = "not after the start";

/// Checks a table of a scenario that does not describe a component. Tables are `flow`, `radio` (the
/// link budget), `start`, `wire`, `size` and `on-off`. Returns `None` for any other table name.
///
/// # Errors
/// Reports all invalid values that can be found without the rest of the scenario.
pub fn check_table(table: &str, description: &Value) -> Option<Result<(), ConfigError>> {
    Some(match table {
        "flow" => read(description).and_then(|flow: FlowSpec| flow.check()),
        "radio" => read(description).and_then(|radio: RadioBudgetConfig| radio.check()),
        "start" => read(description).and_then(|start: StartSpec| start.validate()),
        "wire" => read(description).and_then(|wire: WireSpec| wire.validate()),
        "size" => read(description).and_then(|size: SizeDistribution| size.validate()),
        "on-off" => read(description).and_then(|on_off: OnOffConfig| on_off.validate()),
        "requests" => read(description).and_then(|of: RequestsConfig| of.validate()),
        "video" => read(description).and_then(|video: VideoConfig| video.validate()),
        _ => return None,
    })
}

fn read<T: DeserializeOwned>(description: &Value) -> Result<T, ConfigError> {
    T::deserialize(description)
        .map_err(|error| ConfigError::new("", description, error.to_string()))
}

impl Scenario {
    /// Checks the values of the scenario and of its built-in components. Errors name a flow by the
    /// index of its entry.
    ///
    /// # Errors
    /// Reports all problems that can be found without reading files and without building the
    /// network.
    pub fn check(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.nested("", self.check_values());
        for hop in self.hops.iter().rev() {
            let up = hop.up().map(|up| (up, hop.is_mirrored()));
            for (of, is_mirrored) in hop.down().map(|down| (down, false)).into_iter().chain(up) {
                checks.nested(&format!("{}.queue", of.name), AnyQueue::check(of.queues));
                if !is_mirrored {
                    checks.nested(&format!("{}.link", of.name), AnyLink::check(of.link));
                }
            }
        }
        for (number, entry) in self.flows.entries().iter().enumerate() {
            checks.nested(&format!("flows.{number}"), entry.check_components());
        }
        checks.finish()
    }
}

impl Scenario {
    /// Checks the values of the scenario itself, not those of its components.
    ///
    /// # Errors
    /// Reports all values with which the scenario cannot run, and all times that are out of order
    /// or after the end.
    pub fn check_values(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.nested("", self.validate());
        self.check_times(&mut checks);
        checks.finish()
    }

    /// Checks the values that the scenario needs to run, not those of its components.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let (mut checks, end) = (Checks::default(), self.duration_ns);
        if checks.within("duration", end, 1..=MAX_DURATION_NS) {
            let (others, warmup) = (["duration"], self.warmup_ns);
            checks.related_to(&others, "warmup", warmup, below(end), "not below duration");
        }
        checks.nested("", self.flows.validate());
        self.check_hops(&mut checks);
        self.check_controls(&mut checks);
        checks.within("record.ss_interval", self.record.ss_interval_ns, at_least(1_u64));
        checks.nested("", self.series());
        checks.finish()
    }

    /// Rejects events after the end of the scenario, and flow times that are out of order.
    fn check_times(&self, checks: &mut Checks) {
        // A duration of 0 is reported separately: times are not compared with it.
        let end = if self.duration_ns == 0 { u64::MAX } else { self.duration_ns };
        let others = ["duration"];
        for (number, control) in self.controls.iter().enumerate() {
            let field = format!("controls.{number}.at");
            checks.related_to(&others, &field, control.at_ns, at_most(end), "after duration");
        }
        for (number, entry) in self.flows.entries().iter().enumerate() {
            let (name, earliest_ns) = match entry.start {
                StartSpec::At { time_ns } => ("time_ns", time_ns),
                StartSpec::Uniform { low_ns, .. } => ("low_ns", low_ns),
                StartSpec::Poisson { from_ns, .. } => ("from_ns", from_ns),
            };
            let field = format!("flows.{number}.start.{name}");
            checks.related_to(&others, &field, earliest_ns, below(end), "not before duration");
            checks.nested(&format!("flows.{number}"), entry.check_times());
        }
    }
}

impl TcpSpec {
    fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        if checks.nested("options", self.options.validate()).is_some() {
            let (field, options) = ("options.receive_window", &self.options);
            let (others, least) = (["options.mss"], at_least(u64::from(options.mss)));
            checks.related_to(&others, field, options.receive_window, least, "below mss");
        }
        if let Some(bytes) = self.transfer_bytes {
            checks.within("transfer_bytes", bytes, at_least(1_u64));
        }
        if let Some(size) = &self.transfer {
            checks.nested("transfer", size.validate());
        }
        if let Some(application) = &self.application {
            checks.nested("application", application.validate());
        }
        if let Some(video) = &self.video {
            checks.nested("video", video.validate());
        }
        if let Some(requests) = &self.requests {
            checks.nested("requests", requests.validate());
        }
        let given = [
            ("transfer_bytes", self.transfer_bytes.is_some()),
            ("transfer", self.transfer.is_some()),
            ("application", self.application.is_some()),
            ("video", self.video.is_some()),
            ("requests", self.requests.is_some()),
        ];
        let mut given = given.into_iter().filter(|(_, given)| *given);
        if let (Some((first, _)), Some((second, _))) = (given.next(), given.next()) {
            let problem = format!("given together with {first}");
            checks.reject(second, "a table", &problem, "Use one of them");
        }
        checks.finish()
    }
}

impl FlowSpec {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.within("count", self.count, at_least(1_u64));
        if let Some(user) = self.user {
            checks.within("user", user, 0..=MAX_USER);
        }
        match &self.source {
            SourceSpec::Tcp(spec) => {
                checks.nested("", spec.validate());
            }
            SourceSpec::Cbr { rate_bps, packet_bytes }
            | SourceSpec::Poisson { rate_bps, packet_bytes } => {
                checks.within("rate_bps", *rate_bps, at_least(1_u64));
                checks.within("packet_bytes", *packet_bytes, 1..=LARGEST_PACKET);
            }
            SourceSpec::Voice(voice) => {
                checks.nested("", voice.validate(LARGEST_PACKET));
            }
        }
        let connections = self.connections();
        if connections > 0 && !self.count.is_multiple_of(connections) {
            let problem = "count is not a multiple of the connections of a client";
            let count = self.count.next_multiple_of(connections);
            let advice = format!("Set count = {count}");
            checks.reject_with(&["requests.connections"], "count", self.count, problem, &advice);
        }
        let is_tcp = matches!(self.source, SourceSpec::Tcp(_));
        if !is_tcp && self.ack_access.is_some() {
            checks.reject("ack_access", "a wire", "datagrams have no ACKs", "Remove it");
        }
        for (name, wire) in self.wires() {
            checks.nested(name, wire.validate());
        }
        checks.finish()
    }

    /// Checks all values and the order of the times.
    fn check(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.nested("", self.validate());
        checks.nested("", self.check_times());
        checks.finish()
    }

    /// Rejects times that are out of order.
    fn check_times(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        checks.nested("start", self.start.validate());
        let (start, latest_ns) = match self.start {
            StartSpec::At { time_ns } => ("start.time_ns", time_ns),
            StartSpec::Uniform { high_ns, .. } => ("start.high_ns", high_ns),
            StartSpec::Poisson { from_ns, .. } => ("start.from_ns", from_ns),
        };
        if let Some(stop_ns) = self.stop_ns {
            checks.related_to(&[start], "stop_ns", stop_ns, above(latest_ns), TOO_EARLY);
        }
        checks.finish()
    }

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

impl StartSpec {
    fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        match *self {
            StartSpec::Uniform { low_ns, high_ns } => {
                let (least, problem) = (at_least(low_ns), "before the earliest time");
                checks.related_to(&["low_ns"], "high_ns", high_ns, least, problem);
            }
            StartSpec::Poisson { from_ns, until_ns: Some(until_ns), .. } => {
                let least = above(from_ns);
                checks.related_to(&["from_ns"], "until_ns", until_ns, least, TOO_EARLY);
            }
            StartSpec::At { .. } | StartSpec::Poisson { .. } => {}
        }
        checks.finish()
    }
}

impl WireSpec {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        if let Some(rate_bps) = self.rate_bps {
            checks.within("rate_bps", rate_bps, at_least(1_u64));
        }
        if let Some(limit) = self.limit {
            limit.check(&mut checks);
            if self.rate_bps.is_none() {
                let problem = "nothing waits for a wire without a rate";
                checks.reject_with(
                    &["rate_bps"],
                    "limit",
                    "a limit",
                    problem,
                    "Set a rate for the wire",
                );
            }
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
            ("/flows/0/start/time_ns", json!(2)),
            ("/bottleneck/queue/max_th", json!(1)),
            ("/bottleneck/queue/max_p", json!(1.5)),
            ("/ack_path/queue/limit/packets", json!(0)),
        ])
        .check()
        .expect_err("seven problems");
        let fields: Vec<&str> = error.problems().iter().map(|found| &*found.field).collect();
        assert_eq!(
            fields,
            [
                "warmup",
                "flows.1.rate_bps",
                "flows.1.packet_bytes",
                "flows.0.start.time_ns",
                "bottleneck.queue.max_th",
                "bottleneck.queue.max_p",
                "reverse.queue.limit.packets",
            ]
        );
    }

    fn flow_problems(changes: &Value) -> Vec<String> {
        let mut flow = json!({
            "source": {"kind": "cbr", "rate_bps": 1, "packet_bytes": 1}, "stop_ns": 9,
            "access": {"delay_ns": 0}, "egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 0}});
        for (key, value) in changes.as_object().expect("a table") {
            flow[key] = value.clone();
        }
        let checked = check_table("flow", &flow).expect("a table of scenarios");
        let error = checked.err();
        error.iter().flat_map(ConfigError::problems).map(ToString::to_string).collect()
    }

    #[test]
    fn check_rejects_flow_times_out_of_order() {
        let at = |time_ns: u64| json!({"kind": "at", "time_ns": time_ns});
        let uniform = |low_ns: u64, high_ns: u64| json!({"kind": "uniform", "low_ns": low_ns, "high_ns": high_ns});
        let poisson = |until_ns: u64| json!({"kind": "poisson", "from_ns": 5, "gap_ns": 1, "until_ns": until_ns});
        for accepted in [at(8), uniform(8, 8), uniform(0, 8), poisson(6)] {
            assert!(flow_problems(&json!({"start": accepted})).is_empty(), "{accepted}");
        }
        let after = "not after the start. Accepted: more than";
        for (start, problem) in [
            (at(9), format!("stop_ns = 9: {after} 9")),
            (uniform(0, 9), format!("stop_ns = 9: {after} 9")),
            (poisson(5), format!("start.until_ns = 5: {after} 5")),
            (
                uniform(3, 2),
                "start.high_ns = 2: before the earliest time. Accepted: at least 3".to_owned(),
            ),
        ] {
            assert_eq!(flow_problems(&json!({"start": start})), [problem]);
        }
    }

    #[test]
    fn check_rejects_a_receive_window_below_the_mss() {
        let with = |bytes: u64| {
            let options = airpath_tcp::profile("rfc", json!({"receive_window": bytes}));
            flow_problems(&json!({
                "start": {"kind": "at", "time_ns": 0},
                "source": {
                    "kind": "tcp", "congestion": {"kind": "reno"},
                    "options": options.expect("a profile")}}))
        };
        assert!(with(1460).is_empty());
        assert_eq!(
            with(1459),
            ["options.receive_window = 1459: below mss. Accepted: at least 1460"]
        );
    }

    #[test]
    fn check_table_checks_a_single_table() {
        let problems = |table: &str, description: Value| {
            check_table(table, &description).map(|checked| checked.map_err(|e| e.to_string()))
        };
        assert_eq!(problems("wire", json!({"rate_bps": null, "delay_ns": 0})), Some(Ok(())));
        assert_eq!(
            problems("wire", json!({"rate_bps": null, "delay_ns": 0, "limit": {"bytes": 1}})),
            Some(Err(
                "limit = a limit: nothing waits for a wire without a rate. Set a rate for the wire"
                    .to_owned()
            ))
        );
        let zero = "bytes = 0: below 1. Accepted: at least 1";
        let size = json!({"kind": "fixed", "bytes": 0});
        assert_eq!(problems("size", size.clone()), Some(Err(zero.to_owned())));
        let on_off = json!({"on": {"size": size}, "off": {"kind": "fixed", "time_ns": 0}});
        assert_eq!(problems("on-off", on_off), Some(Err(format!("on.size.{zero}"))));
        assert_eq!(problems("station", json!({})), None);
    }
}
