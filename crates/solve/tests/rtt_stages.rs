//! Tests of the model of round-trip stages on a TDD link: covered scenarios, and terms of the
//! model.

use crate::common::{fields_and_values, refused_by, tdd};
use airpath_link::Files;
use airpath_model::rtt_stages as stages;
use airpath_solve::rtt_stages::{RttStages, Solution, Terms};
use airpath_solve::{Model, solve};
use proptest::prelude::*;
use serde_json::{Value, json};

fn solved(changes: &[(&str, Value)]) -> Solution {
    let problem = RttStages::covers(&tdd(changes), &Files::default()).expect("covered");
    RttStages::solve(&problem).expect("its parameters are in range")
}

/// Returns only the terms, without solving the model.
fn terms_of(changes: &[(&str, Value)]) -> Terms {
    *RttStages::covers(&tdd(changes), &Files::default()).expect("covered").terms()
}

fn close(found: f64, expected: f64) {
    let within = 1e-9 * expected.abs().max(1e-9);
    assert!((found - expected).abs() < within, "{found} for {expected}");
}

/// Expected terms, computed by hand: wires of 100 ms, frames of 5 ms, instants `decoded`, `closed`
/// and `received` at 3, 3 and 5.6 ms.
///
/// Times in ms: An ACK is received at 5.6 in a frame. Its data arrive at the base station at 0.6,
/// wait 4.4 and are decoded 3 later. The next ACK is created at 3. Its contention request is
/// received 30 later and waits 2 for a map; the ACK is received 10.6 after this map. With a
/// piggyback request, the ACK waits 5, 10 or 15 for the burst that carries its request, then 15 for
/// the next burst, which is received 2.6 after this burst closes. The request is received at 5.6 in
/// a frame and therefore misses a map.
#[test]
fn terms_equal_values_computed_by_hand() {
    let terms = terms_of(&[]);
    close(terms.base_rtt.wires_s, 0.1);
    close(terms.base_rtt.downlink_s, 0.0074);
    close(terms.base_rtt.uplink_s, 0.0126);
    close(terms.base_rtt.repetitions_s, 0.0);
    close(terms.base_rtt_s, 0.12);
    close(terms.contention_s, 0.03);
    close(terms.piggyback_s, 0.010 + 0.015 + 0.0026 - 0.0126);
    // A request that is received at the start of the next frame is still served by the map of this
    // frame.
    let sooner = terms_of(&[("/bottleneck/link/received_ns", json!(5_000_000))]);
    close(sooner.piggyback_s, 0.0075 + 0.010 + 0.0020 - 0.0120);
    close(terms.loss, 0.01);
    // Two complete packets in a frame.
    close(terms.rate_bps, 2.0 * 8.0 * 1500.0 / 0.005);
    let small = tdd(&[
        ("/flows/0/source/transfer_bytes", json!(100_000)),
        ("/flows/0/source/options/handshake", json!(false)),
        ("/flows/0/source/options/initial_window", json!(1500)),
        ("/bottleneck/link/errors/loss", json!(0.005)),
    ]);
    let document = solve(&small, &Files::default(), None).expect("it is covered");
    assert_eq!(document["model"], "rtt-stages");
    assert_eq!(document["warnings"], json!([]));
    assert_eq!(document["base_rtt"]["wires_s"], 0.1);
    assert_eq!(document["rate_bps"], terms.rate_bps);
}

/// With fragmentation, each frame has an overhead of one header and two subheaders. Otherwise the
/// rate is the 5.03 Mbit/s of wimax-2009.
#[test]
fn fragmented_packets_fill_frames() {
    let cut = [
        ("/bottleneck/link/fragmentation/down", json!(true)),
        ("/bottleneck/link/errors", Value::Null),
    ];
    let rate_bps = terms_of(&cut).rate_bps;
    let expected = 8.0 * 1500.0 / 0.005 * (3240.0 - 10.0) / 1546.0;
    assert!((rate_bps / expected - 1.0).abs() < 1e-3, "{rate_bps}");
}

