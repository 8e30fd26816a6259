//! What of a scenario the fixed-point model covers: a round-trip time for each flow, and a refusal
//! that names the key of everything else.
//!
//! Covered beside the bottleneck: propagation anywhere; transmission on wires, on the backhaul and
//! on the ACK path where it is fast enough that nothing waits there.

use airpath_core::{Bytes, ConfigError, registry};
use airpath_model::{Regime, Tcp};
use airpath_path::{AckPath, FlowSpec, Scenario, SourceSpec, StartSpec, TcpSpec, WireSpec};
use airpath_tcp::{EcnUse, RtoFloor, TcpOptions, WindowGrowth};
use serde_json::Value;

/// How much faster than the stream of ACKs a hop must be: with half of it used, hardly any waits.
const ROOM_FOR_ACKS: f64 = 2.0;
/// Lost ACKs that hardly slow a window down: 1 % of them cost at most 0.5 % of the rate.
const ACK_LOSSES: f64 = 0.01;
/// Room in a drop-tail queue of the ACK path that a burst of ACKs needs, packets.
const ACK_QUEUE: u64 = 10;
/// Flows must be there from this share of the run after the warm-up on.
const LATEST_START: f64 = 0.1;

/// The error for a value that the model does not know.
pub(crate) fn no_model(field: &str, value: &str, accepted: &str) -> ConfigError {
    let problem = format!("no analytic model covers it. Covered: {accepted}");
    ConfigError::new(field, value, problem)
}

/// Refuses changes during the run, and channels: the model knows independent losses of the
/// bottleneck alone.
pub(crate) fn refuse_changes(scenario: &Scenario) -> Result<(), ConfigError> {
    if !scenario.controls.is_empty() {
        let accepted =
            "rates that stay as they are, not those that [[control]] changes during the run";
        return Err(no_model("control", "changes of the rate", accepted));
    }
    let links = [("bottleneck", Some(&scenario.bottleneck.link)), ("ack_path", ack_link(scenario))];
    for (name, link) in links {
        if let Some(channel) = link.and_then(|link| link.get("channel")).filter(|c| !c.is_null()) {
            let (kind, _) = registry::split_kind(channel)?;
            let field = format!("{name}.link.channel.kind");
            return Err(no_model(&field, &kind, "links without a channel, with loss or per"));
        }
    }
    Ok(())
}

/// The ACK path's own link.
fn ack_link(scenario: &Scenario) -> Option<&Value> {
    match &scenario.ack_path {
        AckPath::Ideal {} => None,
        AckPath::Link { link, .. } => Some(link),
        AckPath::Reverse { link, .. } => link.as_ref(),
    }
}

// --- flows ---------------------------------------------------------------------------------------

/// The options of the first flow; the others' may differ in what the model does not look at.
pub(crate) fn common_options(scenario: &Scenario) -> Result<&TcpOptions, ConfigError> {
    let mut common: Option<&TcpSpec> = None;
    for (number, flow) in scenario.flows.iter().enumerate() {
        let spec = of_flow(flow, scenario).map_err(|e| e.under(&format!("flows.{number}")))?;
        let first = common.get_or_insert(spec);
        if let Some(option) = difference(&first.options, &spec.options) {
            let field = format!("flows.{number}.tcp.{option}");
            return Err(no_model(
                &field,
                "another than the first flow's",
                "the same for all flows",
            ));
        }
    }
    let none = || no_model("flows", "none", "at least one TCP flow");
    common.map(|spec| &spec.options).ok_or_else(none)
}

/// The option in which two flows differ for the model, if any.
fn difference(first: &TcpOptions, other: &TcpOptions) -> Option<&'static str> {
    let seen = |options: &TcpOptions| {
        [
            ("mss", f64::from(options.mss)),
            ("header", f64::from(options.header_bytes)),
            ("timestamps", f64::from(options.whole_header())),
            ("receive_window", window_packets(options)),
            ("min_rto", options.min_rto.as_secs_lossy()),
            ("delayed_ack_segments", f64::from(options.delayed_ack_segments)),
            ("window_growth", packets_per_ack(options)),
        ]
    };
    let pairs = seen(first).into_iter().zip(seen(other));
    pairs.into_iter().find(|(one, two)| one.1 != two.1).map(|(one, _)| one.0)
}

