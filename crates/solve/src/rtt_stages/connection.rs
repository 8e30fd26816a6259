//! Converts the flow into terms of the model. Covered is one Reno download of a given size.

use crate::fixed_point::flows::{packets_per_ack, refuse_waiting_for_acks};
use crate::reasons::Reason;
use airpath_core::registry;
use airpath_path::{Direction, FlowSpec, SourceSpec, StartSpec};
use airpath_tcp::{EcnUse, TcpConfig};

/// Maximum number of segments of a transfer.
const MOST_SEGMENTS: u64 = 10_000_000;

/// A download in terms of the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Download<'a> {
    pub(super) options: &'a TcpConfig,
    pub(super) size: u64,
    /// b: packets per ACK.
    pub(super) packets_per_ack: f64,
    /// W_max, packets.
    pub(super) window: f64,
    pub(super) ssthresh: f64,
}

/// Reads the download of a flow.
pub(super) fn download(flow: &FlowSpec) -> Result<Download<'_>, Reason> {
    let no =
        |field: &str, value: &str, covered: &str| Err(Reason::not_covered(field, value, covered));
    let spec = match &flow.source {
        SourceSpec::Tcp(spec) => &**spec,
        SourceSpec::Cbr { .. } => return Err(Reason::other_traffic("cbr", "tcp")),
        SourceSpec::Poisson { .. } => return Err(Reason::other_traffic("poisson", "tcp")),
        SourceSpec::Voice(_) => return Err(Reason::other_traffic("voice", "tcp")),
    };
    let options = &*spec.options;
    let (cc, _) = registry::split_kind(&spec.congestion)?;
    if cc != "reno" {
        return no("cc", &cc, "reno");
    }
    if options.ecn != EcnUse::Off {
        return no("tcp.ecn", "on", "flows without ECN");
    }
    if spec.application.is_some() {
        return no("on_off", "bursts and pauses", "a transfer whose data is all there");
    }
    if spec.video.is_some() {
        return no("video", "a video client", "a transfer whose data is all there");
    }
    if spec.requests.is_some() {
        return no("requests", "a client", "a transfer whose data is all there");
    }
    if spec.transfer.is_some() {
        return no("size", "a drawn size", "a number of bytes");
    }
    let Some(size) = spec.transfer_bytes else {
        return no("size", "unlimited", "a number of bytes");
    };
    let segments = size.div_ceil(u64::from(options.mss));
    if segments > MOST_SEGMENTS {
        let covered = format!("at most {MOST_SEGMENTS} segments");
        return no("size", &format!("{size} B"), &covered);
    }
    if let Some(window) = &spec.window
        && registry::split_kind(window)?.0 != "fixed"
    {
        return no("window", &registry::split_kind(window)?.0, "fixed");
    }
    refuse_waiting_for_acks(options)?;
    if flow.direction == Direction::Reverse {
        return no("direction", "reverse", "downloads, direction = forward");
    }
    if flow.stop_ns.is_some() {
        return no("stop", "a time", "flows that end with their transfer");
    }
    if let StartSpec::Poisson { .. } = flow.start {
        return no("arrivals", "poisson", "one flow");
    }
    let mss = f64::from(options.mss);
    let window = (options.largest_window() / u64::from(options.mss)) as f64;
    let ssthresh = options.initial_ssthresh.map_or(window, |bytes| bytes as f64 / mss);
    Ok(Download {
        options,
        size,
        packets_per_ack: packets_per_ack(options),
        window,
        ssthresh: ssthresh.clamp(1.0, window.max(1.0)),
    })
}
