//! Helper functions of the integration tests: drop curve, flows and parameters of qawla-2015.
use airpath_model::{DropCurve, MultiRegimeLink, Problem, Regime, Tcp};

/// Gentle RED (qawla-2015 eq. 1), thresholds in packets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gred {
    pub min_th: f64,
    pub max_th: f64,
    pub max_p: f64,
}

/// The parameters of qawla-2015 §4.
pub(crate) const PAPER_GRED: Gred = Gred { min_th: 30.0, max_th: 90.0, max_p: 0.1 };

impl Gred {
    pub(crate) fn probability(&self, x: f64) -> f64 {
        let &Self { min_th, max_th, max_p } = self;
        if x < min_th {
            0.0
        } else if x < max_th {
            (x - min_th) / (max_th - min_th) * max_p
        } else if x < 2.0 * max_th {
            max_p + (x - max_th) / max_th * (1.0 - max_p)
        } else {
            1.0
        }
    }

    pub(crate) fn curve(self) -> DropCurve<impl Fn(f64) -> f64 + Copy> {
        DropCurve { probability: move |x| self.probability(x), x_max: 2.0 * self.max_th }
    }
}

/// Returns the base RTTs, s, of the scenario SU(N, F) of qawla-2015 §4, F in ms, with 2 D_F = 5 ms.
pub(crate) fn uniform_rtts(flows: u32, mean_rtt_ms: f64) -> Vec<f64> {
    let spacing = 2.0 * mean_rtt_ms / f64::from(flows + 1);
    (1..=flows).map(|i| (f64::from(i) * spacing + 5.0) * 1e-3).collect()
}

/// Returns a problem with the paper's packet size and TCP parameters.
pub(crate) fn problem<'a, Q: Fn(f64) -> f64>(
    link: (&'a [f64], &'a [Regime]),
    base_rtts_s: &'a [f64],
    drop: DropCurve<Q>,
) -> Problem<'a, Q> {
    let link = MultiRegimeLink::new(link.0, link.1).expect("the test's link is valid");
    Problem { link, base_rtts_s, drop, tcp: Tcp::default(), packet_bytes: 1500.0 }
}
