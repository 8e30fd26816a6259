//! Transitions of the state machines of BBR, packet by packet over a bottleneck.
//!
//! States are those of `PathModel::state`: 0 Startup, 1 Drain, 2 DOWN, 3 CRUISE, 4 REFILL, 5 UP,
//! 6 ProbeRTT. In BBRv1, 2, 3 and 5 are the phases with gain 0.75, 1 and 1.25. The criteria
//! follow from the draft and from Linux; they were set before the first run.

use crate::common::*;
use airpath_conformance::Script;
use airpath_core::Series;
use airpath_path::Components;
use serde_json::{Value, json};
use std::sync::Arc;

const RATE: u64 = 10_000_000;
const RTT: f64 = 0.04;
/// BDP of 10 Mbit/s and 40 ms, packets of 1500 bytes.
const BDP: f64 = RATE as f64 * RTT / 8.0 / 1500.0;
/// BDP of payload, bytes.
const BDP_BYTES: f64 = BDP * 1448.0;

/// Transitions and windows of one flow with the profile `linux`.
struct Trace {
    /// Times, s, at which the state changes, with the new state. The first entry is Startup.
    states: Vec<(f64, u8)>,
    bounds: Vec<(f64, f64)>,
    windows: Vec<(f64, f64)>,
    /// Record of the run, which counts the states. It is written when the test ends.
    _tally: Script,
}

impl Trace {
    /// Runs a flow with the congestion control `cc` for `seconds` through a buffer of `buffer` BDP.
    /// `change` replaces parts of the source, `controls` are events of the run.
    fn of(cc: Value, seconds: u64, buffer: f64, change: Value, controls: Value) -> Trace {
        let options = airpath_tcp::profile("linux", json!({"receive_window": 8_000_000}));
        let mut source =
            json!({"kind": "tcp", "congestion": cc, "options": options.expect("a profile")});
        merge(&mut source, change);
        let delays = json!({"egress": {"delay_ns": 20 * MS}, "return_wire": {"delay_ns": 20 * MS}});
        let series = json!({"series": ["bbr_state", "bbr_inflight_hi", "cwnd"]});
        let record = json!({"record": series, "controls": controls});
        let queue = droptail((buffer * BDP) as usize);
        let flows = vec![flow(source, delays)];
        let scenario = scenario(seconds, flows, fixed(RATE), queue, record);
        let driver = run_with(&scenario, &Components::default(), &Arc::default(), 1);
        let recorder = driver.into_report(0).1;
        let values = |series| -> Vec<(f64, f64)> {
            recorder.samples(series).iter().map(|s| (s.time.as_secs_lossy(), s.value)).collect()
        };
        let mut states: Vec<(f64, u8)> =
            values(Series::BbrState).into_iter().map(|(at, state)| (at, state as u8)).collect();
        states.dedup_by_key(|(_, state)| *state);
        let bounds = values(Series::BbrInflightHi);
        let mut tally = Script::default();
        states.iter().for_each(|_| tally.value());
        Trace { states, bounds, windows: values(Series::Cwnd), _tally: tally }
    }

    /// Runs a bulk flow.
    fn bulk(cc: &Value, seconds: u64, buffer: f64) -> Trace {
        Trace::of(cc.clone(), seconds, buffer, json!({}), json!([]))
    }

    /// Returns pairs of consecutive states.
    fn transitions(&self) -> Vec<(u8, u8)> {
        self.states.windows(2).map(|pair| (pair[0].1, pair[1].1)).collect()
    }

    /// Returns start and duration, s, of each complete stay in `state`.
    fn stays(&self, state: u8) -> Vec<(f64, f64)> {
        let pairs = self.states.windows(2).filter(|pair| pair[0].1 == state);
        pairs.map(|pair| (pair[0].0, pair[1].0 - pair[0].0)).collect()
    }

