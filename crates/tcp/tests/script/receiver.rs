//! A receiver driven by hand.

use super::{FLOW, Given, HEADER, MSS, clock, ms, rfc};
use airpath_conformance::Script;
use airpath_core::testing::TestHarness;
use airpath_core::{Ecn, Flags, Packet, PacketKind, Port, SackBlock, Stage};
use airpath_tcp::Receiver;
use airpath_tcp::window::{AnyWindow, FixedWindow, ReceiveWindow};
use std::ops::Range;

/// A receiver driven by hand.
pub(crate) struct ReceiverScript {
    receiver: Receiver,
    harness: TestHarness,
    now: u64,
    unclaimed: Vec<Packet>,
    last: Option<Packet>,
    /// Size of an ACK without SACK blocks, bytes.
    header: u32,
    tally: Script,
}

/// Creates a receiver of profile `rfc` with a fixed window of 10 segments.
pub(crate) fn receiver(change: impl FnOnce(&mut Given)) -> ReceiverScript {
    receiver_with(change, AnyWindow::Fixed(FixedWindow::new(10 * MSS)))
}

/// Creates such a receiver with a plug-in receive-window policy.
pub(crate) fn receiver_with_policy(policy: impl ReceiveWindow + Send + 'static) -> ReceiverScript {
    receiver_with(|_| (), AnyWindow::Dyn(Box::new(policy)))
}

/// Creates such a receiver with other parameters and a policy.
pub(crate) fn receiver_with(change: impl FnOnce(&mut Given), window: AnyWindow) -> ReceiverScript {
    let mut given = rfc();
    change(&mut given);
    ReceiverScript {
        receiver: Receiver::new(FLOW, &given.tcp, window),
        harness: TestHarness::default(),
        now: 0,
        unclaimed: Vec::new(),
        last: None,
        header: if given.tcp.timestamps { HEADER + 12 } else { HEADER },
        tally: Script::default(),
    }
}

impl ReceiverScript {
    /// Advances the time to `now`. No timer may be due before.
    #[track_caller]
    pub(crate) fn at(&mut self, now: u64) -> &mut Self {
        self.nothing();
        assert!(now >= self.now, "the script goes back in time to {now} ms");
        let due = self.receiver.next_wakeup();
        assert!(due > ms(now), "a timer was due at {due:?}");
        self.now = now;
        self
    }

    /// Delivers a SYN.
    pub(crate) fn syn(&mut self) -> &mut Self {
        self.syn_with(Flags::NONE)
    }

    /// Delivers a SYN with these flags in addition to SYN.
    pub(crate) fn syn_with(&mut self, flags: Flags) -> &mut Self {
        let mut packet = Packet::data(FLOW, 0, 0, 40, ms(self.now));
        packet.flags = Flags::SYN.with(flags);
        packet.tsval = clock(self.now);
        self.receive(packet)
    }

    /// Delivers a SYN with this ECN field.
    pub(crate) fn marked_syn(&mut self, ecn: Ecn) -> &mut Self {
        let mut packet = Packet::data(FLOW, 0, 0, 40, ms(self.now));
        (packet.ecn, packet.flags) = (ecn, Flags::SYN);
        self.receive(packet)
    }

    /// Delivers the full-sized segment `index`, which was sent at `sent` ms.
    pub(crate) fn stamped(&mut self, index: u64, sent: u64) -> &mut Self {
        let mut packet = Packet::data(FLOW, index * MSS, MSS as u32, HEADER, ms(self.now));
        packet.tsval = clock(sent);
        self.receive(packet)
    }

    /// Delivers the full-sized segment `index`.
    pub(crate) fn segment(&mut self, index: u64) -> &mut Self {
        self.bytes(index * MSS, MSS)
    }

