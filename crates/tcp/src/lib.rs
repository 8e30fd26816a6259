//! TCP endpoints as state machines without I/O, and datagram sources.
//!
//! | concern | file |
//! | --- | --- |
//! | parameters of a connection, and the profiles | `config.rs`, `profiles.rs` |
//! | deviations of other implementations from the RFCs | `deviations.rs` |
//! | RTT estimate and retransmission timeout | `rtt.rs` |
//! | outstanding segments; samples of the delivery rate | `recovery/scoreboard.rs`, `recovery/rates.rs` |
//! | applications that write and pause, one file per kind | `application/`, `sender/application.rs` |
//! | a client with several connections | `client.rs` |
//! | window after an idle time | `sender/idle.rs` |
//! | pacing | `sender/pacing.rs` |
//! | probes of a closed window | `sender/persist.rs` |
//! | loss detection, fast retransmit, fast recovery | `recovery/`, one file per algorithm |
//! | window growth and reduction | `congestion/`, one file per algorithm |
//! | the sender, which connects these modules | `sender.rs`; transmission `sender/transmit.rs`; ACK events for the congestion control `sender/events.rs`; ECN `sender/ecn.rs`; a snapshot of the sender's state `sender/info.rs`, and tables of it `ss.rs` |
//! | in-order delivery, SACK blocks | `reassembly.rs` |
//! | ACKs, delayed ACKs | `receiver.rs`; the echo of marks `receiver/ecn.rs` |
//! | advertised window | `window/`, one file per policy; the window field of the header `window_field.rs` |
//! | constant-rate and Poisson datagrams | `datagram.rs` |
//! | voice: playout buffer and E-model | `voice/` |
//!
//! Data flows in one direction, and sequence numbers are stream offsets from 0. Not modelled: FIN
//! (a transfer is complete when its last byte has been acknowledged), the third segment of the
//! handshake (the first data segment replaces it), and payload from the receiver.
#![forbid(unsafe_code)]

mod application;
mod client;
mod config;
pub mod congestion;
mod datagram;
mod deviations;
mod price_rules;
mod profiles;
mod ranges;
mod reassembly;
mod receiver;
mod recovery;
mod rtt;
mod sender;
#[cfg(test)]
mod sizes;
mod ss;
mod voice;
pub mod window;
mod window_field;

pub use application::{
    AbrConfig, Application, Burst, OnOff, OnOffConfig, Requests, RequestsConfig, SizeDistribution,
    TimeDistribution, Video, VideoConfig, VideoReport, buffer_based, buffer_map, harmonic_mean,
    highest_within, pareto, triangular,
};
pub use client::Client;
pub use config::{
    EcnReaction, EcnUse, FastRetransmitGuard, FirstRttvar, FlightBound, IdleRestart, LossDetection,
    Pacing, PartialAckTimer, Push, RecoveryExit, RecoveryKind, RtoFloor, SackAfterTimeout,
    StackVariant, TcpConfig, WindowGrowth, WindowScaling,
};
pub use datagram::{DatagramSink, DatagramSource, Spacing};
pub use price_rules::{clamp_change, clamp_delay};
pub use profiles::{profile, profile_names};
pub use reassembly::Reassembly;
pub use receiver::{Receiver, ReceiverReport};
pub use rtt::RttEstimator;
pub use sender::{Sender, SenderConfig, SenderInfo, SenderReport, SenderState};
pub use ss::{SS_COLUMNS, SsColumn, SsSample, SsValue};
pub use voice::{
    Call, CallQuality, EModel, Playout, PlayoutReport, VoiceConfig, delay_impairment,
    effective_impairment, mean_opinion_score,
};