#[test]
fn terms_contain_mean_request_and_retransmission_delays() {
    let drawn = json!({"kind": "random-delay", "delay": {"low_ns": 25_000_000, "high_ns": 50_000_000},
                       "collision": 0.01, "timer_ns": 100_000_000, "per": "packet"});
    let harq = json!({"attempts": 4, "error": 0.316, "round_trip_ns": 30_000_000});
    let changes = [
        ("/bottleneck/link/request", drawn),
        ("/bottleneck/link/harq", harq),
        ("/bottleneck/link/arq", json!({"delay_ns": 100_000_000})),
        ("/bottleneck/link/errors", Value::Null),
    ];
    let found = solved(&changes);
    let terms = found.terms;
    close(terms.contention_s, 0.0375 + 0.1 * 0.01 / 0.99);
    close(terms.piggyback_s, terms.contention_s);
    let p: f64 = 0.316;
    let repeated = 0.030 * (p + p * p + p.powi(3)) + 0.1 * p.powi(4);
    close(terms.base_rtt.repetitions_s, 2.0 * repeated);
    // The random delay spans five complete frames, so the mean waiting time is half a frame.
    close(terms.base_rtt.uplink_s, 0.0025 + 0.0106);
    close(terms.loss, 0.0);
    let warning = found.warnings.join("; ");
    assert!(warning.starts_with("in_order.down: packets wait for those before them"), "{warning}");
    // Without ARQ, packets that HARQ discards are lost.
    let lost = terms_of(&[changes[1].clone()]);
    let attempt = 1.0 - (1.0 - p) * (1.0 - 0.01);
    assert!((lost.loss / attempt.powi(4) - 1.0).abs() < 1e-9);
}

/// An ACK is created at 3 ms, when the opportunity of its frame closes, so the ranging code is sent
/// in the next frame. The code is received 7.6 ms later, the next map follows after 4.4 ms, and the
/// bandwidth request header is received 10.6 ms after the map. The back-off window has two
/// opportunities, which adds half a frame on average. The header is received at 0.6 ms in a frame:
/// 4.4 ms before the next map.
#[test]
fn ranging_request_delay_equals_the_value_computed_by_hand() {
    let ranging =
        json!({"kind": "ranging", "codes": 8, "timer_ns": 50_000_000, "backoff": [2, 64]});
    let terms = terms_of(&[("/bottleneck/link/request", ranging)]);
    close(terms.contention_s, 0.0076 + 0.0044 + 0.0106 + 0.0025);
    close(terms.base_rtt.uplink_s, 0.0044 + 0.0106);
    close(terms.piggyback_s, 0.010 + 0.015 + 0.0026 - 0.0150);
}

/// Times from an opportunity, ms: the header is received at 20.6, the ACK at 35.6, the next data
/// are at the base station at 135.6 and sent at 140, and the next ACK is created at 143. The next
/// frame is number 29 and the next multiple of 8 is 32, so the request waits three frames.
#[test]
fn periodic_opportunity_gives_round_trips_of_complete_periods() {
    let request = json!({"kind": "scheduling-request", "period_ns": 40_000_000});
    let terms = terms_of(&[("/bottleneck/link/request", request)]);
    close(terms.contention_s, 0.0076 + 0.015 + 0.0044 + 0.0106);
    // The round trip is 4 periods of 40 ms.
    close(terms.base_rtt_s + terms.contention_s, 0.160);
}

#[test]
fn solution_equals_both_methods_and_equation_9_of_the_model() {
    let found = solved(&[("/flows/0/source/options/receive_window", json!(48_000))]);
    let problem = stages::Problem {
        size_bytes: 1e6,
        mss_bytes: 1500.0,
        rate_bps: found.terms.rate_bps,
        base_rtt_s: found.terms.base_rtt_s,
        contention_s: found.terms.contention_s,
        piggyback_s: found.terms.piggyback_s,
        loss: found.terms.loss,
        packets_per_ack: 1.0,
        initial_ssthresh_packets: 32.0,
        max_window_packets: 32.0,
        ssthresh: stages::Ssthresh::Updated,
        queue: stages::Queue::Draining,
    };
    let grid = problem.grid(0.5).expect("it fits");
    let of_grid = found.grid.expect("it fits");
    close(of_grid.throughput_bps, grid.throughput_bps);
    close(found.goodput_bps, grid.goodput_bps);
    close(found.throughput_bps, grid.goodput_bps * 1540.0 / 1500.0);
    close(found.flows[0].completion_s, 8e6 / grid.goodput_bps);
    let drawn = problem.monte_carlo(10_000, 1).expect("in range");
    close(found.monte_carlo.throughput_bps, drawn.throughput_bps);
    let eq9 = |rtt_s: f64| 8.0 * 1500.0 / rtt_s * (1.5f64 / 0.01).sqrt();
    close(found.square_root.contention_bps, eq9(0.15));
    close(found.square_root.piggyback_bps, eq9(0.12 + found.terms.piggyback_s));
}

