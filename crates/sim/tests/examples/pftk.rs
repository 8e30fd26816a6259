//! Compares Reno on a link with independent losses with the PFTK formula: `cargo run --release -p
//! airpath-sim-tests --example pftk [LOSSES]`.
//!
//! One flow with a base RTT of 100 ms, no bottleneck, and no window limit. Each run is long enough
//! for `LOSSES` lost packets (default: 3000).
#![allow(clippy::print_stdout)]

#[path = "../pftk_case/mod.rs"]
mod pftk_case;

use pftk_case::{Case, LOSS_RATES, Outcome};

fn main() {
    let losses = std::env::args().nth(1).map_or(3000.0, |text| text.parse().expect("a number"));
    let variants = [(2, 1.0, 200), (1, 1.0, 200), (2, 0.2, 200), (2, 1.0, 1)];
    for (b, min_rto_s, ack_delay_ms) in variants {
        println!("b = {b}, T0 = {min_rto_s} s, ACKs delayed by {ack_delay_ms} ms at most:\n");
        println!(
            "| p | PFTK, packets/s | its Q | {0} | {0} |",
            "packets/s | off PFTK | Q | RTT, ms | off PFTK with this Q and RTT"
        );
        println!("|{}", " --- |".repeat(13));
        for p in LOSS_RATES {
            let case = |recovery| Case { p, b, min_rto_s, ack_delay_ms, recovery };
            let runs = ["reno", "newreno"].map(|name| (case(name), case(name).measure(losses, 1)));
            print_row(case("reno").pftk(), runs);
        }
        println!();
    }
}

fn print_row(model: Outcome, runs: [(Case, Outcome); 2]) {
    let columns = runs.map(|(case, simulated)| {
        let rate = simulated.sending_rate;
        let deviation = 100.0 * case.deviation(simulated);
        let rest = 100.0 * (rate / case.pftk_rate_as_measured(simulated) - 1.0);
        let (q, rtt_ms) = (simulated.timeout_share, 1e3 * simulated.rtt_s);
        format!("{rate:.1} | {deviation:+.1} % | {q:.3} | {rtt_ms:.0} | {rest:+.1} %")
    });
    let Outcome { loss_rate: p, sending_rate, timeout_share, .. } = model;
    println!("| {p:.0e} | {sending_rate:.1} | {timeout_share:.3} | {} |", columns.join(" | "));
}
