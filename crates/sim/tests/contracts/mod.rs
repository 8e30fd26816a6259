//! The engine's contracts, proved by plug-ins.
//!
//! | file | contract |
//! | --- | --- |
//! | `arq_link.rs`, `arq_toy.rs` | a duplex, slot-clocked link that holds packets until they are acknowledged |
//! | `aging_queue.rs` | a queue discipline with a separate timer that wraps another |
//! | `price_window.rs` | a receive window fed by a value that a queue writes into the packet |
//! | `link_plugins.rs` | error processes, SNR processes and policies of plug-ins reach the link |
//! | `pacing.rs` | the pacing rate of a congestion control |
//! | `plug_in_congestion.rs` | a plug-in congestion control |
//! | `plug_in_scheduler.rs` | a plug-in scheduler of a cell |
//! | `every_ack.rs` | a congestion control receives every ACK, in recovery too |
//! | `both_ways.rs` | data in both directions over every link, under every profile |
//! | `clamp.rs` | CLAMP's window and queue with every other component |
//! | `counting.rs` | (shared) a discipline that numbers what was served |
//! | `cell.rs`, `many_users.rs` | a link with a queue for each of a thousand users |
//! | `rate_samples.rs` | samples of the delivery rate: right, marked, none without the wish |
//! | `sides.rs` | the directions of a link, and its queues, made once and by name |
//! | `wrapped.rs` | a plug-in around every discipline, on every link, and every congestion control |
//! | `failures.rs` | a component that fails ends the run with its message |

mod aging_queue;
pub(crate) mod arq_link;
mod arq_toy;
mod both_ways;
pub(crate) mod cell;
mod clamp;
mod counting;
mod every_ack;
mod failures;
mod link_plugins;
mod many_users;
mod pacing;
mod plug_in_congestion;
mod plug_in_scheduler;
mod price_window;
mod rate_samples;
mod sides;
mod wrapped;
mod wrapped_links_and_windows;