#[test]
fn solution_uses_monte_carlo_with_a_warning_if_the_grid_does_not_apply() {
    let large = solved(&[
        ("/flows/0/source/options/receive_window", json!(30_000_000)),
        ("/bottleneck/queue/limit", json!({"packets": 100_000})),
        ("/ack_path/queue/limit", json!({"packets": 100_000})),
    ]);
    assert_eq!(large.grid, None);
    let line = "by Monte-Carlo alone, for the grid refuses max_window_packets";
    assert!(large.warnings[1].starts_with(line), "{:?}", large.warnings);
    close(large.goodput_bps, large.monte_carlo.goodput_bps);
    let small = ("/flows/0/source/transfer_bytes", json!(100_000));
    let warned = solved(std::slice::from_ref(&small)).warnings;
    assert!(warned[0].starts_with("a loss of 0.010: the model has no time-outs"), "{warned:?}");
    assert_eq!(warned[1], "the handshake, some 0.150 s, is no part of the time");
    // The difference is log2(4380/1500) round trips.
    let line = "the first window of 3 packets: the model begins with one, up to 0.232 s later";
    assert_eq!(warned[2], line);
}

#[test]
fn each_uncovered_key_gives_one_reason() {
    let link = |key: &str| format!("/bottleneck/link/{key}");
    let options = |key: &str| format!("/flows/0/source/options/{key}");
    let wire = |rate: u64| json!({"rate_bps": rate, "delay_ns": 0});
    let cases = [
        (
            "/controls".to_owned(),
            json!([{"at_ns": 1, "action": {"kind": "rate", "rate_bps": 1}}]),
            "control = changes of the rate",
        ),
        ("/flows/0/count".into(), json!(2), "flows = 2"),
        ("/flows/0/source/transfer_bytes".into(), Value::Null, "flows.0.size = unlimited"),
        (
            "/flows/0/source/transfer_bytes".into(),
            json!(1u64 << 40),
            "flows.0.size = 1099511627776 B",
        ),
        ("/flows/0/source/congestion/kind".into(), json!("cubic"), "flows.0.cc = cubic"),
        ("/flows/0/source/window".into(), json!({"kind": "drain"}), "flows.0.window = drain"),
        ("/flows/0/direction".into(), json!("reverse"), "flows.0.direction = reverse"),
        ("/flows/0/stop_ns".into(), json!(5), "flows.0.stop = a time"),
        (
            "/flows/0/start".into(),
            json!({"kind": "poisson", "from_ns": 0, "gap_ns": 5}),
            "flows.0.arrivals = poisson",
        ),
        (options("ecn"), json!("on"), "flows.0.tcp.ecn = on"),
        (options("delayed_ack_segments"), json!(65), "flows.0.tcp.receive_window = 96000 B"),
        ("/flows/0/access".into(), wire(1_000_000), "flows.0.access.rate = 1000000 bit/s"),
        ("/bottleneck/queue/kind".into(), json!("codel"), "bottleneck.aqm.kind = codel"),
        (
            "/bottleneck/queue/limit".into(),
            json!({"packets": 63}),
            "bottleneck.aqm.limit = 63 packets",
        ),
        (
            "/bottleneck/queue/limit".into(),
            json!({"bytes": 90_000}),
            "bottleneck.aqm.limit = 90000 B",
        ),
        ("/ack_path/queue/kind".into(), json!("pie"), "ack_path.aqm.kind = pie"),
        ("/ack_path/queue/limit".into(), json!({"packets": 12}), "ack_path.aqm.limit = 12 packets"),
        ("/ack_path".into(), json!({"kind": "ideal"}), "ack_path.kind = ideal"),
        (link("stations"), json!(40), "bottleneck.link.stations = 40"),
        (
            link("radio"),
            json!({"table": "t", "snr": {"kind": "constant", "mean_db": 20.0}, "policy": {"kind": "fixed", "mcs": "a"}}),
            "bottleneck.link.radio = a table",
        ),
        (link("grant"), json!({"kind": "adapt-bi"}), "bottleneck.link.grant.kind = adapt-bi"),
        (link("request"), json!({"kind": "none"}), "bottleneck.link.request.kind = none"),
        (
            link("request"),
            json!({"kind": "scheduling-request", "period_ns": 12_000_000}),
            "bottleneck.link.request.period = 12000000 ns",
        ),
        (link("request/collision"), json!(0.95), "bottleneck.link.request.collision = 0.95"),
        (link("uplink_slots"), json!(5), "bottleneck.link.uplink_slots = 5"),
        (link("uplink_slots"), json!(15), "bottleneck.link.uplink_slots = 15"),
        (link("downlink_slots"), json!(200), "bottleneck.link.downlink_slots = 200"),
        (link("errors"), json!({"kind": "gilbert"}), "bottleneck.link.errors.kind = gilbert"),
        (
            link("reverse_errors"),
            json!({"kind": "independent", "loss": 0.02}),
            "bottleneck.link.reverse_errors.loss = 0.02",
        ),
        (
            link("harq"),
            json!({"attempts": 2, "error": 0.3, "round_trip_ns": 8_000_000}),
            "bottleneck.link.harq.attempts = 2",
        ),
        (
            link("harq"),
            json!({"attempts": 2, "error": 0.95, "round_trip_ns": 8_000_000}),
            "bottleneck.link.harq.error = 0.95",
        ),
    ];
    for (pointer, value, line) in cases {
        let scenario = tdd(&[(pointer.as_str(), value)]);
        let reasons = RttStages::covers(&scenario, &Files::default()).expect_err(line);
        // The keys that are missing in a table of another kind are reported after the kind.
        let key = line.split(" = ").next().expect("a key").trim_end_matches(".kind");
        for lines in [fields_and_values(&reasons), refused_by(&scenario)] {
            assert!(lines[0].starts_with(line), "{pointer}: {lines:?}");
            assert!(lines.iter().all(|each| each.starts_with(key)), "{pointer}: {lines:?}");
        }
    }
}

