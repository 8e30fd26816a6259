//! Measurements of the applications of flows, in the form of the results.

use crate::any_stage::AnyStage;
use crate::network::{FlowStages, Network};
use airpath_core::{FlowId, StageId, Time};
use airpath_tcp::VideoReport;
use serde::Serialize;

/// Measurements by flow, for each kind of application. A kind that no flow has is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ApplicationReports {
    /// Voice calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub voice: Vec<CallReport>,
    /// Video clients.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub video: Vec<VideoClientReport>,
    /// Clients that request objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestsReport>,
}

/// Report of one voice call. Counts are of packets that were sent after the warm-up and whose
/// playout time has passed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallReport {
    /// Flow number.
    pub flow: u32,
    /// Number of packets played.
    pub played_packets: u64,
    /// Number of packets not played: dropped, corrupted or late.
    pub lost_packets: u64,
    /// Number of packets that arrived after their playout time.
    pub late_packets: u64,
    /// Mean time from speech to playout, s.
    pub mouth_to_ear_s: Option<f64>,
    /// Loss burst ratio BurstR of G.107; `None` without losses, or if nothing was played.
    pub burst_ratio: Option<f64>,
    /// Transmission rating factor R of G.107.
    pub rating: Option<f64>,
    /// Mean opinion score, in [1, 4.5].
    pub mos: Option<f64>,
}

/// Report of one video client. Counts start at the end of the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VideoClientReport {
    /// Flow number.
    pub flow: u32,
    /// Number of segments delivered.
    pub segments: u64,
    /// Mean rate of the segments delivered, bit/s; `None` without segments.
    pub bitrate_bps: Option<f64>,
    /// Number of segments whose rate differs from that of the previous segment.
    pub switches: u64,
    /// Number of stalls that began.
    pub stalls: u64,
    /// Time in stalls, s.
    pub stall_s: f64,
    /// Time in playback, s.
    pub played_s: f64,
    /// Time from the first request to the start of playback, s, also if playback started in the
    /// warm-up; `None` before the start.
    pub startup_s: Option<f64>,
}

/// Report of one client that requests objects, over one or several connections. Objects and pages
/// count if they were requested after the warm-up and are complete.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestsReport {
    /// Flow number of the client's first connection.
    pub flow: u32,
    /// Times from the request of an object to its last byte, s.
    pub object_s: Vec<f64>,
    /// Times from the first request of a page to its last byte, s.
    pub page_s: Vec<f64>,
    /// Time from the first request of a page to the abort of a connection, s; `None` if no
    /// connection was aborted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up_s: Option<f64>,
}

impl ApplicationReports {
    /// Collects the measurements of all flows at `now`, without flows that have an open end.
    pub(crate) fn collect(network: &Network, now: Time) -> ApplicationReports {
        let mut reports = ApplicationReports::default();
        for (flow, ends) in (0..).zip(&network.flows) {
            reports.voice.extend(call(network, flow, *ends, now));
            reports.video.extend(video(network, flow, now));
            reports.requests.extend(requests(network, flow, *ends));
        }
        reports
    }
}

fn call(network: &Network, flow: u32, ends: FlowStages, now: Time) -> Option<CallReport> {
    let stage = |stage: StageId| &network.stages[stage.0 as usize];
    let (AnyStage::Source(source), AnyStage::Sink(sink)) = (stage(ends.source), stage(ends.sink))
    else {
        return None;
    };
    let (playout, quality) = sink.call()?.report(source.sent_in_total(), now);
    Some(CallReport {
        flow,
        played_packets: playout.played,
        lost_packets: playout.lost,
        late_packets: playout.late,
        mouth_to_ear_s: quality.mouth_to_ear_s,
        burst_ratio: playout.burst_ratio(),
        rating: quality.rating,
        mos: quality.mos,
    })
}

fn video(network: &Network, flow: u32, now: Time) -> Option<VideoClientReport> {
    let report = network.sender(FlowId(flow))?.video_report(now)?;
    let VideoReport { segments, switches, stalls, .. } = report;
    Some(VideoClientReport {
        flow,
        segments,
        bitrate_bps: (segments > 0).then(|| report.sum_of_rates_bps / segments as f64),
        switches,
        stalls,
        stall_s: report.stalled_s,
        played_s: report.played_s,
        startup_s: report.startup_s,
    })
}

fn requests(network: &Network, flow: u32, ends: FlowStages) -> Option<RequestsReport> {
    let AnyStage::Client(client) = &network.stages[ends.source.0 as usize] else { return None };
    let of = client.requests_of(FlowId(flow))?;
    Some(RequestsReport {
        flow,
        object_s: of.object_s().to_vec(),
        page_s: of.page_s().to_vec(),
        given_up_s: of.given_up_s(),
    })
}
