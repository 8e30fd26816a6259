//! Builds the path of a run from its description. The path has open ends where packets of the
//! kernel enter and leave.

use crate::description::{Description, FileRole, FileSpec, Traffic};
use crate::flow_table::{Connections, FlowTable, MOST_FLOWS};
use airpath_core::{ConfigError, FlowId};
use airpath_link::Files;
use airpath_path::{Components, Network, OpenEnds, Scenario, SourceSpec, build_cut};
use airpath_phy::per_table::PerTable;
use airpath_phy::snr::SnrSteps;
use airpath_trace::Trace;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// A prepared run.
pub struct Prepared {
    /// The scenario. In a run with commands, its TCP flows are replaced by flows for the
    /// connections of the commands.
    pub scenario: Scenario,
    /// Network of the path.
    pub network: Network,
    /// Users with an address on the client's side, in the order of their flows.
    pub users: Vec<u16>,
    /// Index in `users` of the user that runs the client's command.
    pub default: usize,
    /// Number of flows for connections per user; 0 in a run without commands.
    slots: usize,
}

impl Prepared {
    /// Reads the files and builds the path. The scenario may use the plug-ins in `components`.
    ///
    /// # Errors
    /// Fails if the scenario or a file is invalid.
    pub fn new(
        description: &Description,
        components: &Components,
    ) -> Result<Prepared, ConfigError> {
        let mut document = description.scenario.clone();
        let of_commands = match &description.traffic {
            Traffic::Flows { .. } => None,
            Traffic::Commands { like, slots, duration_ns, .. } => {
                let scenario = Scenario::from_json(&document.to_string())?;
                if let Some(duration) = duration_ns {
                    document["duration_ns"] = json!(duration);
                }
                Some(for_commands(&mut document, &scenario, *like, *slots)?)
            }
        };
        let scenario = Scenario::from_json(&document.to_string())?;
        let (users, default, slots) = match of_commands {
            Some(found) => found,
            None => (users(&scenario), 0, 0),
        };
        if slots == 0 && scenario.flows.len() > MOST_FLOWS as usize {
            let problem = format!("more than {MOST_FLOWS} flows have no ports");
            return Err(ConfigError::new("flows", scenario.flows.len(), problem));
        }
        let files = Arc::new(files(description)?);
        let is_tcp: Vec<bool> =
            scenario.flows.iter().map(|flow| matches!(flow.source, SourceSpec::Tcp(_))).collect();
        // Datagram flows are simulated, so they have no open ends.
        let open = |flow: FlowId| {
            if is_tcp[flow.0 as usize] { OpenEnds::BOTH } else { OpenEnds::NONE }
        };
        let Description { seed, replication, .. } = *description;
        let network = build_cut(&scenario, components, &files, seed, replication, &open)?;
        Ok(Prepared { scenario, network, users, default, slots })
    }

    /// Creates the table that assigns packets to flows. `clients` are the addresses of the users.
    pub fn table(&self, clients: Vec<Ipv4Addr>) -> FlowTable {
        if self.slots == 0 {
            return FlowTable::Ports { flows: self.scenario.flows.len() as u32 };
        }
        FlowTable::Connections(Connections::new(clients, self.default, self.slots))
    }
}

/// Returns the user of flow `number`.
fn user_of(number: usize, user: Option<u32>) -> u16 {
    user.unwrap_or(number as u32) as u16
}

/// Returns the users of the TCP flows without repetition, in the order of the flows.
fn users(scenario: &Scenario) -> Vec<u16> {
    let mut users = Vec::new();
    for (number, flow) in scenario.flows.iter().enumerate() {
        let user = user_of(number, flow.user);
        if matches!(flow.source, SourceSpec::Tcp(_)) && !users.contains(&user) {
            users.push(user);
        }
    }
    users
}