#[test]
fn a_flow_without_a_fixed_size_is_not_covered() {
    let time = json!({"kind": "fixed", "time_ns": 5});
    let unsized_by = [
        ("/flows/0/source/application", json!({"on": {"time": time}, "off": time}), "on_off = b"),
        ("/flows/0/source/transfer", json!({"kind": "exponential", "mean_bytes": 9}), "size = a d"),
    ];
    for (pointer, value, line) in unsized_by {
        let none = ("/flows/0/source/transfer_bytes", Value::Null);
        let lines = refused_by(&tdd(&[none, (pointer, value)]));
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with(&format!("flows.0.{line}")), "{lines:?}");
    }
}

#[test]
fn invalid_link_parameters_are_rejected() {
    let refused = refused_by(&tdd(&[("/bottleneck/link/frame_ns", json!(0))]));
    assert!(refused[0].starts_with("bottleneck.link.frame_ns = 0: below 1000"), "{refused:?}");
    let missing = refused_by(&tdd(&[("/bottleneck/link/grant", Value::Null)]));
    assert!(missing[0].starts_with("bottleneck.link.grant = null: "), "{missing:?}");
}

#[test]
fn reasons_for_other_links_come_from_their_models() {
    let lines = refused_by(&tdd(&[("/bottleneck/link", json!({"kind": "trace"}))]));
    let of_links: Vec<&String> = lines.iter().filter(|line| line.contains("link.kind")).collect();
    assert!(of_links.iter().any(|line| line.contains("Covered: fixed")), "{lines:?}");
}

