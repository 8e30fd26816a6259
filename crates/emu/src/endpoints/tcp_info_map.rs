//! Maps `struct tcp_info` of a connection to the state of a simulated sender.

use crate::sys::TcpInfo;
use airpath_core::{Duration, Rate};
use airpath_tcp::{SenderInfo, SenderState};

/// `TCP_ESTABLISHED` of the kernel's states.
pub(super) const ESTABLISHED: u8 = 1;
/// `TCP_SYN_SENT`.
const SYN_SENT: u8 = 2;
/// `TCP_CLOSE`.
const CLOSE: u8 = 7;
/// Smallest value of `snd_ssthresh` that means that the kernel has no slow start threshold yet.
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// Returns the number of acknowledged payload bytes of the flow. The kernel's counter also includes
/// the SYN of the connecting side, and at the end the FIN.
pub(super) fn acknowledged(info: &TcpInfo, written: u64) -> u64 {
    info.bytes_acked.saturating_sub(1).min(written)
}

/// Returns the sender state at the time of `info`. Windows are the kernel's values in segments,
/// multiplied by the segment size. `written` is the number of bytes that the application has
/// written; `is_done` is true if the application writes no more data. The pacing rate is reported
/// only for paced connections, because the kernel has a value for every connection.
pub(super) fn sender_info(info: &TcpInfo, written: u64, is_done: bool, paces: bool) -> SenderInfo {
    let mss = info.snd_mss.max(1);
    let bytes = |segments: u32| u64::from(segments) * u64::from(mss);
    let micros = |micros: u32| Duration::from_nanos(u64::from(micros) * 1000);
    let known = |time: u32| (time > 0).then(|| micros(time));
    let out = info.unacked + info.retrans;
    SenderInfo {
        state: state(info, is_done),
        mss,
        cwnd: bytes(info.snd_cwnd),
        ssthresh: (info.snd_ssthresh < NO_THRESHOLD).then(|| bytes(info.snd_ssthresh)),
        unacked: bytes(info.unacked),
        sacked: bytes(info.sacked),
        in_flight: bytes(out.saturating_sub(info.sacked).saturating_sub(info.lost)),
        srtt: known(info.rtt),
        rttvar: known(info.rtt).and(Some(micros(info.rttvar))),
        rto: micros(info.rto),
        backoff: u32::from(info.backoff),
        retransmissions: u64::from(info.total_retrans),
        acked: acknowledged(info, written),
        pacing_rate: (paces && info.reports("pacing_rate") && info.pacing_rate < u64::MAX)
            .then(|| Rate(info.pacing_rate.saturating_mul(8))),
    }
}

/// Returns the state of the sender. The kernel reports recovery and loss; otherwise cwnd and
/// ssthresh determine the state.
fn state(info: &TcpInfo, is_done: bool) -> SenderState {
    match (info.state, info.ca_state) {
        _ if is_done => SenderState::Done,
        (SYN_SENT, _) => SenderState::SynSent,
        (CLOSE, _) => SenderState::Closed,
        (_, 3) => SenderState::Recovery,
        (_, 4) => SenderState::Loss,
        _ if info.snd_cwnd < info.snd_ssthresh => SenderState::SlowStart,
        _ => SenderState::Avoidance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> TcpInfo {
        TcpInfo {
            length: 248,
            state: ESTABLISHED,
            snd_mss: 1448,
            snd_cwnd: 20,
            snd_ssthresh: 0x7fff_ffff,
            unacked: 10,
            sacked: 4,
            lost: 2,
            retrans: 1,
            rtt: 40_500,
            rttvar: 1500,
            rto: 244_000,
            backoff: 1,
            total_retrans: 9,
            bytes_acked: 100_001,
            pacing_rate: 1_000_000,
            ..TcpInfo::default()
        }
    }

    #[test]
    fn segments_become_bytes_and_bytes_per_second_bits() {
        let mapped = sender_info(&info(), 1 << 30, false, true);
        assert_eq!((mapped.mss, mapped.cwnd, mapped.ssthresh), (1448, 20 * 1448, None));
        assert_eq!((mapped.unacked, mapped.sacked), (10 * 1448, 4 * 1448));
        // tcp_packets_in_flight: 10 − (4 + 2) + 1.
        assert_eq!(mapped.in_flight, 5 * 1448);
        let micros = |micros: u64| Duration::from_nanos(micros * 1000);
        assert_eq!((mapped.srtt, mapped.rttvar), (Some(micros(40_500)), Some(micros(1500))));
        assert_eq!((mapped.rto, mapped.backoff), (micros(244_000), 1));
        assert_eq!((mapped.retransmissions, mapped.acked), (9, 100_000));
        assert_eq!(mapped.pacing_rate, Some(Rate(8_000_000)));
        assert_eq!(sender_info(&info(), 1 << 30, false, false).pacing_rate, None);
        let unpaced = TcpInfo { pacing_rate: u64::MAX, ..info() };
        assert_eq!(sender_info(&unpaced, 1 << 30, false, true).pacing_rate, None);
    }

    #[test]
    fn neither_syn_nor_fin_is_payload() {
        let at = |bytes_acked| acknowledged(&TcpInfo { bytes_acked, ..info() }, 5000);
        assert_eq!([0, 1, 2, 5000, 5001, 5002].map(at), [0, 0, 1, 4999, 5000, 5000]);
    }

    #[test]
    fn unmeasured_values_are_none() {
        let mapped = sender_info(&TcpInfo { rtt: 0, rttvar: 250_000, ..info() }, 0, false, false);
        assert_eq!((mapped.srtt, mapped.rttvar), (None, None));
        let threshold = TcpInfo { snd_ssthresh: 10, ..info() };
        assert_eq!(sender_info(&threshold, 0, false, false).ssthresh, Some(14_480));
    }

    #[test]
    fn kernel_states_map_to_states_of_the_simulator() {
        let of = |info: TcpInfo| sender_info(&info, 0, false, false).state;
        let with = |ca_state| of(TcpInfo { ca_state, snd_ssthresh: 20, ..info() });
        // Kernel states open, disorder and CWR.
        assert_eq!([0, 1, 2].map(with), [SenderState::Avoidance; 3]);
        assert_eq!([3, 4].map(with), [SenderState::Recovery, SenderState::Loss]);
        assert_eq!(of(TcpInfo { snd_ssthresh: 21, ..info() }), SenderState::SlowStart);
        assert_eq!(of(TcpInfo { state: SYN_SENT, ..info() }), SenderState::SynSent);
        assert_eq!(of(TcpInfo { state: CLOSE, ..info() }), SenderState::Closed);
        assert_eq!(sender_info(&info(), 0, true, false).state, SenderState::Done);
    }
}