/// Replaces the TCP flows by flows for the connections of commands: `slots` flows for each user,
/// but at most 65 535 flows in total. They have the wires and the hops of the user's first flow, or
/// those of flow `like` for its user. Datagram flows are kept. Returns the users, the index of the user of flow `like`, and the number of flows per
/// user.
fn for_commands(
    document: &mut Value,
    scenario: &Scenario,
    like: u32,
    slots: u32,
) -> Result<(Vec<u16>, usize, usize), ConfigError> {
    let users = users(scenario);
    let Some(flow) = scenario.flows.iter().nth(like as usize) else {
        return Err(ConfigError::new("traffic.like", like, "not a flow of the scenario"));
    };
    let SourceSpec::Tcp(_) = flow.source else {
        return Err(ConfigError::new("traffic.like", like, "not a TCP flow"));
    };
    let user = user_of(like as usize, flow.user);
    let default = users.iter().position(|other| *other == user).unwrap_or(0);
    let slots = slots.clamp(1, (65_535 / users.len() as u32).max(1));
    let entries = document["flows"].as_array().cloned().unwrap_or_default();
    let (mut of_users, mut others): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let (mut seen, mut number) = (Vec::new(), 0);
    for entry in entries {
        let count = entry["count"].as_u64().unwrap_or(1) as usize;
        if entry["source"]["kind"] != "tcp" {
            // If the user is not given, it is derived from the flow number. Flow numbers change
            // here, so the user is set explicitly.
            if entry["user"].is_null() {
                others.extend((number..number + count).map(|place| {
                    let mut one = entry.clone();
                    one["count"] = json!(1);
                    one["user"] = json!(user_of(place, None));
                    one
                }));
            } else {
                others.push(entry);
            }
            number += count;
            continue;
        }
        let own = entry["user"].as_u64().map(|user| user as u32);
        for place in number..number + count {
            let user = user_of(place, own);
            let template = || template(&entry, slots, user);
            match seen.iter().position(|other| *other == user) {
                None => {
                    seen.push(user);
                    of_users.push(template());
                }
                Some(before) if place == like as usize => of_users[before] = template(),
                Some(_) => {}
            }
        }
        number += count;
    }
    of_users.extend(others);
    document["flows"] = json!(of_users);
    document["warmup_ns"] = json!(0);
    Ok((users, default, slots as usize))
}

/// Returns the description of `slots` flows for the connections of `user`, with the path of the
/// flows of `entry`. Data of commands take both directions; the description is that of downloads.
fn template(entry: &Value, slots: u32, user: u16) -> Value {
    let mut template = entry.clone();
    if entry["direction"] == "reverse" {
        // The wires by their places: from the server, to the client, from the client, to the server.
        let wire = |key: &str| match &entry[key] {
            Value::Null => json!({"delay_ns": 0}),
            wire => wire.clone(),
        };
        template["access"] = wire("ack_access");
        template["egress"] = wire("return_wire");
        template["ack_access"] = wire("access");
        template["return_wire"] = wire("egress");
    }
    template["count"] = json!(slots);
    template["user"] = json!(user);
    template["direction"] = json!("forward");
    template["start"] = json!({"kind": "at", "time_ns": 0});
    for key in ["transfer_bytes", "transfer", "application", "video", "requests"] {
        if let Some(source) = template["source"].as_object_mut() {
            source.remove(key);
        }
    }
    template
}

