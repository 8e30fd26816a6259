//! Tests of piggyback requests that are read with their MPDUs.

use super::{World, ahead};
use serde_json::{Value, json};

/// Sends two ACKs. Bandwidth for the second ACK is requested in the burst of the first ACK.
fn two_acks(changes: Value) -> World {
    let mut world = World::new(changes);
    world.put(3_500, 1, 0, 40).put(4_000, 1, 1, 40);
    world
}

/// The burst of the frame at 40 ms is received at 45.6 ms, too late for the map at 45 ms. The
/// second ACK is therefore sent in the frame of 55 ms. Without retransmissions both reading times
/// are equal.
#[test]
fn request_is_read_when_its_mpdu_is_received() {
    let mut world = two_acks(json!({"piggyback_read": "at-once"}));
    assert_eq!(world.ended(), [(45_600, 1, 0), (60_600, 1, 1)]);
    let mut world = two_acks(json!({"piggyback_read": "with-mpdu"}));
    assert_eq!(world.ended(), [(45_600, 1, 0), (60_600, 1, 1)]);
    let mut world = two_acks(json!({"piggyback_read": "with-mpdu", "received_ns": 5_000_000}));
    assert_eq!(world.ended(), [(45_000, 1, 0), (55_000, 1, 1)], "in time for the next map");
}

/// ARQ delivers the failed MPDU at 145.6 ms. If the request is read immediately, it is in the map
/// of 50 ms.
#[test]
fn retransmitted_mpdu_delays_its_request() {
    let lossy = |read: &str| {
        json!({
            "piggyback_read": read, "arq": {"delay_ns": 100_000_000},
            "reverse_errors": {"kind": "independent", "loss": 1.0},
        })
    };
    let mut world = two_acks(lossy("with-mpdu"));
    assert_eq!(world.ended(), [(145_600, 1, 0), (260_600, 1, 1)]);
    assert_eq!(world.counter("requests_piggyback"), 1.0);
    let mut world = two_acks(lossy("at-once"));
    assert_eq!(world.ended(), [(145_600, 1, 0), (160_600, 1, 1)]);
}

/// When the first request is lost, at 45.6 ms, the station sends another request. It is received at
/// 75.6 ms and granted in the map at 80 ms, and the ACK is sent in the frame at 85 ms. A station
/// without a request procedure waits for the fallback, 100 ms after the burst.
#[test]
fn request_is_lost_with_its_mpdu() {
    let loss = json!({"kind": "independent", "loss": 1.0});
    let lossy = json!({"piggyback_read": "with-mpdu", "reverse_errors": loss});
    let mut world = two_acks(lossy.clone());
    assert!(world.ended().is_empty(), "all is lost");
    assert_eq!((world.counter("requests_contention"), world.counter("used_bytes")), (2.0, 92.0));
    assert_eq!((world.counter("requests_piggyback"), world.counter("granted_bytes")), (0.0, 104.0));
    let mut changes = lossy;
    changes["grant"] = ahead("adapt-bi");
    let mut world = two_acks(changes);
    world.put(0, 0, 0, 1540);
    assert_eq!(world.ended().len(), 1);
    assert_eq!((world.counter("requests_contention"), world.counter("used_bytes")), (1.0, 92.0));
}
