//! Packet-level scripts: each step is a stimulus at a given time, and the segments expected for it.
//!
//! Times are milliseconds since the start; sequence numbers are stream offsets in bytes. A
//! full-sized segment has [`MSS`] bytes, so segment `i` starts at byte `i·MSS`. Every segment that
//! an endpoint sends must be claimed by `expect` before the next stimulus, and no timer may be
//! skipped. A script therefore contains all events.
mod echo;
mod expect;
mod mark;
mod peer;
mod receiver;

pub(crate) use mark::Mark;
pub(crate) use peer::Peer;
pub(crate) use receiver::{ReceiverScript, receiver, receiver_with, receiver_with_policy};

use airpath_conformance::Script;
use airpath_core::testing::TestHarness;
use airpath_core::{
    Control, Flags, FlowId, Packet, PacketKind, Port, SackBlock, Seed, Setup, Stage, Stream, Time,
};
use airpath_tcp::congestion::{AnyCongestion, CongestionSetup};
use airpath_tcp::{OnOff, OnOffConfig, Sender, SenderConfig, TcpConfig};
use serde_json::{Value, json};
use std::fmt;
use std::ops::Range;

/// Payload of a full-sized segment in the scripts, bytes.
pub(crate) const MSS: u64 = 1000;

const FLOW: FlowId = FlowId(0);

/// Header without options, bytes.
const HEADER: u32 = 40;

/// Configuration of a connection. Each test changes the relevant fields.
pub(crate) struct Given {
    /// TCP parameters of the connection.
    pub(crate) tcp: TcpConfig,
    /// Congestion control algorithm.
    pub(crate) cc: Value,
    /// Size of the transfer, bytes; `None`: unlimited.
    pub(crate) transfer: Option<u64>,
    /// Start of the sender, ms.
    pub(crate) start: u64,
    /// Time after which no new data is sent, ms.
    pub(crate) stop: Option<u64>,
    /// Application that writes the data; `None`: all data is available at the start.
    pub(crate) application: Option<OnOffConfig>,
}

impl Given {
    /// Sets cwnd and ssthresh for a start in congestion avoidance.
    pub(crate) fn in_congestion_avoidance(&mut self, cwnd: u64) {
        self.tcp.initial_window = cwnd;
        self.tcp.initial_ssthresh = Some(cwnd);
    }
}

/// Returns profile `rfc` with round numbers and without features that few tests need.
fn rfc() -> Given {
    Given {
        tcp: TcpConfig {
            mss: MSS as u32,
            initial_window: 10 * MSS,
            receive_window: 1000 * MSS,
            limited_transmit: false,
            handshake: false,
            ..TcpConfig::rfc()
        },
        cc: json!({"kind": "reno"}),
        transfer: None,
        start: 0,
        stop: None,
        application: None,
    }
}

/// A segment as written in a script.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Segment {
    /// SYN.
    Syn,
    /// Payload: first byte, length, true for a retransmission.
    Data(u64, u64, bool),
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Segment::Syn => write!(f, "syn"),
            Segment::Data(seq, len, retransmission) => {
                write!(f, "{} {seq}+{len}", if retransmission { "again" } else { "new" })
            }
        }
    }
}

/// Full-sized segment `index`, first transmission.
pub(crate) fn new(index: u64) -> Segment {
    Segment::Data(index * MSS, MSS, false)
}

/// Full-sized segment `index`, retransmission.
pub(crate) fn retransmission(index: u64) -> Segment {
    Segment::Data(index * MSS, MSS, true)
}

/// `len` bytes from `seq`, first transmission.
pub(crate) fn part(seq: u64, len: u64) -> Segment {
    Segment::Data(seq, len, false)
}

/// `len` bytes from `seq`, retransmission.
pub(crate) fn part_retransmission(seq: u64, len: u64) -> Segment {
    Segment::Data(seq, len, true)
}

/// Full-sized segments `from` … `to` − 1, first transmission.
pub(crate) fn new_segments(from: u64, to: u64) -> Vec<Segment> {
    (from..to).map(new).collect()
}

/// Full-sized segments `from` … `to` − 1, retransmission.
pub(crate) fn retransmissions(from: u64, to: u64) -> Vec<Segment> {
    (from..to).map(retransmission).collect()
}

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// Returns the clock of RFC 7323 as implemented by the crate: µs modulo 2³².
fn clock(millis: u64) -> u32 {
    (millis * 1000) as u32
}