/// The connection of a flow of unlimited data under Reno, without ECN.
fn of_flow<'a>(flow: &'a FlowSpec, scenario: &Scenario) -> Result<&'a TcpSpec, ConfigError> {
    let spec = match &flow.source {
        SourceSpec::Tcp(spec) => &**spec,
        SourceSpec::Cbr { .. } => return Err(no_model("source", "cbr", "tcp")),
        SourceSpec::Poisson { .. } => return Err(no_model("source", "poisson", "tcp")),
    };
    let (law, _) = registry::split_kind(&spec.congestion)?;
    if law != "reno" {
        return Err(no_model("cc", &law, "reno"));
    }
    if spec.options.ecn != EcnUse::Off {
        return Err(no_model("tcp.ecn", "on", "flows without ECN"));
    }
    if spec.options.rto_floor == RtoFloor::Variance {
        return Err(no_model("tcp.rto_floor", "variance", "total"));
    }
    if spec.transfer_bytes.is_some() || spec.transfer.is_some() {
        return Err(no_model("size", "a transfer", "flows of unlimited data"));
    }
    if spec.application.is_some() {
        return Err(no_model("on_off", "bursts and pauses", "flows of unlimited data"));
    }
    if let Some(window) = &spec.window
        && registry::split_kind(window)?.0 != "fixed"
    {
        return Err(no_model("window", &registry::split_kind(window)?.0, "fixed"));
    }
    refuse_waiting_for_acks(&spec.options)?;
    refuse_absence(flow, scenario)?;
    Ok(spec)
}

/// Refuses flows that are not there all the time.
fn refuse_absence(flow: &FlowSpec, scenario: &Scenario) -> Result<(), ConfigError> {
    if flow.stop_ns.is_some() {
        return Err(no_model("stop", "a time", "flows without an end"));
    }
    let latest_ns = match flow.start {
        StartSpec::Poisson { .. } => {
            return Err(no_model("arrivals", "poisson", "flows that are there"));
        }
        StartSpec::At { time_ns } => time_ns,
        StartSpec::Uniform { high_ns, .. } => high_ns,
    };
    let measured_ns = (scenario.duration_ns - scenario.warmup_ns) as f64;
    if latest_ns as f64 > scenario.warmup_ns as f64 + LATEST_START * measured_ns {
        let start = format!("{} s", latest_ns as f64 * 1e-9);
        let accepted = "flows that are there from the first tenth of the measured time on";
        return Err(no_model("start", &start, accepted));
    }
    Ok(())
}

/// W_max, packets: whole segments, since a sender sends nothing else (RFC 1122 §4.2.3.4), in
/// whole ACKs. Of a window of 7 segments a receiver that acknowledges every second one keeps the
/// last until the next comes; 6 make the round trip.
///
/// The window of qawla-2015 §4 is no whole number of its packets, and stays as it was published.
pub(crate) fn window_packets(options: &TcpOptions) -> f64 {
    let window = options.largest_window();
    if window == 65_535 && options.mss + options.whole_header() == 1500 {
        return Tcp::default().max_window_packets;
    }
    let segments = window / u64::from(options.mss);
    (segments - segments % u64::from(options.delayed_ack_segments)) as f64
}

/// Packets that come after the first of an ACK's while it waits: those that the last ACK left over
/// are there already.
pub(crate) fn packets_waited_for(options: &TcpOptions) -> f64 {
    let (window, ack) = (options.largest_window(), u64::from(options.delayed_ack_segments));
    let left_over = window / u64::from(options.mss) % ack;
    (ack - 1 - left_over) as f64
}

/// Refuses a window that the receiver never acknowledges before its timer runs out.
fn refuse_waiting_for_acks(options: &TcpOptions) -> Result<(), ConfigError> {
    if window_packets(options) > 0.0 {
        return Ok(());
    }
    let (segments, mss) = (options.delayed_ack_segments, u64::from(options.mss));
    let least = u64::from(segments) * mss;
    let accepted = format!(
        "{least} B and more, the {segments} segments that an ACK is delayed for: less waits for \
         its timer"
    );
    Err(no_model("tcp.receive_window", &format!("{} B", options.largest_window()), &accepted))
}

/// b: round-trip times in which a window grows by a segment. Delayed ACKs slow the growth down
/// only where it counts ACKs.
pub(crate) fn packets_per_ack(options: &TcpOptions) -> f64 {
    match options.window_growth {
        WindowGrowth::Bytes | WindowGrowth::PerAck | WindowGrowth::PerAckTruncated => {
            f64::from(options.delayed_ack_segments)
        }
        WindowGrowth::Abc1 | WindowGrowth::Abc2 | WindowGrowth::Segments => 1.0,
    }
}

// --- the path ------------------------------------------------------------------------------------

/// The sizes and rates that decide whether a hop is fast enough.
pub(crate) struct Load {
    packet: f64,
    ack: f64,
    /// Of IP packets, on the bottleneck's link at its fastest, bit/s.
    fastest_bps: f64,
    /// Packets that one ACK acknowledges.
    delayed: f64,
}

impl Load {
    pub(crate) fn new(options: &TcpOptions, regimes: &[Regime]) -> Load {
        Load {
            packet: f64::from(options.mss + options.whole_header()),
            ack: f64::from(options.whole_header()),
            fastest_bps: regimes.iter().map(|regime| regime.rate_bps).fold(0.0, f64::max),
            delayed: f64::from(options.delayed_ack_segments),
        }
    }

