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
/// but at most 65 535 flows in total. They have the wires of the user's first flow. Datagram flows
/// are kept. Returns the users, the index of the user of flow `like`, and the number of flows per
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
            if seen.contains(&user) {
                continue;
            }
            seen.push(user);
            let mut template = entry.clone();
            template["count"] = json!(slots);
            template["user"] = json!(user);
            template["direction"] = json!("forward");
            template["start"] = json!({"kind": "at", "time_ns": 0});
            for key in ["transfer_bytes", "transfer", "application"] {
                if let Some(source) = template["source"].as_object_mut() {
                    source.remove(key);
                }
            }
            of_users.push(template);
        }
        number += count;
    }
    of_users.extend(others);
    document["flows"] = json!(of_users);
    document["warmup_ns"] = json!(0);
    Ok((users, default, slots as usize))
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