    /// Asserts that all transitions are in `allowed`, and that each of `required` occurs.
    fn assert_transitions(&self, allowed: &[(u8, u8)], required: &[(u8, u8)]) {
        let found = self.transitions();
        assert!(found.iter().all(|pair| allowed.contains(pair)), "{:?}", self.states);
        assert!(required.iter().all(|pair| found.contains(pair)), "{:?}", self.states);
    }
}

/// Both variants of BBRv3.
fn v3() -> [Value; 2] {
    ["draft", "linux"].map(|variant| json!({"kind": "bbr", "variant": variant}))
}

/// Diagram of states of the draft. An ACK may end Drain or UP and also DOWN.
const V3: [(u8, u8); 15] = [
    (0, 1),
    (1, 2),
    (1, 3),
    (2, 3),
    (2, 4),
    (3, 4),
    (4, 5),
    (5, 2),
    (5, 3),
    (1, 6),
    (2, 6),
    (3, 6),
    (4, 6),
    (5, 6),
    (6, 3),
];

#[test]
fn bbr_follows_the_diagram_of_states() {
    for cc in v3() {
        let trace = Trace::bulk(&cc, 30, 4.0);
        trace.assert_transitions(&V3, &[(0, 1), (2, 3), (3, 4), (4, 5), (5, 2), (3, 6), (6, 3)]);
        // REFILL lasts a round trip, of which the queue of Startup is no part.
        let refills = trace.stays(4);
        assert!(refills.iter().all(|(_, lasted)| (0.9 * RTT..1.5 * RTT).contains(lasted)));
        // A plateau: UP lasts three round trips whose queue grows to 0.9 BDP.
        let ups = trace.stays(5);
        let within = |lasted: f64| (3.0 * RTT..6.0 * RTT).contains(&lasted);
        assert!(ups.iter().filter(|(_, lasted)| within(*lasted)).count() >= 3, "{ups:?}");
    }
}

/// `BBR.DrainPacingGain` and the limit of three round trips: Drain ends after at most four round
/// trips of at most 2 BDP, in both variants.
#[test]
fn drain_ends_the_queue_of_startup() {
    for cc in v3() {
        let [(_, lasted)] = Trace::bulk(&cc, 3, 4.0).stays(1)[..] else { panic!("one Drain") };
        assert!(lasted < 8.0 * RTT, "{lasted}");
    }
}

/// `CheckStartupHighLoss`: in a buffer of 0.2 BDP losses end Startup, with a bound of at least the
/// BDP; in a buffer of 4 BDP the plateau does, without a bound.
#[test]
fn startup_ends_with_a_bound_if_the_buffer_overflows() {
    for cc in v3() {
        for (buffer, is_bounded) in [(0.2, true), (4.0, false)] {
            let trace = Trace::bulk(&cc, 2, buffer);
            let drains_at = trace.states[1].0;
            let bound = trace.bounds.iter().find(|(at, _)| *at <= drains_at + 1e-9);
            assert_eq!(bound.is_some(), is_bounded, "{buffer}: {bound:?} {:?}", trace.states);
            assert!(bound.is_none_or(|(_, bytes)| *bytes >= 0.9 * BDP_BYTES), "{bound:?}");
        }
    }
}

/// `HandleInflightTooHigh` and the precaution: in a buffer of 0.5 BDP some probes overflow it. The next
/// probe stops at the bound, and if a round trip of feedback is clean, REFILL follows at once instead
/// of after the wait.
#[test]
fn probe_of_a_small_buffer_is_repeated_after_a_precaution() {
    for cc in v3() {
        let trace = Trace::bulk(&cc, 60, 0.5);
        trace.assert_transitions(&V3, &[(4, 5), (5, 2)]);
        let ends: Vec<f64> = trace.stays(5).iter().map(|(at, lasted)| at + lasted).collect();
        let is_repeated = |end: &&f64| {
            trace.stays(4).iter().any(|(at, _)| (**end..**end + 3.0 * RTT).contains(at))
        };
        let repeated = ends.iter().filter(is_repeated).count();
        assert!((1..ends.len()).contains(&repeated), "{repeated} {:?}", trace.states);
    }
}

