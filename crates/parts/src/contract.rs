//! The contract of compiled parts, version 1.
//!
//! All records have the layout of C. The first field is the size of the record in bytes, the second
//! the version of the contract. Later versions append fields. A part may read a field only if the
//! size reaches it, and the host sets the fields that a part does not know to 0. Bytes and
//! nanoseconds are `int64`, [`NONE`] if there is no value. A function returns [`OK`] or 0 after a
//! failure.

use std::ffi::c_void;

/// Version of the contract.
pub const VERSION: u32 = 1;

/// Value of a number of bytes or nanoseconds that is not available.
pub const NONE: i64 = i64::MAX;

/// Result of a function that has not failed.
pub const OK: i32 = 1;

/// Flag of a table: `on_ack` is also called for ACKs with which the window must not grow.
pub const EVERY_ACK: u64 = 1;

/// Flag of a table: the segments of the flow have the codepoint ECT(1) (RFC 9331).
pub const SCALABLE: u64 = 2;

/// Flag of an ACK: a duplicate.
pub const DUPLICATE: u64 = 1;

/// Flag of an ACK: it carries ECN-Echo.
pub const ECHO: u64 = 2;

/// Flag of an ACK: the window did not limit the sender before this ACK.
pub const APP_LIMITED: u64 = 4;

/// Flag of a loss: ssthresh must not change.
pub const KEEPS_SSTHRESH: u64 = 1;

/// Flag of the setup: a window may grow that is not fully used.
pub const GROW_UNUSED: u64 = 1;

/// A field of a record: name, type in Rust, and offset in bytes.
pub type Field = (&'static str, &'static str, usize);