    /// Two-way propagation and transmission of each flow without the bottleneck's own, s.
    pub(crate) fn base_rtts_s(
        &self,
        scenario: &Scenario,
        ack_regime: impl Fn(&Value, Bytes) -> Result<Regime, ConfigError>,
    ) -> Result<Vec<f64>, ConfigError> {
        let forward = &scenario.bottleneck.link;
        let shared_s = delay_s(forward)
            + self.ack_path_s(scenario, ack_regime)?
            + self.backhaul_s(scenario)?;
        let flows = scenario.flows.iter().enumerate();
        let rtts = flows.map(|(number, flow)| {
            let wires_s = self.wires_s(flow).map_err(|e| e.under(&format!("flows.{number}")))?;
            Ok(wires_s + shared_s)
        });
        rtts.collect()
    }

    /// The transmission of a packet on a hop that all data takes, s.
    fn data_s(&self, wire: &WireSpec, field: &str, hop: &str) -> Result<f64, ConfigError> {
        let Some(rate_bps) = wire.rate_bps.map(|rate| rate as f64) else { return Ok(0.0) };
        if rate_bps <= self.fastest_bps {
            let accepted = format!("{hop} that is faster than the bottleneck's link");
            return Err(no_model(field, &format!("{rate_bps} bit/s"), &accepted));
        }
        Ok(8.0 * self.packet / rate_bps)
    }

    /// The transmission of an ACK, s, on a hop of the ACKs' way.
    fn acks_s(&self, rate_bps: f64, field: &str) -> Result<f64, ConfigError> {
        let ack_bps = self.fastest_bps / self.packet / self.delayed * self.ack;
        if rate_bps < ROOM_FOR_ACKS * ack_bps {
            let accepted =
                format!("twice the rate of the ACKs, {:.0} bit/s", ROOM_FOR_ACKS * ack_bps);
            return Err(no_model(field, &format!("{rate_bps} bit/s"), &accepted));
        }
        Ok(8.0 * self.ack / rate_bps)
    }

    /// Two-way propagation and transmission over the flow's own wires, s.
    fn wires_s(&self, flow: &FlowSpec) -> Result<f64, ConfigError> {
        let wires = [flow.access, flow.egress, flow.return_wire];
        let delays_s: f64 = wires.iter().map(|wire| wire.delay_ns as f64 * 1e-9).sum();
        let forward_s = self.data_s(&flow.access, "access.rate", "a wire")?
            + self.data_s(&flow.egress, "egress.rate", "a wire")?;
        let back_s = match flow.return_wire.rate_bps {
            Some(rate_bps) => self.acks_s(rate_bps as f64, "return_wire.rate")?,
            None => 0.0,
        };
        Ok(delays_s + forward_s + back_s)
    }

    /// What the backhaul adds to a round trip, s.
    fn backhaul_s(&self, scenario: &Scenario) -> Result<f64, ConfigError> {
        let Some(backhaul) = &scenario.backhaul else { return Ok(0.0) };
        let forward_s = self.data_s(backhaul, "backhaul.rate", "a backhaul")?;
        let back_s = backhaul.rate_bps.map_or(0.0, |rate| 8.0 * self.ack / rate as f64);
        Ok(2.0 * backhaul.delay_ns as f64 * 1e-9 + forward_s + back_s)
    }

    /// What the shared way of the ACKs adds to a round trip, s: the link at an empty queue.
    fn ack_path_s(
        &self,
        scenario: &Scenario,
        regime: impl Fn(&Value, Bytes) -> Result<Regime, ConfigError>,
    ) -> Result<f64, ConfigError> {
        let (link, queue) = match &scenario.ack_path {
            AckPath::Ideal {} => return Ok(0.0),
            AckPath::Link { link, queue } => (link, queue),
            AckPath::Reverse { link, queue } => {
                (link.as_ref().unwrap_or(&scenario.bottleneck.link), queue)
            }
        };
        let under = |error: ConfigError| error.under("link").under("ack_path");
        let empty = regime(link, Bytes(self.ack as u64)).map_err(under)?;
        if empty.per > ACK_LOSSES {
            let accepted = format!("ACKs of which at most {:.0} % are lost", 100.0 * ACK_LOSSES);
            return Err(under(no_model("loss", &empty.per.to_string(), &accepted)));
        }
        let limit =
            queue.get("limit").and_then(|limit| limit.get("packets")).and_then(Value::as_u64);
        if let Some(limit) = limit.filter(|limit| *limit < ACK_QUEUE) {
            let accepted = format!("a queue for {ACK_QUEUE} ACKs and more");
            return Err(no_model("ack_path.aqm.limit", &limit.to_string(), &accepted));
        }
        Ok(delay_s(link) + self.acks_s(empty.rate_bps, "rate").map_err(under)?)
    }
}

fn delay_s(link: &Value) -> f64 {
    link.get("delay_ns").and_then(Value::as_u64).unwrap_or(0) as f64 * 1e-9
}