    /// Delivers the full-sized segment `index` with this ECN field and these flags.
    pub(crate) fn marked(&mut self, index: u64, ecn: Ecn, flags: Flags) -> &mut Self {
        let mut packet = Packet::data(FLOW, index * MSS, MSS as u32, HEADER, ms(self.now));
        (packet.ecn, packet.flags) = (ecn, flags);
        packet.tsval = clock(self.now);
        self.receive(packet)
    }

    /// Delivers a segment of `len` bytes from `seq`.
    pub(crate) fn bytes(&mut self, seq: u64, len: u64) -> &mut Self {
        self.priced_bytes(seq, len, 0.0)
    }

    /// Does the same with a feedback value written by a queue.
    pub(crate) fn priced_bytes(&mut self, seq: u64, len: u64, feedback: f32) -> &mut Self {
        let mut packet = Packet::data(FLOW, seq, len as u32, 40, ms(self.now));
        packet.feedback = feedback;
        self.receive(packet)
    }

    /// Expects one ACK of everything before `next`, without ECN-Echo.
    #[track_caller]
    pub(crate) fn ack(&mut self, next: u64) -> &mut Self {
        self.acks([(next, false)])
    }

    /// Expects one ACK of everything before `next`, with ECN-Echo.
    #[track_caller]
    pub(crate) fn echo_ack(&mut self, next: u64) -> &mut Self {
        self.acks([(next, true)])
    }

    /// Expects these ACKs: (acknowledgement number, ECN-Echo).
    #[track_caller]
    pub(crate) fn acks<const N: usize>(&mut self, expected: [(u64, bool); N]) -> &mut Self {
        let acks = expected.map(|_| {
            let ack = self.claim();
            assert!(!ack.flags.contains(Flags::SYN), "a SYN-ACK");
            assert!(!ack.flags.contains(Flags::CWR), "CWR in an ACK");
            assert_eq!(ack.ecn, Ecn::NotEct, "a pure ACK is not ECN-capable");
            (ack.seq, ack.flags.contains(Flags::ECE))
        });
        assert_eq!(acks, expected, "acknowledged at {} ms", self.now);
        self.nothing()
    }

    /// Expects one SYN-ACK.
    #[track_caller]
    pub(crate) fn syn_ack(&mut self) -> &mut Self {
        self.syn_ack_with(Flags::NONE)
    }

    /// Expects one SYN-ACK with exactly these flags in addition to SYN.
    #[track_caller]
    pub(crate) fn syn_ack_with(&mut self, flags: Flags) -> &mut Self {
        let ack = self.claim();
        assert_eq!(ack.flags, Flags::SYN.with(flags), "flags of the SYN-ACK");
        assert_eq!((ack.seq, ack.ecn), (0, Ecn::NotEct));
        self.nothing()
    }

    /// Expects no packets since the last stimulus.
    #[track_caller]
    pub(crate) fn nothing(&mut self) -> &mut Self {
        assert!(self.unclaimed.is_empty(), "unclaimed: {:?}", self.unclaimed);
        self
    }

    /// Expects a window update: a repetition of the last ACK because the window has opened.
    #[track_caller]
    pub(crate) fn update(&mut self, next: u64) -> &mut Self {
        self.tally.value();
        self.ack(next);
        let ack = self.last.as_ref().expect("an ACK was sent");
        assert!(ack.flags.contains(Flags::WINDOW_UPDATE), "not a window update");
        self
    }

    /// Expects a window of `bytes` bytes in the last ACK.
    #[track_caller]
    pub(crate) fn window(&mut self, bytes: u32) -> &mut Self {
        self.tally.value();
        let ack = self.last.as_ref().expect("an ACK was sent");
        assert_eq!(ack.window, bytes, "window at {} ms", self.now);
        self
    }

    /// Expects this feedback value in the last ACK.
    #[track_caller]
    pub(crate) fn feedback(&mut self, value: f32) -> &mut Self {
        self.tally.value();
        let ack = self.last.as_ref().expect("an ACK was sent");
        assert!((ack.feedback - value).abs() < 1e-6, "{}", ack.feedback);
        self
    }

