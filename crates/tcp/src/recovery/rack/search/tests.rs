//! The search compared with a scan of all segments in flight.

use super::*;
use crate::config::TcpConfig;
use crate::reassembly::Reassembly;
use airpath_core::{FlowId, Packet};
use proptest::prelude::*;

const MSS: u64 = 1000;

fn ms(at: u64) -> Time {
    Time::from_millis(at)
}

/// Returns the indices of the lost segments and the longest wait, from a scan of all segments.
fn scan(rule: Rule, board: &Scoreboard) -> (Vec<usize>, Duration) {
    let due = |index: &usize| {
        let sent = (board.left_at(*index), board.end(*index));
        sent < rule.newest && board.marks(*index).is_in_flight()
    };
    let wait = |index: &usize| rule.wait(board.left_at(*index));
    let all: Vec<usize> = (0..board.len()).filter(due).collect();
    let longest = all.iter().map(wait).max().unwrap_or_default();
    (all.into_iter().filter(|index| wait(index) == Duration::ZERO).collect(), longest)
}

#[derive(Clone, Debug)]
enum Step {
    /// A new segment.
    New,
    /// Retransmission of the oldest lost segment.
    Again,
    /// Retransmission of the newest segment.
    Rescue,
    /// Arrival of the segment at this share of the flight, in percent.
    Arrival(usize),
    /// Cumulative acknowledgement of some segments.
    Ack(u64),
    /// Nothing is deemed lost any longer.
    Undo,
    Timeout,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::New),
        4 => Just(Step::Again),
        1 => Just(Step::Rescue),
        8 => (0_usize..100).prop_map(Step::Arrival),
        2 => (1_u64..4).prop_map(Step::Ack),
        1 => Just(Step::Undo),
        1 => Just(Step::Timeout),
    ]
}

fn resend(rack: &mut Rack, board: &mut Scoreboard, index: usize, now: Time) {
    let (start, end) = (board.start(index), board.end(index));
    board.push_again(start, now);
    rack.search.add(now, end);
}

fn arrive(rack: &mut Rack, board: &mut Scoreboard, index: usize, now: Time) {
    rack.newest = rack.newest.max(Some((board.left_at(index), board.end(index))));
    rack.rtt = now.saturating_since(board.left_at(index));
    board.sack_one(index, now);
    board.unmark(index, Marks::RESENT);
}

fn apply(step: &Step, rack: &mut Rack, board: &mut Scoreboard, now: Time) {
    let len = board.len();
    match step {
        Step::New => board.push(board.max() + MSS, now),
        Step::Again => {
            if let Some(start) = rack.next_lost(board) {
                resend(rack, board, board.ended_by(start), now);
            }
        }
        Step::Rescue if len > 0 && !board.marks(len - 1).has(Marks::SACKED) => {
            resend(rack, board, len - 1, now);
        }
        Step::Arrival(percent) if len > 0 => {
            let index = len * percent / 100;
            if board.marks(index).is_in_flight() {
                arrive(rack, board, index, now);
            }
        }
        Step::Ack(segments) if len as u64 >= *segments => {
            for index in 0..*segments as usize {
                if !board.marks(index).has(Marks::SACKED) {
                    arrive(rack, board, index, now);
                }
            }
            board.acknowledge(board.una() + segments * MSS, now);
        }
        Step::Undo => {
            for index in 0..len {
                board.unmark(index, Marks::LOST);
            }
            rack.search.restart(board);
        }
        Step::Timeout => {
            for index in 0..len {
                if !board.marks(index).has(Marks::SACKED) {
                    rack.lose(index, board);
                }
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    /// Deems the same segments lost as a scan, sets the timer to the same time, and finds the
    /// oldest lost segment.
    #[test]
    fn search_agrees_with_scan_of_all_segments(
        steps in prop::collection::vec((step(), 0_u64..3, 0_u64..6), 1..120),
    ) {
        let options = TcpConfig { mss: MSS as u32, ..TcpConfig::rfc() };
        let (mut rack, mut board) = (Rack::new(&options, false), Scoreboard::default());
        let mut now = ms(1);
        for (step, gap, window) in steps {
            now = now + Duration::from_millis(gap);
            apply(&step, &mut rack, &mut board, now);
            let Some(newest) = rack.newest else { continue };
            let patience = rack.rtt + Duration::from_millis(window);
            let rule = Rule { newest, patience, now };
            let (lost, wait) = scan(rule, &board);
            let before: Vec<Marks> = (0..board.len()).map(|index| board.marks(index)).collect();
            let found = rack.search(rule, &mut board);
            for (index, marks) in before.iter().enumerate() {
                let is_new = marks.is_in_flight() && !board.marks(index).is_in_flight();
                prop_assert_eq!(is_new, lost.contains(&index), "segment {}", index);
            }
            prop_assert_eq!((found.wait, found.lost), (wait, !lost.is_empty()));
            let due = |index: &usize| {
                board.marks(*index).has(Marks::LOST) && !board.marks(*index).has(Marks::RESENT)
            };
            let first = (0..board.len()).find(due).map(|index| board.start(index));
            prop_assert_eq!(rack.next_lost(&board), first);
        }
    }

    /// The blocks of the previous ACK are skipped. Segments of any size arrive in any order, some ACKs
    /// are lost: a segment is marked exactly if a block of an ACK has covered it.
    #[test]
    fn skipped_blocks_contain_only_marked_segments(
        sizes in prop::collection::vec(1_u64..=MSS, 1..40),
        arrivals in prop::collection::vec((0_usize..40, prop::bool::weighted(0.8)), 1..80),
    ) {
        let options = TcpConfig { mss: MSS as u32, ..TcpConfig::rfc() };
        let (mut rack, mut board) = (Rack::new(&options, false), Scoreboard::default());
        let mut segments = Vec::new();
        for size in &sizes {
            segments.push((board.max(), board.max() + size));
            board.push(board.max() + size, ms(1));
        }
        let (mut stream, mut reported) = (Reassembly::default(), vec![false; segments.len()]);
        for (step, (number, is_received)) in arrivals.into_iter().enumerate() {
            let (start, end) = segments[number % segments.len()];
            stream.insert(start, end);
            if !is_received {
                continue;
            }
            let mut ack = Packet::ack(FlowId(0), stream.next(), 60_000, 40);
            stream.sack_blocks().for_each(|block| ack.push_sack(block));
            for block in ack.sack() {
                let from = ack.seq + u64::from(block.offset);
                let to = from + u64::from(block.length);
                for (segment, is_reported) in segments.iter().zip(&mut reported) {
                    *is_reported |= from <= segment.0 && segment.1 <= to;
                }
            }
            let now = ms(2 + step as u64);
            rack.absorb(&ack, now, &mut board);
            rack.acknowledge(ack.seq, now, &mut board);
            let outstanding = segments.iter().zip(&reported).filter(|(one, _)| one.1 > ack.seq);
            let expected: Vec<bool> = outstanding.map(|(_, is_reported)| *is_reported).collect();
            let marked = |index| board.marks(index).has(Marks::SACKED);
            let found: Vec<bool> = (0..board.len()).map(marked).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
