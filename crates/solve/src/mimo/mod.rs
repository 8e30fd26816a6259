//! Computes the failure probabilities of packets on a MIMO link, and the TCP throughput.
//!
//! For each direction, the model computes the symbol error rates. For each packet size, it computes
//! the failure probability, the SNRs at which packets fail with probabilities 0.5, 0.1 and 0.01,
//! and the code rate with the largest goodput. The TCP throughput is that of the fixed point of
//! `airpath-model` over a fixed link, which has the rate available for IP packets and the failure
//! probability as loss. If the fixed point does not cover the scenario, the solution contains the
//! reasons and no throughput.
//!
//! Source: vcp-2008 §II for the failure probabilities.

mod direction;

pub use direction::{MimoDirection, MimoPacket};

use crate::dumbbell::DumbbellScenario;
use crate::fixed_point::{self, FixedPoint};
use crate::model::Model;
use crate::preconditions::{no_changes, no_errors};
use crate::reasons::{Reason, Reasons};
use airpath_core::{Bytes, ConfigError, registry};
use airpath_link::{Files, MimoConfig};
use airpath_model::ModelError;
use airpath_path::{AckPath, Scenario, SourceSpec};
use direction::{capacity_bps, direction};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// ACK loss above which a warning is given: the fixed point neglects lost ACKs, which reduce TCP
/// throughput.
const ACK_LOSS_THAT_MATTERS: f64 = 0.05;

/// The MIMO model.
pub struct MimoPackets;

/// A scenario in the model's terms.
#[derive(Debug)]
pub struct Problem {
    /// MIMO links by direction, `forward` and `reverse`.
    links: BTreeMap<&'static str, MimoConfig>,
    sizes: Sizes,
    /// Problem of the fixed point, or the reasons for which the fixed point does not cover the
    /// scenario.
    tcp: Result<fixed_point::Problem, Vec<String>>,
}

/// Packet sizes of a scenario, as pairs: true for an ACK, and bytes.
type Sizes = BTreeSet<(bool, u64)>;

/// Failure probabilities of packets, and TCP throughput.
#[derive(Clone, Debug, Serialize)]
pub struct Solution {
    /// T of the fixed point: rate of the IP packets that reach the receivers, bit/s. `None` if the
    /// fixed point does not cover the scenario.
    pub throughput_bps: Option<f64>,
    /// Results by direction, `forward` and `reverse`.
    pub directions: BTreeMap<&'static str, MimoDirection>,
    /// Reasons for which the throughput is not computed, one per line; empty if it is computed.
    pub no_throughput: Vec<String>,
    /// Results of the fixed point by flow.
    pub flows: Vec<fixed_point::Flow>,
    /// Warnings to check before trusting the result.
    pub warnings: Vec<String>,
}

const LINK: &str = "mimo";

impl Model for MimoPackets {
    const NAME: &'static str = "mimo";
    const SUMMARY: &'static str =
        "Packets over a MIMO link: how often they fail, the best code rate, Reno with that loss.";
    const OWN_LINK: Option<&'static str> = Some(LINK);
    type Problem = Problem;
    type Solution = Solution;

    fn covers_dumbbell(scenario: &DumbbellScenario, files: &Files) -> Result<Problem, Reasons> {
        let mut reasons = Reasons::default();
        reasons.keep(no_changes(scenario));
        let forward = &scenario.bottleneck.link;
        let mut links = BTreeMap::new();
        for (name, place, link) in
            [("forward", "bottleneck", Some(forward)), ("reverse", "ack_path", back(scenario))]
        {
            let Some(link) = link else { continue };
            if name == "reverse" && std::ptr::eq(link, forward) {
                links.extend(links.get("forward").cloned().map(|config| (name, config)));
                continue;
            }
            let under = |reason: Reason| reason.under("link").under(place);
            let (kind, parameters) = registry::split_kind(link).map_err(Reason::from)?;
            if kind != LINK {
                if name == "forward" {
                    reasons.keep::<()>(Err(under(Reason::other_link(&kind, LINK))));
                }
                continue;
            }
            reasons.keep(no_errors(link).map_err(under));
            let read = || {
                let config: MimoConfig = registry::read_config(&parameters)?;
                config.channel()?;
                Ok(config)
            };
            let read = read().map_err(|error: ConfigError| under(error.into()));
            links.extend(reasons.keep(read).map(|config| (name, config)));
        }
        let sizes = sizes(scenario);
        if reasons.iter().len() > 0 {
            return reasons.or(None);
        }
        let tcp = without_radio(scenario, &links, &sizes)
            .map_err(|error| vec![error.to_string()])
            .and_then(|plain| {
                FixedPoint::covers_dumbbell(&plain, files).map_err(|reasons| lines(&reasons))
            });
        reasons.or(Some(Problem { links, sizes, tcp }))
    }