/// Reads the files that the scenario refers to.
fn files(description: &Description) -> Result<Files, ConfigError> {
    let mut files = Files::default();
    for (key, FileSpec { role, text }) in &description.files {
        let wrong =
            |error: &dyn std::error::Error| ConfigError::new("files", key, error.to_string());
        match role {
            FileRole::Mahimahi => {
                let trace = Trace::parse_mahimahi(key, text).map_err(|error| wrong(&error))?;
                files.traces.insert(key.clone(), Arc::new(trace));
            }
            FileRole::Csv => {
                let trace = Trace::parse_csv(key, text).map_err(|error| wrong(&error))?;
                files.traces.insert(key.clone(), Arc::new(trace));
            }
            FileRole::Table => {
                let table = PerTable::from_json(text).map_err(|error| wrong(&error))?;
                files.tables.insert(key.clone(), Arc::new(table));
            }
            FileRole::Snr => {
                let steps = SnrSteps::parse(key, text).map_err(|error| wrong(&error))?;
                files.snr.insert(key.clone(), Arc::new(steps));
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_core::Duration;

    fn flow(change: &Value) -> Value {
        let options = airpath_tcp::profile("rfc", json!({})).expect("a profile");
        let wire = |delay_ns: u64| json!({"delay_ns": delay_ns});
        let mut flow = json!({
            "source": {"kind": "tcp", "congestion": {"kind": "reno"}, "options": options,
                       "transfer_bytes": 9},
            "start": {"kind": "at", "time_ns": 5}, "access": wire(1), "egress": wire(2),
            "return_wire": wire(4)});
        for (key, value) in change.as_object().expect("a table") {
            flow[key] = value.clone();
        }
        flow
    }

    /// Prepares a run of a command like flow `like` over hops `a` and `b`, both of 10 and 20 ns.
    fn like(like: u32, flows: &[Value]) -> Prepared {
        let queue = json!({"kind": "droptail", "limit": {"packets": 9}});
        let direction = |delay_ns: u64| json!({"link": {"kind": "fixed", "rate_bps": 8}, "queue": queue, "delay_ns": delay_ns});
        let hop = |name: &str| json!({"name": name, "down": direction(10), "up": direction(20)});
        let document = json!({
            "scenario": {"duration_ns": 9, "flows": flows, "hops": [hop("a"), hop("b")]},
            "seed": 1, "traffic": {"kind": "commands", "client": ["true"], "like": like,
                                   "slots": 2}});
        let description = serde_json::from_value(document).expect("a description");
        Prepared::new(&description, &Components::default()).expect("a run")
    }

    #[test]
    fn connections_of_a_command_cross_the_hops_of_the_flow() {
        let flows = [flow(&json!({"hops": ["a", "a"]})), flow(&json!({"hops": ["b", "b"]}))];
        let Prepared { scenario, users, default, slots, .. } = like(1, &flows);
        assert_eq!((users, default, slots), (vec![0, 1], 1, 2));
        let crossed: Vec<_> = scenario.flows.iter().map(|flow| scenario.crossed(flow)).collect();
        assert_eq!(crossed, [0..=0, 0..=0, 1..=1, 1..=1]);
    }

    #[test]
    fn connections_like_a_flow_whose_user_has_several_flows_have_its_hops() {
        let of_user = |hop: &str| flow(&json!({"hops": [hop, hop], "user": 3}));
        let Prepared { scenario, users, .. } = like(1, &[of_user("a"), of_user("b")]);
        assert_eq!(users, [3]);
        assert!(scenario.flows.iter().all(|flow| scenario.crossed(flow) == (1..=1)));
        let Prepared { scenario, .. } = like(0, &[of_user("a"), of_user("b")]);
        assert!(scenario.flows.iter().all(|flow| scenario.crossed(flow) == (0..=0)));
    }

    #[test]
    fn connections_like_an_upload_have_its_delays_in_both_directions() {
        let wires = |prepared: &Prepared| {
            let flow = prepared.scenario.flows.iter().next().expect("a flow");
            flow.wires().map(|(_, wire)| wire.delay_ns)
        };
        assert_eq!(wires(&like(0, &[flow(&json!({}))])), [1, 2, 0, 4]);
        let upload = like(0, &[flow(&json!({"direction": "reverse"}))]);
        assert_eq!(wires(&upload), [0, 4, 1, 2]);
    }

    #[test]
    fn base_rtt_is_that_of_the_shortest_route_at_its_least_delay() {
        let base_rtt = |controls: Value| {
            let flows = [flow(&json!({})), flow(&json!({"hops": ["b", "b"]}))];
            let mut prepared = like(0, &flows);
            prepared.scenario.controls = serde_json::from_value(controls).expect("controls");
            crate::validity::base_rtt(&prepared.scenario)
        };
        assert_eq!(base_rtt(json!([])), Some(Duration::from_nanos(30 + 7)));
        let delay = |at_ns: u64, hop: &str, change: Value| {
            let mut action = change;
            action["kind"] = json!("delay");
            json!({"at_ns": at_ns, "hop": hop, "action": action})
        };
        let changes = json!([
            delay(1, "b", json!({"delay_ns": 8, "direction": "reverse"})),
            delay(2, "b", json!({"delay_ns": 90})),
            delay(3, "a", json!({"delay_ns": 0})),
        ]);
        assert_eq!(base_rtt(changes), Some(Duration::from_nanos(10 + 8 + 7)));
    }
}
