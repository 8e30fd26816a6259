//! Property tests with random configurations and arrivals: every packet is delivered exactly once
//! or counted as lost, and only granted slots are used.

use super::make;
use crate::link::Link;
use airpath_core::{Bytes, Control, FlowId, Packet, Port, Stage, Time, testing::TestHarness};
use proptest::prelude::*;
use serde_json::{Value, json};

fn requests() -> impl Strategy<Value = Value> {
    let span = (0u64..60, 0u64..60).prop_map(
        |(low, more)| json!({"low_ns": low * 1_000_000, "high_ns": (low + more) * 1_000_000}),
    );
    let per = prop_oneof![Just("queue"), Just("packet")];
    prop_oneof![
        (span.clone(), 0.0..0.9f64, 0u64..100, per, span).prop_map(
            |(delay, collision, timer, per, piggyback)| json!({
                "kind": "random-delay", "delay": delay, "collision": collision,
                "timer_ns": timer * 1_000_000, "per": per, "piggyback": piggyback,
            })
        ),
        // If the back-off window were always 1, stations with the same code would collide forever.
        (1u32..10, 0u64..100, 1u32..5, 1u32..60).prop_map(|(codes, timer, first, more)| json!({
            "kind": "ranging", "codes": codes, "timer_ns": timer * 1_000_000,
            "backoff": [first, first + more],
        })),
        (5u64..90).prop_map(|period| json!({
            "kind": "scheduling-request", "period_ns": period * 1_000_000,
        })),
    ]
}

fn grants() -> impl Strategy<Value = Value> {
    let when = prop_oneof![Just("served"), Just("first-transmission"), Just("delivered")];
    let kind = prop_oneof![Just("blind-bi"), Just("adapt-bi")];
    prop_oneof![
        Just(json!({"kind": "uni"})),
        (kind, 30u64..100, when, 100u64..300).prop_map(|(kind, size, when, fallback)| json!({
            "kind": kind, "size_bytes": size, "when": when, "fallback_ns": fallback * 1_000_000,
        })),
        (60u64..200, 30u64..100, 100u64..300).prop_map(|(period, size, fallback)| json!({
            "kind": "unsolicited", "period_ns": period * 1_000_000, "size_bytes": size,
            "fallback_ns": fallback * 1_000_000,
        })),
    ]
}

fn ways() -> impl Strategy<Value = Value> {
    any::<(bool, bool)>().prop_map(|(down, up)| json!({"down": down, "up": up}))
}

fn settings() -> impl Strategy<Value = Value> {
    let offsets = (0u64..12_000, 0u64..12_000, 0u64..12_000);
    let harq = prop_oneof![
        Just(Value::Null),
        (1u32..5, 0.0..0.9f64, 0u64..50).prop_map(|(attempts, error, round_trip)| json!({
            "attempts": attempts, "error": error, "round_trip_ns": round_trip * 1_000_000,
        })),
    ];
    let arq = prop_oneof![
        Just(Value::Null),
        (0u64..150).prop_map(|ms| json!({"delay_ns": ms * 1_000_000}))
    ];
    let scheduler = prop_oneof![
        Just(json!({"kind": "round-robin"})),
        Just(json!({"kind": "max-rate"})),
        Just(json!({"kind": "proportional-fair", "time_constant_ns": 100_000_000})),
    ];
    let radio = (0.0..0.5f64, 0.0..0.5f64, 0usize..5, 0usize..5);
    let follows = prop_oneof![
        Just(Value::Null),
        (-10.0..40.0f64, -20.0..5.0f64, 0u64..4, 0usize..3).prop_map(|(mean_db, up_db, feedback, way)| {
            let combining = ["none", "chase", "incremental"][way];
            json!({
                "table": "awgn", "snr": {"kind": "rayleigh", "mean_db": mean_db, "doppler_hz": 20.0},
                "uplink_db": up_db, "policy": {"kind": "tfer", "th_fer": 0.1},
                "feedback_frames": feedback, "combining": combining,
            })
        }),
    ];
    let read = prop_oneof![Just("at-once"), Just("with-mpdu")];
    let size = (1u32..6, 20u64..420, 5u64..175, 0u64..3);
    (
        (offsets, size, radio, 0u64..4),
        (ways(), ways(), ways(), any::<bool>()),
        (harq, arq, scheduler),
        (requests(), grants(), follows, read),
    )
        .prop_map(|((offsets, size, radio, relevance), (fragments, packs, order, crc), (harq, arq, scheduler), (request, grant, follows, read))| {
            let mcs = ["qpsk-1/8", "qpsk-1/4", "qpsk-1/2", "qpsk-3/4", "16qam-1/2"];
            // Without fragmentation a packet may wait for a better MCS forever.
            let fragments =
                if follows.is_null() { fragments } else { json!({"down": true, "up": true}) };
            // Without fragmentation a packet never fits into smaller grants of a fixed size.
                let grant = if fragments["up"] == true { grant } else { json!({"kind": "uni"}) };
                let (decoded, closed, more) = offsets;
            json!({
                "stations": size.0, "downlink_slots": size.1, "uplink_slots": size.2 + 20,
                "map_overhead": {"slots": 1, "per_burst": size.3}, "map_relevance": relevance,
                "decoded_ns": decoded * 1000, "closed_ns": closed * 1000,
                "received_ns": (closed + more) * 1000, "crc": crc,
                "downlink_mcs": mcs[radio.2], "uplink_mcs": mcs[radio.3],
                "errors": {"kind": "independent", "loss": radio.0},
                "reverse_errors": {"kind": "independent", "loss": radio.1},
                "fragmentation": fragments, "packing": packs, "in_order": order,
                "harq": harq, "arq": arq, "scheduler": scheduler, "request": request, "grant": grant,
                "radio": follows,
                "piggyback_read": read,
            })
        })
}

