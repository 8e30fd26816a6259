//! RTT samples, marks and byte counts of the scoreboard.

use super::*;
use proptest::prelude::*;

fn three_segments() -> Scoreboard {
    let mut board = Scoreboard::default();
    for (i, end) in [100, 200, 250].into_iter().enumerate() {
        board.push(end, Time::from_millis(i as u64));
    }
    board
}

#[test]
fn oldest_acknowledged_segment_gives_the_rtt_sample() {
    let mut board = three_segments();
    assert_eq!(board.acknowledge(200, Time::from_millis(10)), Some(Duration::from_millis(10)));
    assert_eq!(board.acknowledge(250, Time::from_millis(10)), Some(Duration::from_millis(8)));
    assert_eq!((board.una(), board.nxt(), board.max()), (250, 250, 250));
}

#[test]
fn retransmitted_segment_gives_no_sample_and_keeps_its_end() {
    let mut board = three_segments();
    board.push_again(0, Time::from_millis(5));
    assert_eq!((board.end_of(0), board.resent()), (100, 100));
    assert_eq!(board.acknowledge(200, Time::from_millis(10)), None);
    assert_eq!((board.end_of(200), board.resent()), (250, 0));
}

#[test]
fn partially_acknowledged_segment_remains_on_the_board() {
    let mut board = three_segments();
    assert_eq!(board.acknowledge(50, Time::from_millis(10)), None);
    assert_eq!((board.end_of(50), board.una(), board.start_of(150)), (100, 50, 100));
}

#[test]
fn sack_block_marks_only_complete_segments() {
    let mut board = three_segments();
    board.sack((50, 210), 160, 100, Time::ZERO);
    assert_eq!([0, 1, 2].map(|i| board.marks(i).has(Marks::SACKED)), [false, true, false]);
    board.mark(2, Marks::LOST);
    board.sack((100, 250), 50, 100, Time::ZERO);
    assert_eq!((board.sacked(), board.lost()), (150, 0));
    board.forget_sacked();
    assert_eq!(board.sacked(), 0);
}

proptest! {
    /// For random marks, retransmissions and ACKs, the counts agree with the segments, and no byte
    /// has two marks that exclude each other.
    #[test]
    fn bytes_are_counted_by_their_marks(
        steps in prop::collection::vec((0u8..5, 0u64..400, 1u64..90), 1..60),
    ) {
        let mut board = Scoreboard::default();
        for (step, at, length) in steps {
            let inside = board.una() + at % board.flight().max(1);
            match step {
                0 => board.push(board.max() + length, Time::ZERO),
                1 if board.flight() > 0 => board.push_again(inside, Time::ZERO),
                2 => { let end = (inside + 3 * length).min(board.max());
                    board.sack((inside, end), u64::MAX, 40, Time::ZERO); }
                3 => { board.acknowledge(inside, Time::ZERO); }
                _ if board.flight() > 0 => {
                    let index = board.ended_by(inside);
                    if !board.marks(index).has(Marks::SACKED) {
                        board.mark(index, Marks::LOST);
                    }
                }
                _ => {}
            }
            let bytes = |mark| (0..board.len())
                .filter(|i| board.marks(*i).has(mark))
                .map(|i| board.end(i) - board.start(i))
                .sum::<u64>();
            prop_assert_eq!(board.sacked(), bytes(Marks::SACKED));
            prop_assert_eq!(board.lost(), bytes(Marks::LOST));
            prop_assert_eq!(board.resent(), bytes(Marks::RESENT));
            prop_assert!(board.sacked() + board.lost() <= board.flight());
        }
    }
}
