//! Tests of the simulator's contracts with plug-in components.
//!
//! | file | contract |
//! | --- | --- |
//! | `arq_link.rs`, `arq_toy.rs` | a duplex, slot-clocked link that holds packets until they are acknowledged |
//! | `aging_queue.rs` | a queue discipline with a separate timer that wraps another |
//! | `price_window.rs` | a receive window that uses a value that a queue writes into the packet |
//! | `link_plugins.rs` | a link uses plug-in error processes, SNR processes and policies |
//! | `pacing.rs` | the pacing rate of a congestion control algorithm |
//! | `plug_in_congestion.rs` | a plug-in congestion control algorithm |
//! | `plug_in_scheduler.rs` | a plug-in scheduler of a cell |
//! | `every_ack.rs` | a congestion control algorithm receives every ACK, also in recovery |
//! | `both_ways.rs` | data in both directions over every link, under every profile |
//! | `clamp.rs` | CLAMP's window and queue with every other component |
//! | `counting.rs` | (helper) a queue discipline that numbers the served packets |
//! | `cell.rs`, `many_users.rs` | a link with one queue for each of a thousand users |
//! | `rate_samples.rs` | delivery rate samples: correct, marked, only on request |
//! | `sides.rs` | the directions of a link, and its named queues, which are built once |
//! | `wrapped.rs` | a wrapper around every queue discipline, on every link, and around every congestion control algorithm |
//! | `failures.rs` | a component that fails ends the run with its message |
//! | `failing_parts.rs` | the same for each method of disciplines, schedulers and policies |

mod aging_queue;
pub(crate) mod arq_link;
mod arq_toy;
mod both_ways;
pub(crate) mod cell;
mod clamp;
mod counting;
mod every_ack;
mod failing_parts;
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