/// Returns a SACK block relative to the cumulative acknowledgement `next`. The block of a duplicate
/// may be below `next`.
fn block(next: u64, range: &Range<u64>) -> SackBlock {
    SackBlock {
        offset: range.start.wrapping_sub(next) as u32,
        length: (range.end - range.start) as u32,
    }
}

/// Result of a closed loop (see [`SenderScript::closed_loop`]).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Course {
    /// Time at which everything was acknowledged, ms.
    pub(crate) done_at: u64,
    /// Number of expiries of the retransmission timer.
    pub(crate) timeouts: u64,
    /// Number of recoveries.
    pub(crate) recoveries: u64,
    /// Number of retransmitted segments.
    pub(crate) retransmissions: u64,
}

/// A sender driven by hand.
pub(crate) struct SenderScript {
    sender: Sender,
    harness: TestHarness,
    now: u64,
    una: u64,
    window: u32,
    unclaimed: Vec<Segment>,
    /// ECN bits and flags of each segment.
    marks: Vec<Mark>,
    peer: Peer,
    /// Expected header of every segment, bytes.
    header: u32,
    timestamps: bool,
    /// Timestamp that the ACKs echo.
    echo: u32,
    tally: Script,
}

/// Creates a sender of profile `rfc` (see [`rfc`]) that starts at 0.
pub(crate) fn sender(change: impl FnOnce(&mut Given)) -> SenderScript {
    start(rfc(), change)
}

/// Creates a sender of profile `ns3-2014` with segments of [`MSS`] bytes that starts at 0.
pub(crate) fn ns3_sender(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut given = rfc();
    given.tcp = TcpConfig { handshake: false, mss: MSS as u32, ..ns3_2014() };
    start(given, change)
}

/// Returns the parameters of profile `ns3-2014`.
pub(crate) fn ns3_2014() -> TcpConfig {
    TcpConfig::of_profile("ns3-2014").expect("a profile")
}

/// Creates a sender of profile `ns2` with segments of [`MSS`] bytes that starts at 0.
pub(crate) fn ns2_sender(change: impl FnOnce(&mut Given)) -> SenderScript {
    let mut given = rfc();
    given.tcp = TcpConfig { handshake: false, ..ns2() };
    start(given, change)
}

/// Returns the parameters of profile `ns2`.
pub(crate) fn ns2() -> TcpConfig {
    TcpConfig::of_profile("ns2").expect("a profile")
}

fn start(mut given: Given, change: impl FnOnce(&mut Given)) -> SenderScript {
    change(&mut given);
    given.tcp.validate().expect("the script's options are valid");
    let options = given.tcp;
    let setup = Setup {
        seed: Seed::new(1, 0, ""),
        registry: &Default::default(),
        extra: CongestionSetup { options: options.clone().into() },
    };
    let congestion =
        AnyCongestion::build(&given.cc, setup).expect("the script's congestion control is valid");
    let window = u32::try_from(options.receive_window).expect("a window of 32 bits");
    let timestamps = options.timestamps;
    let sender = Sender::new(SenderConfig {
        flow: FLOW,
        options: options.into(),
        congestion,
        transfer: given.transfer,
        start: ms(given.start),
        stop: given.stop.map_or(Time::NEVER, ms),
    });
    let stream = Stream::new(1, 0, "application");
    let sender = match given.application {
        Some(config) => sender.with_application(OnOff { config, stream }),
        None => sender,
    };
    let mut script = SenderScript {
        sender,
        harness: TestHarness::default(),
        now: given.start,
        una: 0,
        window,
        unclaimed: Vec::new(),
        marks: Vec::new(),
        peer: Peer::default(),
        header: if timestamps { HEADER + 12 } else { HEADER },
        timestamps,
        echo: 0,
        tally: Script::default(),
    };
    script.wake();
    script
}

impl SenderScript {
    /// Advances the time to `now`. No timer may be due before.
    #[track_caller]
    pub(crate) fn at(&mut self, now: u64) -> &mut Self {
        self.expect([]);
        assert!(now >= self.now, "the script goes back in time to {now} ms");
        let due = self.sender.next_wakeup();
        assert!(due > ms(now), "a timer was due at {due:?}");
        self.now = now;
        self
    }