    fn solve(problem: &Problem) -> Result<Solution, ModelError> {
        let directions: BTreeMap<&str, MimoDirection> = problem.directions();
        let found = match &problem.tcp {
            Ok(tcp) => FixedPoint::solve(tcp).map_err(|error| vec![error.to_string()]),
            Err(lines) => Err(lines.clone()),
        };
        let mut warnings = Vec::new();
        if let Ok(tcp) = &found {
            let back = directions.get("reverse").into_iter().flat_map(|one| &one.packets);
            let ahead = directions.get("forward").into_iter().flat_map(|one| &one.packets);
            warnings.extend(tcp.warnings.iter().cloned());
            warnings.extend(ahead.filter_map(MimoPacket::warning_of_runs));
            warnings.extend(back.filter_map(MimoPacket::warning_of_acks));
        }
        let (throughput_bps, flows, no_throughput) = match found {
            Ok(tcp) => (Some(tcp.throughput_bps), tcp.flows, Vec::new()),
            Err(lines) => (None, Vec::new(), lines),
        };
        Ok(Solution { throughput_bps, directions, no_throughput, flows, warnings })
    }
}

/// Returns the link of the ACK path, if any.
fn back(scenario: &DumbbellScenario) -> Option<&Value> {
    match &scenario.ack_path {
        AckPath::Ideal {} => None,
        AckPath::Link { link, .. } => Some(link),
        AckPath::Reverse { link, .. } => Some(link.as_ref().unwrap_or(&scenario.bottleneck.link)),
    }
}

fn sizes(scenario: &Scenario) -> Sizes {
    let of = |source: &SourceSpec| match source {
        SourceSpec::Tcp(spec) => {
            let header = u64::from(spec.options.whole_header());
            vec![(false, u64::from(spec.options.mss) + header), (true, header)]
        }
        SourceSpec::Cbr { packet_bytes, .. } | SourceSpec::Poisson { packet_bytes, .. } => {
            vec![(false, *packet_bytes)]
        }
        SourceSpec::Voice(voice) => vec![(false, voice.packet_bytes)],
    };
    scenario.flows.iter().flat_map(|flow| of(&flow.source)).collect()
}

/// Formats the reasons for which the fixed point does not cover a scenario. For VCP the text is
/// different, because no model computes its throughput.
fn lines(reasons: &Reasons) -> Vec<String> {
    let line = |reason: &Reason| {
        if reason.field.ends_with(".cc") && reason.value == "vcp" {
            return format!(
                "{} = vcp: there is no model of its throughput. Simulate it",
                reason.field
            );
        }
        reason.line(Some(FixedPoint::NAME))
    };
    reasons.iter().map(line).collect()
}

/// Replaces the MIMO links of a scenario by fixed links. Their rate is the rate available for
/// packets of the largest size. The link for data has the loss of the MIMO link; the link for ACKs
/// has no loss.
fn without_radio(
    scenario: &DumbbellScenario,
    links: &BTreeMap<&str, MimoConfig>,
    sizes: &Sizes,
) -> Result<DumbbellScenario, ConfigError> {
    let mut plain = scenario.clone();
    let size = |of_acks| {
        let found = sizes.iter().filter(|(is_ack, _)| *is_ack == of_acks).map(|(_, bytes)| *bytes);
        Bytes(found.max().unwrap_or(1))
    };
    let fixed = |config: &MimoConfig, packet: Bytes, is_lost: bool| {
        let channel = config.channel()?;
        let loss = if is_lost { channel.failure(packet).clamp(0.0, 1.0) } else { 0.0 };
        let rate_bps = capacity_bps(config, &channel, packet) as u64;
        Ok(json!({"kind": "fixed", "rate_bps": rate_bps.max(1), "loss": loss}))
    };
    let forward_ns = plain.bottleneck.delay_ns;
    if let Some(config) = links.get("forward") {
        plain.bottleneck.link = fixed(config, size(false), true)?;
    }
    if let Some(config) = links.get("reverse") {
        let of_acks = fixed(config, size(true), false)?;
        match &mut plain.ack_path {
            AckPath::Ideal {} => {}
            AckPath::Link { link, .. } => *link = of_acks,
            AckPath::Reverse { link, delay_ns, .. } => {
                let as_forward = if link.is_none() { forward_ns } else { 0 };
                *delay_ns = Some(delay_ns.unwrap_or(as_forward));
                *link = Some(of_acks);
            }
        }
    }
    Ok(plain)
}

impl Problem {
    fn directions(&self) -> BTreeMap<&'static str, MimoDirection> {
        let mut found: BTreeMap<&str, MimoDirection> = BTreeMap::new();
        for (name, config) in &self.links {
            let as_forward = self.links.get("forward").filter(|_| *name == "reverse");
            let one = match as_forward {
                Some(forward) if forward == config => found["forward"].clone(),
                _ => direction(config, &self.sizes),
            };
            found.insert(name, one);
        }
        found
    }
}