/// Defines a record and the list of its fields.
macro_rules! record {
    ($(#[doc = $about:literal])+ $name:ident {
        $($(#[doc = $text:literal])+ $field:ident: $type:ty,)*
    }) => {
        $(#[doc = $about])+
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            /// Size of the record, bytes.
            pub size: u32,
            /// Version of the contract.
            pub version: u32,
            $($(#[doc = $text])+ pub $field: $type,)*
        }

        impl $name {
            /// Size of the record, bytes.
            pub const SIZE: u32 = size_of::<$name>() as u32;

            /// Fields of the record, in order.
            pub const FIELDS: &'static [Field] = &[
                ("size", "u32", std::mem::offset_of!($name, size)),
                ("version", "u32", std::mem::offset_of!($name, version)),
                $((
                    stringify!($field),
                    stringify!($type),
                    std::mem::offset_of!($name, $field),
                ),)*
            ];
        }
    };
}

record! {
    /// The values that a part sets. The state of each object of a part begins with this record.
    Control {
        /// Maximum segment size, bytes. Set by the host.
        mss: i64,
        /// Congestion window, bytes, from one segment to 2^53; fractions of a byte are discarded.
        cwnd: f64,
        /// Slow-start threshold, bytes; infinity if it is not set.
        ssthresh: f64,
        /// Pacing rate of complete IP packets, bit/s; infinity without pacing.
        pacing_rate: f64,
    }
}

record! {
    /// Parameters of the connection.
    Setup {
        /// `GROW_UNUSED`.
        flags: u64,
        /// Maximum segment size, payload bytes.
        mss: i64,
        /// Size of the IP and TCP headers of each packet, bytes.
        header_bytes: i64,
        /// Initial window, bytes.
        initial_window: i64,
        /// Initial slow-start threshold, bytes; `NONE` if it is unlimited.
        initial_ssthresh: i64,
        /// Receive window, bytes.
        receive_window: i64,
    }
}

record! {
    /// An ACK that acknowledges new data, or is a duplicate or a window update.
    Ack {
        /// `DUPLICATE`, `ECHO`, `APP_LIMITED`.
        flags: u64,
        /// Time of the event, ns.
        now_ns: i64,
        /// Acknowledged bytes for which the window may grow; `NONE` if it must not grow.
        growth: i64,
        /// Acknowledgement number, a stream offset.
        ack: i64,
        /// End of the sent data, a stream offset.
        sent: i64,
        /// Bytes newly acknowledged by the cumulative acknowledgement.
        acked: i64,
        /// Bytes newly acknowledged, cumulatively or selectively.
        delivered: i64,
        /// Bytes beyond `ack` that are selectively acknowledged.
        sacked: i64,
        /// Bytes outstanding after this ACK.
        in_flight: i64,
        /// RTT sample, ns; `NONE` without a sample.
        rtt_ns: i64,
        /// Newly reported bytes with a congestion mark, with accurate ECN feedback; otherwise 0.
        marked: i64,
        /// Explicit feedback that the receiver echoes.
        feedback: f64,
    }
}

record! {
    /// A loss that duplicate ACKs or a timeout indicate, or an echoed mark.
    Loss {
        /// `KEEPS_SSTHRESH`.
        flags: u64,
        /// Time of the event, ns.
        now_ns: i64,
        /// FlightSize (RFC 5681 §2), bytes.
        flight: i64,
        /// Congestion window before the event, bytes.
        cwnd: i64,
    }
}

record! {
    /// The end of fast recovery.
    Recovered {
        /// Largest window that the recovery allows, bytes.
        cwnd: i64,
    }
}

record! {
    /// The detection that the reductions of an episode were spurious.
    Undo {
        /// Time of the event, ns.
        now_ns: i64,
        /// Congestion window before the first reduction of the episode, bytes.
        cwnd: i64,
        /// Slow-start threshold to restore, bytes; `NONE` if it was not set.
        ssthresh: i64,
    }
}

record! {
    /// The resumption of transmission after a time without outstanding data.
    Idle {
        /// Time of the event, ns.
        now_ns: i64,
        /// New congestion window, bytes.
        cwnd: i64,
        /// Lower bound of ssthresh, bytes.
        ssthresh: i64,
    }
}

record! {
    /// The loss of the SYN or SYN-ACK.
    LostSyn {
        /// No flags yet.
        flags: u64,
    }
}

/// A function of a part. It receives the state of the object and the event. Null: the default of
/// the contract.
pub type Function<E> = Option<unsafe extern "C" fn(state: *mut c_void, event: *const E) -> i32>;

record! {
    /// A congestion control: its properties and functions.
    CongestionTable {
        /// `EVERY_ACK`, `SCALABLE`.
        flags: u64,
        /// Size of the state of an object, bytes, at least that of `Control`.
        state_size: u64,
        /// Alignment of the state, bytes, at most 16.
        state_align: u64,
        /// Prepares the state, which is 0 apart from the initial values of TCP in `Control`.
        init: Function<Setup>,
        /// Handles an ACK. Must not be null.
        on_ack: Function<Ack>,
        /// Handles a fast retransmit. Must not be null.
        on_loss: Function<Loss>,
        /// Handles an expiry of the retransmission timer. Default: `on_loss` unless
        /// `KEEPS_SSTHRESH` is set, then a window of one segment.
        on_rto: Function<Loss>,
        /// Handles the end of fast recovery. Default: ssthresh, at most `cwnd`.
        on_recovered: Function<Recovered>,
        /// Handles spurious reductions. Default: restores cwnd and ssthresh.
        on_undo: Function<Undo>,
        /// Handles echoed congestion marks. Default: `on_loss`.
        on_ecn: Function<Loss>,
        /// Handles the end of an idle time. Default: RFC 5681 §4.1.
        on_idle: Function<Idle>,
        /// Handles the loss of the SYN. Default: a window of one segment.
        on_lost_syn: Function<LostSyn>,
    }
}

/// Returns a number of bytes or nanoseconds; [`NONE`] for values that are not available or larger.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(NONE)
}

/// Names and fields of all records, from which other languages take the layout.
pub const RECORDS: &[(&str, u32, &[Field])] = &[
    ("Control", Control::SIZE, Control::FIELDS),
    ("Setup", Setup::SIZE, Setup::FIELDS),
    ("Ack", Ack::SIZE, Ack::FIELDS),
    ("Loss", Loss::SIZE, Loss::FIELDS),
    ("Recovered", Recovered::SIZE, Recovered::FIELDS),
    ("Undo", Undo::SIZE, Undo::FIELDS),
    ("Idle", Idle::SIZE, Idle::FIELDS),
    ("LostSyn", LostSyn::SIZE, LostSyn::FIELDS),
    ("CongestionTable", CongestionTable::SIZE, CongestionTable::FIELDS),
];