    /// Delivers a SYN-ACK that allows `window` bytes.
    pub(crate) fn syn_ack(&mut self, window: u32) -> &mut Self {
        self.syn_ack_with(window, Flags::NONE)
    }

    /// Delivers a SYN-ACK with these flags in addition to SYN.
    pub(crate) fn syn_ack_with(&mut self, window: u32, flags: Flags) -> &mut Self {
        let mut packet = Packet::ack(FLOW, 0, window, 40);
        packet.flags = Flags::SYN.with(flags);
        self.receive(packet)
    }

    /// Delivers an ACK of everything before `next`, with the current window.
    pub(crate) fn ack(&mut self, next: u64) -> &mut Self {
        self.ack_with_window(next, self.window)
    }

    /// Delivers an ACK of everything before `next` with this feedback value: VCP's load code, or the
    /// byte counter of accurate ECN.
    pub(crate) fn code_ack(&mut self, next: u64, code: f32) -> &mut Self {
        self.una = self.una.max(next);
        let mut packet = Packet::ack(FLOW, next, self.window, HEADER);
        packet.feedback = code;
        self.receive(packet)
    }

    /// Delivers an ACK of everything before `next` with a window of `window` bytes.
    pub(crate) fn ack_with_window(&mut self, next: u64, window: u32) -> &mut Self {
        self.window = window;
        self.una = self.una.max(next);
        self.receive(Packet::ack(FLOW, next, window, 40))
    }

    /// Delivers a window update: repeats the highest ACK, with a window of `window` bytes.
    pub(crate) fn window_update(&mut self, window: u32) -> &mut Self {
        self.window = window;
        let mut packet = Packet::ack(FLOW, self.una, window, 40);
        packet.flags = Flags::WINDOW_UPDATE;
        self.receive(packet)
    }

    /// Delivers an ACK that a correct peer would not send.
    pub(crate) fn stray_ack(&mut self, next: u64) -> &mut Self {
        self.receive(Packet::ack(FLOW, next, self.window, 40))
    }

    /// Delivers a duplicate of the highest ACK.
    pub(crate) fn duplicate(&mut self) -> &mut Self {
        self.ack(self.una)
    }

    /// Delivers `count` duplicate ACKs and expects no segments.
    #[track_caller]
    pub(crate) fn quiet_duplicates(&mut self, count: usize) -> &mut Self {
        for _ in 0..count {
            self.duplicate().nothing();
        }
        self
    }

    /// Delivers an ACK of everything before `next`, with these SACK blocks.
    pub(crate) fn sack<const N: usize>(&mut self, next: u64, blocks: [Range<u64>; N]) -> &mut Self {
        self.una = self.una.max(next);
        let mut ack = Packet::ack(FLOW, next, self.window, HEADER);
        blocks.iter().for_each(|range| ack.push_sack(block(next, range)));
        self.receive(ack)
    }

    /// Delivers an ACK with this feedback value and these SACK blocks.
    pub(crate) fn code_sack<const N: usize>(
        &mut self,
        next: u64,
        code: f32,
        blocks: [Range<u64>; N],
    ) -> &mut Self {
        self.una = self.una.max(next);
        let mut ack = Packet::ack(FLOW, next, self.window, HEADER);
        ack.feedback = code;
        blocks.iter().for_each(|range| ack.push_sack(block(next, range)));
        self.receive(ack)
    }

    /// The full-sized segment `index` arrives at the peer, and its ACK arrives at the sender.
    pub(crate) fn arrives(&mut self, index: u64) -> &mut Self {
        self.arrives_with_ack_lost(index);
        self.una = self.una.max(self.peer.next);
        self.receive(self.peer.ack(self.window))
    }

    /// The full-sized segment `index` arrives at the peer, and its ACK is lost.
    pub(crate) fn arrives_with_ack_lost(&mut self, index: u64) -> &mut Self {
        self.peer.take(index * MSS, (index + 1) * MSS);
        self
    }

