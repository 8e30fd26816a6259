//! Functions of RFC 6675 §4, compared with counting octet by octet.

use super::*;
use crate::config::RecoveryKind;
use proptest::prelude::*;

const MSS: u64 = 4;
/// End of the new data.
const NEW_END: u64 = 74;

/// Scoreboard of RFC 6675 octet by octet, following the text of §4.
struct Octets {
    sacked: Vec<bool>,
    una: u64,
    high_rxt: u64,
    rescue_rxt: u64,
}

impl Octets {
    fn unsacked(&self) -> impl Iterator<Item = u64> {
        (self.una..self.sacked.len() as u64).filter(|at| !self.sacked[*at as usize])
    }

    fn is_lost(&self, at: u64) -> bool {
        let above = &self.sacked[at as usize..];
        let sequences = above.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let octets = above.iter().filter(|sacked| **sacked).count() as u64;
        sequences >= 3 || octets > 2 * MSS
    }

    fn pipe(&self) -> u64 {
        let not_lost = self.unsacked().filter(|at| !self.is_lost(*at)).count();
        let resent = self.unsacked().filter(|at| *at < self.high_rxt).count();
        (not_lost + resent) as u64
    }

    fn next_segment(&self, has_new: bool) -> Option<Next> {
        let highest = self.sacked.iter().rposition(|sacked| *sacked).unwrap_or(0) as u64;
        let hole = self.unsacked().find(|at| *at >= self.high_rxt && *at < highest);
        if let Some(hole) = hole.filter(|hole| self.is_lost(*hole)) {
            return Some(Next::Again(hole));
        }
        if has_new {
            return Some(Next::New(NEW_END));
        }
        if let Some(hole) = hole {
            return Some(Next::Again(hole));
        }
        let last = self.unsacked().last().filter(|_| self.una > self.rescue_rxt);
        last.map(Next::Rescue)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn rfc6675_4_agrees_with_octet_by_octet_counting(
        pieces in prop::collection::vec((0u64..60, 1u64..9), 0..8),
        una in 0u64..30,
        resent in 0u64..60,
        rescue_rxt in 0u64..60,
        has_new: bool,
    ) {
        let snd_max = 70;
        let options =
            TcpConfig { mss: MSS as u32, recovery: RecoveryKind::Sack, ..TcpConfig::rfc() };
        let mut sack = Selective::new(&options, options.recovery.is_proportional());
        let mut sacked = vec![false; snd_max as usize];
        for (start, length) in pieces {
            let start = start.max(una + 1);
            let end = (start + length).min(snd_max);
            sack.sacked.insert(Range { start, end });
            sacked[start as usize..end as usize].fill(true);
        }
        let high_rxt = resent.max(una);
        sack.phase = Phase::Recovery(Episode { rescue_rxt, reduction: None });
        sack.recovery_point = snd_max;
        sack.high_rxt = high_rxt;
        let octets = Octets { sacked, una, high_rxt, rescue_rxt };
        prop_assert_eq!(sack.pipe(una, snd_max), octets.pipe());
        prop_assert_eq!(una < sack.lost_before(), octets.is_lost(una));
        let next = sack.next_segment(una, snd_max, has_new.then_some(NEW_END));
        prop_assert_eq!(next, octets.next_segment(has_new));
    }
}
