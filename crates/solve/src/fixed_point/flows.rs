//! Converts the flows into terms of the fixed point. Covered are Reno flows with unlimited data and
//! equal TCP parameters.

use crate::preconditions::always_there;
use crate::reasons::{Reason, Reasons};
use airpath_core::registry;
use airpath_path::{FlowSpec, Scenario, SourceSpec, TcpSpec};
use airpath_tcp::{EcnUse, RtoFloor, TcpConfig, WindowGrowth};

/// Returns the TCP parameters of the first covered flow, if any. Other flows may differ only in
/// parameters that the model does not use.
pub(super) fn common_options<'a>(
    scenario: &'a Scenario,
    reasons: &mut Reasons,
) -> Option<&'a TcpConfig> {
    let mut common: Option<&TcpSpec> = None;
    for (number, flow) in scenario.flows.iter().enumerate() {
        let equal = of_flow(flow, scenario).and_then(|spec| {
            let first = common.get_or_insert(spec);
            difference(&first.options, &spec.options).map_or(Ok(()), |(option, value)| {
                let field = format!("tcp.{option}");
                Err(Reason::not_covered(field, value, "the same for all flows"))
            })
        });
        reasons.keep_of_flow((number, flow.group), equal);
    }
    common.map(|spec| &*spec.options)
}

/// Returns the first parameter of the model in which `other` differs from the first flow, if any,
/// with its value.
fn difference(first: &TcpConfig, other: &TcpConfig) -> Option<(&'static str, String)> {
    let seen = |options: &TcpConfig| {
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
    let ((option, _), (_, value)) = pairs.into_iter().find(|(one, two)| one.1 != two.1)?;
    let value = match option {
        "mss" | "header" => format!("{value} B"),
        "timestamps" => other.timestamps.to_string(),
        "receive_window" => format!("{} B", other.largest_window()),
        "min_rto" => format!("{value} s"),
        "delayed_ack_segments" => value.to_string(),
        _ => "another than the first flow's".to_owned(),
    };
    Some((option, value))
}

/// Returns the TCP parameters of a flow, if it is a Reno flow with unlimited data and without ECN.
pub(crate) fn of_flow<'a>(flow: &'a FlowSpec, scenario: &Scenario) -> Result<&'a TcpSpec, Reason> {
    let no =
        |field: &str, value: &str, covered: &str| Err(Reason::not_covered(field, value, covered));
    let spec = match &flow.source {
        SourceSpec::Tcp(spec) => &**spec,
        SourceSpec::Cbr { .. } => return Err(Reason::other_traffic("cbr", "tcp")),
        SourceSpec::Poisson { .. } => return Err(Reason::other_traffic("poisson", "tcp")),
        SourceSpec::Voice(_) => return Err(Reason::other_traffic("voice", "tcp")),
    };
    let (cc, _) = registry::split_kind(&spec.congestion)?;
    if cc != "reno" {
        return no("cc", &cc, "reno");
    }
    if spec.options.ecn != EcnUse::Off {
        return no("tcp.ecn", "on", "flows without ECN");
    }
    if spec.options.rto_floor == RtoFloor::Variance {
        return no("tcp.rto_floor", "variance", "total");
    }
    if spec.transfer_bytes.is_some() || spec.transfer.is_some() {
        return no("size", "a transfer", "flows of unlimited data");
    }
    if spec.application.is_some() {
        return no("on_off", "bursts and pauses", "flows of unlimited data");
    }
    if spec.video.is_some() {
        return no("video", "a video client", "flows of unlimited data");
    }
    if spec.requests.is_some() {
        return no("requests", "a client", "flows of unlimited data");
    }
    if let Some(window) = &spec.window
        && registry::split_kind(window)?.0 != "fixed"
    {
        return no("window", &registry::split_kind(window)?.0, "fixed");
    }
    refuse_waiting_for_acks(&spec.options)?;
    always_there(flow, scenario)?;
    Ok(spec)
}

/// Returns W_max, packets: the number of full-sized segments in the window (RFC 1122 §4.2.3.4),
/// rounded down to a multiple of the segments per ACK. Example: with a window of 7 segments and an
/// ACK for every second segment, the receiver acknowledges the last segment only when the next
/// segment arrives. Therefore only 6 segments are effective.
pub(crate) fn window_packets(options: &TcpConfig) -> f64 {
    let segments = options.largest_window() / u64::from(options.mss);
    (segments - segments % u64::from(options.delayed_ack_segments)) as f64
}

/// Returns the number of packets that must arrive after the first packet covered by an ACK before
/// the receiver sends the ACK. Packets that the previous ACK did not cover have already arrived.
pub(super) fn packets_waited_for(options: &TcpConfig) -> f64 {
    let (window, ack) = (options.largest_window(), u64::from(options.delayed_ack_segments));
    let left_over = window / u64::from(options.mss) % ack;
    (ack - 1 - left_over) as f64
}

/// Rejects a window that is so small that the receiver sends ACKs only when its delayed-ACK timer
/// expires.
pub(crate) fn refuse_waiting_for_acks(options: &TcpConfig) -> Result<(), Reason> {
    if window_packets(options) > 0.0 {
        return Ok(());
    }
    let (segments, mss) = (options.delayed_ack_segments, u64::from(options.mss));
    let least = u64::from(segments) * mss;
    let covered = format!(
        "{least} B and more, the {segments} segments that an ACK is delayed for: less waits for \
         its timer"
    );
    let window = format!("{} B", options.largest_window());
    Err(Reason::not_covered("tcp.receive_window", window, covered))
}

/// Returns b: the number of round-trip times in which the window grows by one segment. Delayed ACKs
/// slow down the growth only if the sender counts ACKs instead of bytes.
pub(crate) fn packets_per_ack(options: &TcpConfig) -> f64 {
    match options.window_growth {
        WindowGrowth::Bytes | WindowGrowth::PerAck | WindowGrowth::PerAckTruncated => {
            f64::from(options.delayed_ack_segments)
        }
        WindowGrowth::Abc1 | WindowGrowth::Abc2 | WindowGrowth::Segments => 1.0,
    }
}