    /// Delivers these full-sized segments in order, and their ACKs, and expects no segments.
    #[track_caller]
    pub(crate) fn arrive_quietly(&mut self, indexes: impl IntoIterator<Item = u64>) -> &mut Self {
        for index in indexes {
            self.arrives(index).nothing();
        }
        self
    }

    /// The peer discards its data beyond holes (RFC 2018 §8).
    pub(crate) fn renege(&mut self) -> &mut Self {
        self.peer.renege();
        self
    }

    /// Lets ACKs echo the timestamp of a segment that was sent at `sent` ms.
    pub(crate) fn echo(&mut self, sent: u64) -> &mut Self {
        self.echo = clock(sent);
        self
    }

    /// Connects the sender and the peer by a path with an RTT of 100 ms, on which the first copies
    /// of the full-sized segments `lost` are lost. Runs until everything before `end` is
    /// acknowledged.
    pub(crate) fn closed_loop(&mut self, lost: &[u64], end: u64) -> Course {
        let mut under_way: Vec<(u64, Packet)> = Vec::new();
        let mut sent = std::mem::take(&mut self.unclaimed);
        while self.una < end {
            for segment in sent.drain(..) {
                let Segment::Data(seq, len, retransmission) = segment else { panic!("a SYN") };
                if retransmission || !lost.contains(&(seq / MSS)) {
                    self.peer.take(seq, seq + len);
                    under_way.push((self.now + 100, self.peer.ack(self.window)));
                }
            }
            let timer = self.timer_ms();
            match under_way.first() {
                Some(&(due, _)) if due <= timer => {
                    let (due, ack) = under_way.remove(0);
                    self.now = due;
                    self.una = self.una.max(ack.seq);
                    self.receive(ack);
                }
                _ => {
                    self.now = timer;
                    self.wake();
                }
            }
            sent = std::mem::take(&mut self.unclaimed);
        }
        let report = self.sender.report();
        Course {
            done_at: self.now,
            timeouts: report.timeouts,
            recoveries: report.fast_retransmits,
            retransmissions: report.retransmissions,
        }
    }

    /// Expects the application to start or stop writing at `due`, and wakes the sender.
    #[track_caller]
    pub(crate) fn application_at(&mut self, due: u64) -> &mut Self {
        self.timeout_at(due)
    }

    /// Expects the pacer's timer to expire at `due`, and wakes the sender.
    #[track_caller]
    pub(crate) fn released_at(&mut self, due: u64) -> &mut Self {
        self.timeout_at(due)
    }

    /// Stops the source by a control event.
    pub(crate) fn stop(&mut self) -> &mut Self {
        self.tally.stimulus();
        self.sender.control(&Control::Stop, &mut self.harness.at(ms(self.now)));
        self
    }

    /// Expects the retransmission timer to expire at `due`, and wakes the sender.
    #[track_caller]
    pub(crate) fn timeout_at(&mut self, due: u64) -> &mut Self {
        self.expect([]);
        self.timer(due);
        self.now = due;
        self.wake();
        self
    }

    fn receive(&mut self, mut packet: Packet) -> &mut Self {
        self.tally.stimulus();
        assert!(self.unclaimed.is_empty(), "unclaimed: {:?}", self.unclaimed);
        packet.tsecr = self.echo;
        self.sender.receive(Port(0), &packet, &mut self.harness.at(ms(self.now)));
        self.collect()
    }

    fn wake(&mut self) {
        self.tally.stimulus();
        let now = self.sender.next_wakeup().max(ms(self.now));
        self.sender.wake(&mut self.harness.at(now));
        self.collect();
    }

    fn collect(&mut self) -> &mut Self {
        for (_, packet) in self.harness.sent() {
            assert_eq!(packet.kind, PacketKind::Data);
            assert_eq!(u64::from(packet.size), packet.payload_bytes() + u64::from(self.header));
            self.marks.push(Mark::of(&packet));
            assert_eq!(packet.tsval, if self.timestamps { clock(self.now) } else { 0 });
            self.unclaimed.push(if packet.flags.contains(Flags::SYN) {
                assert_eq!(packet.payload_bytes(), 0, "a SYN carries no payload");
                Segment::Syn
            } else {
                let retransmission = packet.flags.contains(Flags::RETRANSMITTED);
                Segment::Data(packet.seq, packet.payload_bytes(), retransmission)
            });
        }
        self
    }
}