    /// Expects one ACK of everything before `next` with accurate feedback: `packets` marked packets,
    /// in the ACE field, and `bytes` marked bytes.
    #[track_caller]
    pub(crate) fn accurate_ack(&mut self, next: u64, packets: u8, bytes: u64) -> &mut Self {
        let ack = self.claim();
        assert_eq!((ack.seq, ack.feedback), (next, bytes as f32), "at {} ms", self.now);
        assert_eq!(ack.flags, Flags::with_ace(5 + packets), "ACE at {} ms", self.now);
        self.nothing()
    }

    /// Expects exactly these SACK blocks in the last ACK, in this order.
    #[track_caller]
    pub(crate) fn blocks<const N: usize>(&mut self, ranges: [Range<u64>; N]) -> &mut Self {
        self.tally.value();
        let ack = self.last.as_ref().expect("an ACK was sent");
        let absolute = |b: &SackBlock| {
            let start = ack.seq + u64::from(b.offset);
            start..start + u64::from(b.length)
        };
        let sent: Vec<Range<u64>> = ack.sack().iter().map(absolute).collect();
        assert_eq!(sent, ranges, "SACK blocks at {} ms", self.now);
        self
    }

    /// Expects that the last ACK was an IP packet of `bytes` bytes.
    #[track_caller]
    pub(crate) fn size(&mut self, bytes: u32) -> &mut Self {
        self.tally.value();
        assert_eq!(self.last.as_ref().expect("an ACK was sent").bytes().0, u64::from(bytes));
        self
    }

    /// Expects that the last ACK echoed the timestamp of a segment sent at `sent` ms, and carried
    /// the current timestamp.
    #[track_caller]
    pub(crate) fn echoes(&mut self, sent: u64) -> &mut Self {
        self.tally.value();
        let ack = self.last.as_ref().expect("an ACK was sent");
        assert_eq!(ack.tsecr, clock(sent), "TSecr at {} ms", self.now);
        assert_eq!(ack.tsval, clock(self.now), "TSval at {} ms", self.now);
        self
    }

    /// Expects the delayed-ACK timer to expire at `due`, and wakes the receiver.
    #[track_caller]
    pub(crate) fn timeout_at(&mut self, due: u64) -> &mut Self {
        self.nothing();
        assert_eq!(self.receiver.next_wakeup(), ms(due));
        self.now = due;
        self.tally.stimulus();
        self.receiver.wake(&mut self.harness.at(ms(due)));
        self.collect()
    }

    /// Expects no running timer.
    #[track_caller]
    pub(crate) fn no_timer(&mut self) -> &mut Self {
        self.tally.value();
        let wakeup = self.receiver.next_wakeup();
        assert!(wakeup.is_never(), "a timer expires at {wakeup:?}");
        self
    }

    /// Returns the in-order bytes delivered to the application.
    pub(crate) fn delivered(&self) -> u64 {
        self.receiver.report().delivered_bytes
    }

    #[track_caller]
    fn claim(&mut self) -> Packet {
        assert!(!self.unclaimed.is_empty(), "no ACK at {} ms", self.now);
        self.tally.segments(1);
        let ack = self.unclaimed.remove(0);
        assert_eq!(ack.kind, PacketKind::Ack);
        // Two NOPs, kind and length, eight bytes per block (RFC 2018 §3).
        let option = [0, 12, 20, 28][ack.sack().len()];
        assert_eq!(u32::from(ack.size), self.header + option);
        self.last = Some(ack);
        ack
    }

    fn receive(&mut self, packet: Packet) -> &mut Self {
        self.tally.stimulus();
        assert!(self.unclaimed.is_empty(), "unclaimed: {:?}", self.unclaimed);
        self.receiver.receive(Port(0), &packet, &mut self.harness.at(ms(self.now)));
        self.collect()
    }

    fn collect(&mut self) -> &mut Self {
        let sent = self.harness.sent();
        self.unclaimed.extend(sent.into_iter().map(|(_, packet)| packet));
        self
    }
}
