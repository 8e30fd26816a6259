//! The kernel's information about a connection: `struct tcp_info` of linux/tcp.h.

/// Declares the structure and its parser for the bytes that the kernel has written.
macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident: $kind:ty = $at:literal,)*) => {
        /// The kernel's information about a connection, with the names of linux/tcp.h without
        /// `tcpi_`.
        ///
        /// Times are in µs unless stated otherwise, sizes in bytes, counts in packets. A field that
        /// the running kernel does not report is 0: see [`TcpInfo::reports`].
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct TcpInfo {
            /// Number of bytes that the kernel has written.
            pub length: usize,
            $($(#[$doc])* pub $name: $kind,)*
        }

        impl TcpInfo {
            /// Parses the bytes that the kernel has written.
            pub(super) fn parse(bytes: &[u8]) -> Self {
                Self {
                    length: bytes.len(),
                    $($name: {
                        const SIZE: usize = size_of::<$kind>();
                        let field = bytes.get($at..$at + SIZE);
                        let field = field.and_then(|field| field.first_chunk::<SIZE>());
                        field.map_or(0, |field| <$kind>::from_ne_bytes(*field))
                    },)*
                }
            }

            /// Returns true if the running kernel reports a field.
            pub fn reports(&self, name: &str) -> bool {
                match name {
                    $(stringify!($name) => ($at + size_of::<$kind>()) <= self.length,)*
                    _ => false,
                }
            }
        }
    };
}

fields! {
    /// State of the connection, such as `TCP_ESTABLISHED` = 1.
    state: u8 = 0,
    /// State of congestion control: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    ca_state: u8 = 1,
    /// Consecutive retransmission timeouts without an ACK.
    retransmits: u8 = 2,
    /// Unanswered zero window probes.
    probes: u8 = 3,
    /// Number of doublings of the RTO (back-off).
    backoff: u8 = 4,
    /// Options in use, as the sum of: 1 timestamps, 2 SACK, 4 window scaling, 8 ECN, 16 ECN seen.
    options: u8 = 5,
    /// Window scales: low four bits for the peer, high four bits for this end.
    wscale: u8 = 6,
    /// Bit 0: true if the delivery rate was limited by the application.
    flags: u8 = 7,
    /// Retransmission timeout (RTO).
    rto: u32 = 8,
    /// Estimate of the delay of delayed ACKs.
    ato: u32 = 12,
    /// Maximum segment size for sending.
    snd_mss: u32 = 16,
    /// Estimated maximum segment size of received segments.
    rcv_mss: u32 = 20,
    /// Packets sent and not acknowledged.
    unacked: u32 = 24,
    /// Packets acknowledged selectively (SACK).
    sacked: u32 = 28,
    /// Packets deemed lost.
    lost: u32 = 32,
    /// Packets retransmitted and not acknowledged.
    retrans: u32 = 36,
    /// No longer used.
    fackets: u32 = 40,
    /// Time since data was sent, ms.
    last_data_sent: u32 = 44,
    /// Not reported; 0.
    last_ack_sent: u32 = 48,
    /// Time since data was received, ms.
    last_data_recv: u32 = 52,
    /// Time since an ACK was received, ms.
    last_ack_recv: u32 = 56,
    /// MTU of the path.
    pmtu: u32 = 60,
    /// Threshold of the receive window.
    rcv_ssthresh: u32 = 64,
    /// Smoothed RTT.
    rtt: u32 = 68,
    /// Mean deviation of the RTT.
    rttvar: u32 = 72,
    /// Slow start threshold, packets; 2³¹ − 1 or more if it is not set yet.
    snd_ssthresh: u32 = 76,
    /// Congestion window, packets.
    snd_cwnd: u32 = 80,
    /// Advertised maximum segment size.
    advmss: u32 = 84,
    /// Reordering threshold, packets.
    reordering: u32 = 88,
    /// RTT measured by the receiver.
    rcv_rtt: u32 = 92,
    /// Target of the receive buffer auto-tuning.
    rcv_space: u32 = 96,
    /// Segments retransmitted in total.
    total_retrans: u32 = 100,
    /// Pacing rate, byte/s; 2⁶⁴ − 1 without pacing.
    pacing_rate: u64 = 104,
    /// Limit of the pacing rate, byte/s; 2⁶⁴ − 1 for no limit.
    max_pacing_rate: u64 = 112,
    /// Bytes acknowledged.
    bytes_acked: u64 = 120,
    /// Bytes received in order.
    bytes_received: u64 = 128,
    /// Segments sent, of any kind.
    segs_out: u32 = 136,
    /// Segments received, of any kind.
    segs_in: u32 = 140,
    /// Bytes written by the application and not sent yet.
    notsent_bytes: u32 = 144,
    /// Minimum RTT of the last minutes; 2³² − 1 if it is not measured yet.
    min_rtt: u32 = 148,
    /// Segments with data received.
    data_segs_in: u32 = 152,
    /// Segments with data sent.
    data_segs_out: u32 = 156,
    /// Delivery rate of the last sample, byte/s.
    delivery_rate: u64 = 160,
    /// Time in which data were waiting to be sent or acknowledged.
    busy_time: u64 = 168,
    /// Time limited by the receiver's window.
    rwnd_limited: u64 = 176,
    /// Time limited by the send buffer.
    sndbuf_limited: u64 = 184,
    /// Data packets delivered.
    delivered: u32 = 192,
    /// Data packets delivered with a CE mark.
    delivered_ce: u32 = 196,
    /// Bytes sent, including retransmissions.
    bytes_sent: u64 = 200,
    /// Bytes retransmitted.
    bytes_retrans: u64 = 208,
    /// D-SACKs received.
    dsack_dups: u32 = 216,
    /// Number of reordering events detected.
    reord_seen: u32 = 220,
    /// Packets received out of order.
    rcv_ooopack: u32 = 224,
    /// Receive window of the peer.
    snd_wnd: u32 = 228,
    /// Receive window of this end.
    rcv_wnd: u32 = 232,
    /// Number of changes of the path hash after timeouts.
    rehash: u32 = 236,
    /// Retransmission timeouts.
    total_rto: u16 = 240,
    /// Completed recoveries that were started by a retransmission timeout.
    total_rto_recoveries: u16 = 242,
    /// Time in such recoveries, ms.
    total_rto_time: u32 = 244,
}

#[test]
fn shorter_struct_of_the_kernel_reports_fewer_fields() {
    let bytes: Vec<u8> = (0..104).collect();
    let info = TcpInfo::parse(&bytes);
    assert_eq!(info.total_retrans, u32::from_ne_bytes([100, 101, 102, 103]));
    assert_eq!((info.pacing_rate, info.total_rto), (0, 0));
    assert!(info.reports("total_retrans") && !info.reports("pacing_rate"));
    assert!(!info.reports("no such field"));
}
