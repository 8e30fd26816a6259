//! Computes the performance of a station that is the only station on the link, for analytic models.
//!
//! Packets of one size are segmented into MPDUs as in `side.rs`. The computation uses no random
//! numbers.

use super::clock::Clock;
use super::settings::TddConfig;
use super::side::{LARGEST_MPDU, SUBHEADER, Segmentation};
use airpath_core::{Bytes, ConfigError};

/// Number of MPDUs over which a mean is computed.
const COUNTED: u64 = 100_000;
/// Largest size of a frame that is filled MPDU by MPDU, bytes. For larger frames an approximation
/// is used.
const LARGEST_FRAME: u64 = 1 << 24;

/// Performance of a station that is the only station on the link, with packets of one size in each
/// direction. Arrays are indexed by direction, downlink first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleStation {
    /// Frames and the event times in them.
    pub clock: Clock,
    /// Number of frames between a map and its uplink burst.
    pub map_relevance: u64,
    /// Mean number of packets that a frame carries under saturation; 0 if a packet never fits.
    pub packets_per_frame: [f64; 2],
    /// Number of frames that an isolated packet needs; 0 if the packet never fits.
    pub frames: [u64; 2],
    /// Number of MPDUs of an isolated packet.
    pub mpdus: [u64; 2],
}

impl TddConfig {
    /// Returns the performance of the first station while no other station sends. `sizes` are the
    /// packet sizes in the downlink and in the uplink. Each frame has maps for one burst in each
    /// direction.
    ///
    /// # Errors
    /// If a parameter is outside its range.
    pub fn single_station(&self, sizes: [Bytes; 2]) -> Result<SingleStation, ConfigError> {
        self.check()?;
        let slot = self.slot_sizes(0)?;
        let maps = self.map_overhead.slots.saturating_add(2 * self.map_overhead.per_burst);
        let slots = [self.downlink_slots.saturating_sub(maps), self.uplink_slots];
        let mut single_station = SingleStation {
            clock: self.clock(),
            map_relevance: self.map_relevance,
            packets_per_frame: [0.0; 2],
            frames: [0; 2],
            mpdus: [0; 2],
        };
        for side in 0..2 {
            let rules = Segmentation {
                header: self.header(),
                fragments: self.fragmentation.of(side),
                packs: self.packing.of(side),
            };
            let space = slot[side].bytes_of(slots[side]);
            let size = sizes[side].0;
            (single_station.frames[side], single_station.mpdus[side]) =
                by_itself(size, space, &rules);
            single_station.packets_per_frame[side] = in_full_frames(size, space, &rules);
        }
        Ok(single_station)
    }
}

/// Packets of one size; the first packet may be partly sent.
#[derive(Clone, Copy, Debug)]
struct Packets {
    size: u64,
    /// Number of unsent bytes of the first packet.
    left: u64,
    is_begun: bool,
    /// True if the number of packets is unlimited.
    endless: bool,
    /// Number of completely sent packets.
    sent: u64,
}

impl Packets {
    fn new(size: u64, endless: bool) -> Packets {
        Packets { size, left: size, is_begun: false, endless, sent: 0 }
    }

    fn is_over(&self) -> bool {
        !self.endless && self.sent > 0
    }

    /// Returns the size of the next MPDU, at most `space` bytes. The rules are those of
    /// `Side::next_mpdu`.
    fn next_mpdu(&mut self, space: u64, rules: &Segmentation) -> Option<u64> {
        let (mut bytes, mut packets, mut ends, mut plain) = (rules.header, 0, 0, false);
        while !self.is_over() {
            let for_others = if packets == 1 && ends == 1 && plain { SUBHEADER } else { 0 };
            let is_plain = packets == 0 && !self.is_begun;
            let own = if is_plain { 0 } else { SUBHEADER };
            let limit = if is_plain { space } else { space.min(LARGEST_MPDU) };
            let used = bytes + for_others;
            if used + own + self.left > limit {
                let limit = space.min(LARGEST_MPDU);
                if rules.fragments && used + SUBHEADER < limit {
                    self.left -= limit - used - SUBHEADER;
                    self.is_begun = true;
                    bytes = limit;
                    packets += 1;
                }
                break;
            }
            bytes = used + own + self.left;
            plain = is_plain;
            ends += 1;
            packets += 1;
            self.sent += 1;
            (self.left, self.is_begun) = (self.size, false);
            if !rules.packs {
                break;
            }
        }
        (packets > 0).then_some(bytes)
    }