proptest! {
    /// Every link gives either reasons or finite terms.
    #[test]
    fn any_scenario_is_solved_or_gives_reasons(
        times in (1u64..20_000, 0u64..40_000, 0u64..40_000, 0u64..40_000),
        slots in (1u64..2000, 0u64..200, 1u64..500, 1u64..200),
        relevance in 0u64..8,
        request in (0u64..60_000, 0u64..60_000, 0u64..30_000, 0u64..30_000, 0.0f64..1.0),
        per_packet: bool,
        procedure in 0..3,
        harq in proptest::option::of((1u32..70, 0.0f64..1.0, 0u64..50_000)),
        arq in proptest::option::of(0u64..200_000),
        losses in (0.0f64..0.4, 0.0f64..0.4),
        tcp in (100u32..3000, 1u64..60, 1u32..5, 1u64..100_000),
        flags: [bool; 4],
    ) {
        let us = |us: u64| json!(us * 1000);
        let span = |low: u64, more: u64| json!({"low_ns": low * 1000, "high_ns": (low + more) * 1000});
        let (frame, decoded, closed, received) = times;
        let (mss, window, delayed, size) = tcp;
        let errors = |loss: f64| json!({"kind": "independent", "loss": loss});
        let of_harq = harq.map(|(attempts, error, round_trip)| {
            json!({"attempts": attempts, "error": error, "round_trip_ns": round_trip * 1000})
        });
        let request_table = match procedure {
            0 => json!({"kind": "ranging", "codes": 1, "timer_ns": 1, "backoff": [request.1, 99_999]}),
            1 => json!({"kind": "scheduling-request", "period_ns": frame * 1000 * (request.1 % 90)}),
            _ => json!({"kind": "random-delay", "delay": span(request.0, request.1),
                        "piggyback": span(request.2, request.3), "collision": request.4,
                        "timer_ns": 1_000_000, "per": if per_packet { "packet" } else { "queue" }}),
        };
        let link = json!({
            "kind": "ofdma-tdd", "frame_ns": frame * 1000, "stations": 1,
            "downlink_slots": slots.0, "map_overhead": {"slots": slots.1, "per_burst": 2},
            "uplink_slots": slots.2, "slot_symbols": slots.3, "map_relevance": relevance,
            "decoded_ns": us(decoded), "closed_ns": us(closed),
            "received_ns": us(closed + received), "downlink_mcs": "qpsk-3/4",
            "uplink_mcs": "qpsk-1/2", "users": [], "crc": flags[0],
            "fragmentation": {"down": flags[1], "up": flags[2]},
            "packing": {"down": flags[3], "up": flags[2]},
            "in_order": {"down": true, "up": false}, "harq": of_harq,
            "arq": arq.map(|delay| json!({"delay_ns": delay * 1000})),
            "errors": errors(losses.0), "reverse_errors": errors(losses.1),
            "request": request_table,
            "grant": {"kind": "uni"}, "scheduler": {"kind": "round-robin"}});
        let scenario = tdd(&[
            ("/bottleneck/link", link),
            ("/flows/0/source/options/mss", json!(mss)),
            ("/flows/0/source/options/receive_window", json!(window * u64::from(mss))),
            ("/flows/0/source/options/delayed_ack_segments", json!(delayed)),
            ("/flows/0/source/transfer_bytes", json!(size)),
        ]);
        match RttStages::covers(&scenario, &Files::default()) {
            Err(reasons) => prop_assert!(reasons.iter().len() > 0),
            Ok(problem) => {
                let terms = problem.terms();
                for value in [terms.rate_bps, terms.base_rtt_s] {
                    prop_assert!(value > 0.0 && value.is_finite(), "{:?}", terms);
                }
                if size < 30_000 && window < 20 {
                    let solved = RttStages::solve(&problem).expect("its parameters are in range");
                    prop_assert!(solved.throughput_bps > 0.0, "{:?}", solved);
                }
                for value in [terms.contention_s, terms.piggyback_s, terms.loss] {
                    prop_assert!(value >= 0.0 && value.is_finite(), "{:?}", terms);
                }
            }
        }
    }
}
