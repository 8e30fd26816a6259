//! Checks of scenarios that several models share.

use crate::reasons::Reason;
use crate::registry::MODELS;
use airpath_core::{Bytes, ConfigError, Duration, registry};
use airpath_link::FramingConfig;
use airpath_path::{Direction, FlowSpec, Scenario, StartSpec, WireSpec};
use serde_json::Value;

/// Latest accepted start of a flow, as a share of the measured time.
const LATEST_START: f64 = 0.1;

/// Rejects rate changes during the run, because a steady state requires constant rates.
pub(crate) fn no_changes(scenario: &Scenario) -> Result<(), Reason> {
    let covered = "rates that stay as they are, not those that [[control]] changes during the run";
    let refused = || Reason::not_covered("control", "changes of the rate", covered);
    if scenario.controls.is_empty() { Ok(()) } else { Err(refused()) }
}

/// Rejects a link description with an error process.
pub(crate) fn no_errors(link: &Value) -> Result<(), Reason> {
    match link.get("errors").filter(|errors| !errors.is_null()) {
        None => Ok(()),
        Some(errors) => {
            let (kind, _) = registry::split_kind(errors)?;
            let covered = "links without an error process, with loss or per";
            Err(Reason::not_covered("errors.kind", kind, covered))
        }
    }
}

/// Returns the reason for a link kind that a model does not cover; `covered` lists the covered
/// kinds. Link kinds with a dedicated model give [`Reason::other_link`].
pub(crate) fn other_kind(kind: &str, covered: &str) -> Reason {
    if MODELS.iter().any(|model| model.own_link == Some(kind)) {
        Reason::other_link(kind, covered)
    } else {
        Reason::not_covered("kind", kind, covered)
    }
}

/// Rejects a link with HARQ or ARQ.
pub(crate) fn no_repetitions(link: &Value) -> Result<(), Reason> {
    let given = |key: &str, value: &str| {
        let value = link.get(key)?.get(value)?;
        Some((key.to_owned(), value.to_string()))
    };
    let refused = given("harq", "attempts").map(|(key, value)| (key + ".attempts", value));
    let refused =
        refused.or_else(|| given("arq", "delay_ns").map(|(key, ns)| (key + ".delay", ns + " ns")));
    match refused {
        None => Ok(()),
        Some((key, value)) => Err(Reason::not_covered(key, value, "links that repeat nothing")),
    }
}

/// Rejects a flow that is not active during the complete measured time.
pub(crate) fn always_there(flow: &FlowSpec, scenario: &Scenario) -> Result<(), Reason> {
    if flow.direction == Direction::Reverse {
        let covered = "flows whose data takes the bottleneck, direction = forward";
        return Err(Reason::not_covered("direction", "reverse", covered));
    }
    if flow.stop_ns.is_some() {
        return Err(Reason::not_covered("stop", "a time", "flows without an end"));
    }
    let latest_ns = match flow.start {
        StartSpec::Poisson { .. } => {
            return Err(Reason::not_covered("arrivals", "poisson", "flows that are there"));
        }
        StartSpec::At { time_ns } => time_ns,
        StartSpec::Uniform { high_ns, .. } => high_ns,
    };
    let measured_ns = (scenario.duration_ns - scenario.warmup_ns) as f64;
    if latest_ns as f64 > scenario.warmup_ns as f64 + LATEST_START * measured_ns {
        let start = format!("{} s", latest_ns as f64 / 1e9);
        let covered = "flows that are there from the first tenth of the measured time on";
        return Err(Reason::not_covered("start", start, covered));
    }
    Ok(())
}

/// Returns the rate of IP packets of one size on a link with this framing, bit/s.
///
/// # Errors
/// Fails if the framing is invalid.
pub(crate) fn rate_of_packets_bps(
    rate_bps: u64,
    framing: FramingConfig,
    packet: Bytes,
) -> Result<f64, ConfigError> {
    let on_air = framing.framing()?.on_air(packet);
    Ok(rate_bps as f64 * packet.0 as f64 / on_air.0 as f64)
}

/// Rejects a flow with queue limits on its wires.
pub(crate) fn no_limits(flow: &FlowSpec) -> Result<(), Reason> {
    let wires = flow.wires();
    wires.iter().try_for_each(|(name, wire)| no_limit(wire).map_err(|reason| reason.under(name)))
}

/// Rejects a wire with a queue limit.
pub(crate) fn no_limit(wire: &WireSpec) -> Result<(), Reason> {
    let refused = || Reason::not_covered("limit", "a limit", "wires that never drop");
    if wire.limit.is_none() { Ok(()) } else { Err(refused()) }
}

/// Returns a delay in seconds.
pub(crate) fn delay_s(delay: Duration) -> f64 {
    delay.as_nanos() as f64 * 1e-9
}