    /// Fills a frame of `space` bytes. Returns the number of MPDUs.
    fn fill(&mut self, mut space: u64, rules: &Segmentation) -> u64 {
        let mut mpdus = 0;
        while let Some(bytes) = self.next_mpdu(space, rules) {
            space -= bytes;
            mpdus += 1;
        }
        mpdus
    }
}

/// Returns the number of frames and the number of MPDUs of an isolated packet. The number of frames
/// is 0 if the packet never fits.
fn by_itself(size: u64, space: u64, rules: &Segmentation) -> (u64, u64) {
    let mut packets = Packets::new(size, false);
    let (mut frames, mut mpdus) = (0, 0);
    while !packets.is_over() {
        match packets.fill(space, rules) {
            0 => return (0, 0),
            more => (frames, mpdus) = (frames + 1, mpdus + more),
        }
    }
    (frames, mpdus)
}

/// Returns the mean number of packets that a frame carries under saturation.
fn in_full_frames(size: u64, space: u64, rules: &Segmentation) -> f64 {
    if space > LARGEST_FRAME {
        return space as f64 / (size + rules.header) as f64;
    }
    let mut packets = Packets::new(size, true);
    let (mut frames, mut mpdus) = (0, 0);
    while mpdus < COUNTED {
        match packets.fill(space, rules) {
            0 => return 0.0,
            more => (frames, mpdus) = (frames + 1, mpdus + more),
        }
    }
    let begun = (size - packets.left) as f64 / size as f64;
    (packets.sent as f64 + begun) / frames as f64
}

#[cfg(test)]
mod tests {
    use super::super::side::Side;
    use super::super::slots::slot_of;
    use super::*;
    use airpath_aqm::{AnyQueue, Queue};
    use airpath_core::testing::TestHarness;
    use airpath_core::{FlowId, Packet, QueueId, Registry, Seed, Setup, Time};
    use serde_json::json;

    fn rules(fragments: bool, packs: bool) -> Segmentation {
        Segmentation { header: 6, fragments, packs }
    }

    /// The downlink of the paper: 360 slots of 9 bytes, packets of 1540 bytes.
    #[test]
    fn packets_per_frame_with_and_without_fragmentation() {
        assert!((in_full_frames(1540, 3240, &rules(false, false)) - 2.0).abs() < 1e-9);
        // Nearly every frame contains a fragmented packet, which needs an additional header and two
        // subheaders.
        let cut = in_full_frames(1540, 3240, &rules(true, false));
        assert!((cut / ((3240.0 - 10.0) / 1546.0) - 1.0).abs() < 1e-3, "{cut}");
        assert_eq!(by_itself(1540, 3240, &rules(true, false)), (1, 1));
        assert_eq!(by_itself(1540, 1000, &rules(false, false)), (0, 0));
        assert_eq!(by_itself(1540, 1000, &rules(true, false)), (2, 2));
        assert!(in_full_frames(1540, 1000, &rules(false, false)).abs() < 1e-9);
    }

    proptest::proptest! {
        /// The sizes of the MPDUs equal the sizes of the MPDUs that a `Side` creates from a queue
        /// of these packets.
        #[test]
        fn mpdus_match_side(
            size in 40u64..3000, space in 16u64..5000, fragments: bool, packs: bool,
        ) {
            let description = json!({"kind": "droptail", "limit": {"packets": 100_000}});
            let registry = Registry::default();
            let setup = Setup { seed: Seed::new(1, 0, "test"), registry: &registry, extra: () };
            let queue = AnyQueue::build(&description, setup).expect("a valid configuration");
            let slot = slot_of("", "qpsk-1/2", 0, 48).expect("the MCS exists");
            let mut side = Side::new(Queue::new(queue, QueueId::NONE), slot, false);
            let mut harness = TestHarness::default();
            for seq in 0..5000 {
                let packet = Packet::data(FlowId(0), seq, size as u32 - 40, 40, Time::ZERO);
                side.queue.enqueue(&packet, &mut harness.at(Time::ZERO));
            }
            let rules = rules(fragments, packs);
            let mut packets = Packets::new(size, true);
            for _ in 0..40 {
                let (mut here, mut there) = (space, space);
                loop {
                    let found = packets.next_mpdu(here, &rules);
                    let made = side.next_mpdu(0, there, &rules, &mut harness.at(Time::ZERO));
                    proptest::prop_assert_eq!(found, made.map(|mpdu| mpdu.bytes));
                    let Some(bytes) = found else { break };
                    (here, there) = (here - bytes, there - bytes);
                }
            }
        }
    }
}
