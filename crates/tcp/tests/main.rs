//! Contains all integration tests of the crate, so that only one test binary is linked.

mod script;

mod cwr;
mod dctcp;
mod ecn;
mod every_window;
mod fast_path;
mod fast_recovery;
mod growth;
mod handshake;
mod idle;
mod limited_transmit;
mod ns2;
mod ns3;
mod ns3_2014;
mod pacing;
mod properties;
mod prr;
mod push;
mod rack;
mod random_channel;
mod receiver;
mod sack;
mod sack_blocks;
mod sack_kept;
mod sack_repair;
mod sack_timeout;
mod slow_reader;
mod tail_loss_probe;
mod timeout;
mod timestamps;
mod vcp;
mod window_scaling;
mod window_updates;
mod windows;
mod zero_window;