/// Number of bits of a slot of 48 symbols. With adaptive modulation it is at most 144, with 16QAM
/// 3/4.
fn slot_bits(mcs: &str) -> f64 {
    match mcs {
        "qpsk-1/8" => 12.0,
        "qpsk-1/4" => 24.0,
        "qpsk-1/2" => 48.0,
        "qpsk-3/4" => 72.0,
        "16qam-1/2" => 96.0,
        _ => unreachable!("{mcs}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_delivered_once_or_lost_in_granted_slots(
        settings in settings(),
        arrivals in prop::collection::vec((0u64..400_000, 0u8..2, 0u32..7, 30u64..1600), 1..120),
    ) {
        let in_order = [settings["in_order"]["down"] == true, settings["in_order"]["up"] == true];
        let Ok(mut link) = make(settings.clone(), 7, 5) else { return Ok(()) };
        let stations = settings["stations"].as_u64().expect("the field is a number") as u32;
        let mut harness = TestHarness::default();
        link.control(&Control::Begin, &mut harness.at(Time::ZERO));
        let mut arrivals = arrivals;
        arrivals.sort_by_key(|arrival| arrival.0);
        let (mut out, mut given) = (Vec::new(), [0u64; 2]);
        for (at_us, port, flow, bytes) in arrivals {
            let now = Time::from_nanos(at_us * 1000);
            out.extend(harness.run(&mut link, now));
            let seq = given[usize::from(port)];
            let packet = Packet::datagram(FlowId(flow), seq, Bytes(bytes), now);
            link.receive(Port(port), &packet, &mut harness.at(now));
            given[usize::from(port)] += 1;
        }
        // The simulated time is two minutes, because unsolicited grants and small frames take long.
        out.extend(harness.run(&mut link, Time::from_secs(120)));
        let reports = link.reports(Time::from_secs(120));
        prop_assert_eq!(link.held(), 0, "{}", &settings);
        for side in 0..2 {
            let mut seen: Vec<(u32, u64)> = out
                .iter()
                .filter(|(_, port, _)| usize::from(port.0) == side)
                .map(|(_, _, packet)| (packet.flow.0 % stations, packet.seq))
                .collect();
            if in_order[side] {
                for station in 0..stations {
                    let of = seen.iter().filter(|(of, _)| *of == station).map(|(_, seq)| *seq);
                    prop_assert!(of.is_sorted(), "{seen:?}");
                }
            }
            let lost = reports[side].link.lost_packets;
            prop_assert_eq!(seen.len() as u64 + lost, given[side]);
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len() as u64, reports[side].link.delivered_packets);
        }
        let counter = |name: &str| {
            let found = reports[1].link.counters.iter().find(|(known, _)| known == name);
            found.map_or(0.0, |(_, value)| *value)
        };
        let [granted, slots, headers, piggybacks] =
            ["granted_bytes", "granted_slots", "requests_contention", "requests_piggyback"]
                .map(counter);
        prop_assert!(counter("used_bytes") <= granted);
        // Requests are counted in bytes, and in slots only if a header is granted.
        let bits = match &settings["radio"] {
            Value::Null => slot_bits(settings["uplink_mcs"].as_str().expect("a name")),
            _ => 144.0,
        };
        prop_assert!((granted - 6.0 * headers - 2.0 * piggybacks) * 8.0 <= slots * bits);
        let offered = settings["uplink_slots"].as_f64().expect("the field is a number");
        prop_assert!(slots <= counter("frames") * offered);
        prop_assert!(reports.iter().all(|side| side.link.utilisation <= 1.0));
        let all: u64 = reports[1].stations.iter().map(|station| station.used_bytes).sum();
        prop_assert_eq!(all as f64, counter("used_bytes"));
    }
}
