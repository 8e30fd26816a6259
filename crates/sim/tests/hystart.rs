//! End-to-end tests of HyStart and HyStart++: slow start ends before the queue overflows.

use crate::common::{MS, droptail, fixed, flow, run, scenario, tcp_options};
use airpath_conformance::Law;
use serde_json::json;

const LOSSES: Law = Law {
    area: "HyStart",
    source: "Ha & Rhee 2011; RFC 9406: slow start ends before the queue overflows (40 Mbit/s, \
             100 ms, 333 packets)",
    allows: "HyStart loses nothing, HyStart++ less than half of what slow start loses",
};
const USE: Law = Law {
    area: "HyStart",
    source: "Ha & Rhee 2011; RFC 9406: it does not end so early that the link stays empty (10 s)",
    allows: "a fifth of the link while it starts",
};

/// Returns the retransmissions and the utilisation of the link in 10 s. The link has 40 Mbit/s, the
/// round trip is 100 ms (333 packets), and the queue holds 333 packets.
fn overshoot(cc: &str, hystart: &str, delayed_ack_segments: u32) -> (u64, f64) {
    let options = json!({"receive_window": 8_000_000, "recovery": "sack",
        "delayed_ack_segments": delayed_ack_segments, "timestamps": true, "mss": 1448});
    let source = json!({"kind": "tcp", "congestion": {"kind": cc, "hystart": hystart},
        "options": tcp_options(options)});
    let wire = json!({"delay_ns": 50 * MS});
    let one = flow(source, json!({"egress": wire, "return_wire": wire}));
    let report = run(&scenario(10, vec![one], fixed(40_000_000), droptail(333), json!({})), 1);
    (report.flows[0].retransmissions.unwrap(), report.links[0].utilisation)
}

/// HyStart causes no loss. HyStart++ still grows in its conservative slow start rounds and
/// overflows the queue, but loses less than half as many packets as slow start.
#[test]
fn slow_start_ends_before_the_queue_overflows() {
    for cc in ["reno", "cubic"] {
        for delayed_ack_segments in [1, 2] {
            let lost = |hystart| overshoot(cc, hystart, delayed_ack_segments).0;
            let (off, classic, plus_plus) = (lost("off"), lost("classic"), lost("plus-plus"));
            assert!(off > 300, "{cc}: {off}");
            let name = format!("{cc}, an ACK for {delayed_ack_segments}");
            LOSSES.equal(format!("HyStart, {name}"), "segments lost", classic as f64, 0.0);
            let (found, most) = (plus_plus as f64, (off / 2 - 1) as f64);
            let name = format!("HyStart++, {name} (without {off})");
            LOSSES.between(name, "segments lost", found, 0.0, most);
        }
    }
}

/// Slow start does not end so early that the link stays underused.
#[test]
fn slow_start_does_not_end_too_early_to_fill_the_link() {
    for cc in ["reno", "cubic"] {
        for hystart in ["classic", "plus-plus"] {
            let (_, used) = overshoot(cc, hystart, 2);
            USE.between(format!("use of the link, {cc}, {hystart}"), "", used, 0.8, f64::INFINITY);
        }
    }
}
