//! All integration tests of the crate in one binary, so that linking happens once.

mod common;
#[allow(dead_code, reason = "the suites of that crate drive queues by hand")]
#[path = "../../aqm/tests/descriptions/mod.rs"]
mod descriptions;
mod networks;
mod pftk_case;
#[path = "../../link/tests/traces/mod.rs"]
mod traces;

mod ack_access;
mod bbr;
mod bbr_states;
mod captures;
mod congested_acks;
mod contracts;
mod cut;
mod dctcp;
mod delay_parts;
mod delays;
mod ecn;
mod errors;
mod every_control;
mod harq;
mod hops;
mod hystart;
mod interruptions;
mod l4s_links;
mod long_runs;
mod lookahead;
mod mimo;
mod ns3_cubic;
mod observers;
mod pftk;
mod prague;
mod price_and_load;
mod rate_schedule;
mod recorded_traces;
mod rlc_oracle;
mod shares;
mod slope;
mod theory;
mod whole_network;