/// `HandleRestartFromIdle`: bursts of 3 MB, about 2.5 s, with pauses of 6 s (BBRv3) or 12 s (BBRv1).
/// The minimum RTT has expired at each restart, but no ProbeRTT follows.
#[test]
fn pauses_replace_probe_rtt() {
    let [draft, linux] = v3();
    for (cc, pause) in [(draft, 6), (linux, 6), (json!({"kind": "bbr1"}), 12)] {
        let application = json!({
            "on": {"size": {"kind": "fixed", "bytes": 3_000_000}},
            "off": {"kind": "fixed", "time_ns": pause * SECOND}});
        let change = json!({"application": application});
        let trace = Trace::of(cc.clone(), 60, 4.0, change, json!([]));
        assert!(trace.stays(6).is_empty(), "{cc}: {:?}", trace.states);
        assert!(Trace::bulk(&cc, 60, 4.0).stays(6).len() >= 4, "{cc}");
    }
}

/// `HandleSpuriousLossDetection`: the link stops for 0.5 s in UP, so that the timeout is spurious. The
/// draft returns to REFILL when F-RTO detects it; Google's kernel waits for the next probe.
#[test]
fn spurious_timeout_in_up_returns_to_refill() {
    for (cc, returns) in v3().into_iter().zip([true, false]) {
        let (up_at, _) = Trace::bulk(&cc, 20, 4.0).stays(5)[1];
        let stops = ((up_at + 0.5 * RTT) * 1e9) as u64;
        let rate =
            |at: u64, rate: u64| json!({"at_ns": at, "action": {"kind": "rate", "rate_bps": rate}});
        let controls = json!([rate(stops, 0), rate(stops + 500 * MS, RATE)]);
        let trace = Trace::of(cc, 20, 4.0, json!({}), controls);
        let resumes = stops as f64 / 1e9 + 0.5;
        let refills = trace.stays(4);
        let found = refills.iter().any(|(at, _)| (resumes..resumes + 0.3).contains(at));
        assert_eq!(found, returns, "{resumes}: {:?}", trace.states);
    }
}

/// Diagram of states of BBRv1. A cycle begins in a random phase other than that of gain 0.75.
const V1: [(u8, u8); 11] =
    [(0, 1), (1, 3), (1, 5), (5, 2), (2, 3), (3, 5), (2, 6), (3, 6), (5, 6), (6, 3), (6, 5)];

/// `bbr_update_cycle_phase`, `bbr_update_min_rtt`: the phases with gain 1.25 and 0.75 last about a
/// minimum RTT, the six with gain 1 six, and ProbeRTT 200 ms and up to two round trips, with four
/// segments.
#[test]
fn bbr1_follows_the_diagram_of_states() {
    let trace = Trace::bulk(&json!({"kind": "bbr1"}), 40, 4.0);
    trace.assert_transitions(&V1, &[(0, 1), (5, 2), (2, 3), (3, 5)]);
    let is_near = |state, least: f64, most: f64| {
        let stays = trace.stays(state);
        let near = stays.iter().filter(|(_, lasted)| (least * RTT..most * RTT).contains(lasted));
        assert!(near.count() as f64 >= 0.9 * stays.len() as f64, "{state}: {stays:?}");
    };
    is_near(5, 1.0, 2.0);
    is_near(2, 0.2, 1.5);
    is_near(3, 5.5, 9.0);
    let probes = trace.stays(6);
    assert!(probes.len() >= 3, "{probes:?}");
    for (at, lasted) in probes {
        assert!((0.2..0.2 + 3.0 * RTT).contains(&lasted), "{lasted}");
        let within = |(time, _): &&(f64, f64)| (at..at + lasted).contains(time);
        let most = trace.windows.iter().filter(within).fold(0.0, |most: f64, w| most.max(w.1));
        assert_eq!(most, 4.0 * 1448.0);
    }
}
