//! A bracketing root finder that is as robust as bisection and converges superlinearly on smooth
//! functions.
//!
//! Source: the ITP method (interpolate, truncate, project), Oliveira and Takahashi 2020, "An
//! enhancement of the bisection method average performance preserving minmax optimality", Algorithm
//! 1, with κ₁ = 0.2/(b − a), κ₂ = 2, n₀ = 1. Differs: the search also stops if the distance of the
//! function value from zero is at most `Tolerance::value`.
//!
//! The method takes at most two steps more than bisection, even for functions with a jump or a
//! kink. For a function with a jump, it converges to the jump.

/// Two points with a sign change between them, and the function values at these points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// Lower end, finite.
    pub low: f64,
    /// Upper end, finite, not below `low`.
    pub high: f64,
    /// Value at `low`, at most 0.
    pub value_low: f64,
    /// Value at `high`, at least 0.
    pub value_high: f64,
}

impl Bracket {
    /// Returns the end with the function value closer to 0.
    pub fn best(&self) -> f64 {
        if self.value_high < -self.value_low { self.high } else { self.low }
    }

    /// Returns the absolute function value at [`Bracket::best`].
    pub fn residual(&self) -> f64 {
        self.value_high.min(-self.value_low)
    }
}

/// Stop conditions; the search ends when either of them is met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Half the width of the bracket, in units of the argument. Above 0; at least a few units in
    /// the last place of the argument are used.
    pub argument: f64,
    /// Distance of the value from zero. 0 or more.
    pub value: f64,
}

/// Narrows `bracket` around a point at which `function` changes sign upwards.
///
/// Evaluates any function at most ⌈log₂((high − low)/(2 · tolerance))⌉ + 2 times. This is one more
/// than the bound of the ITP method, because of rounding. A NaN counts as a value below zero; the
/// caller must check the result for NaN.
pub fn find_root(
    mut function: impl FnMut(f64) -> f64,
    mut bracket: Bracket,
    tolerance: Tolerance,
) -> Bracket {
    let scale = bracket.low.abs().max(bracket.high.abs());
    let width = 2.0 * tolerance.argument.max(4.0 * f64::EPSILON * scale);
    let initial = bracket.high - bracket.low;
    // ε 2^(n − j): half of the largest bracket width that is allowed after step j.
    let mut reach = 0.5 * width;
    while reach < initial {
        reach *= 2.0;
    }
    while bracket.high - bracket.low > width && bracket.residual() > tolerance.value {
        let argument = next_argument(&bracket, initial, reach);
        let value = function(argument);
        if value >= 0.0 {
            (bracket.high, bracket.value_high) = (argument, value);
        } else {
            (bracket.low, bracket.value_low) = (argument, value);
        }
        reach *= 0.5;
    }
    bracket
}

/// Returns the next argument: the root of the secant, moved towards the middle by δ = κ₁ (b − a)²,
/// and limited to a distance of r from the middle.
fn next_argument(bracket: &Bracket, initial: f64, reach: f64) -> f64 {
    let width = bracket.high - bracket.low;
    let middle = bracket.low + 0.5 * width;
    let fraction = -bracket.value_low / (bracket.value_high - bracket.value_low);
    let secant = if fraction.is_finite() { bracket.low + fraction * width } else { middle };
    let truncation = 0.2 * width * width / initial;
    let to_middle = middle - secant;
    let truncated = if truncation <= to_middle.abs() {
        secant + truncation.copysign(to_middle)
    } else {
        middle
    };
    let projection = (reach - 0.5 * width).max(0.0);
    truncated.clamp(middle - projection, middle + projection)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: Tolerance = Tolerance { argument: 1e-10, value: 0.0 };

    /// Returns the final bracket and the number of evaluations.
    fn find(
        function: impl Fn(f64) -> f64,
        low: f64,
        high: f64,
        within: Tolerance,
    ) -> (Bracket, u32) {
        let (value_low, value_high) = (function(low), function(high));
        let mut evaluations = 0;
        let counted = |x: f64| {
            evaluations += 1;
            function(x)
        };
        let start = Bracket { low, high, value_low, value_high };
        let found = find_root(counted, start, within);
        assert!(found.value_low <= 0.0 && found.value_high >= 0.0);
        (found, evaluations)
    }

    #[test]
    fn smooth_function_takes_far_fewer_steps_than_bisection() {
        for root in [0.001, 0.3, 7.0, 179.9] {
            let (found, evaluations) =
                find(|x| (x + 1.0).sqrt() - (root + 1.0f64).sqrt(), 0.0, 180.0, FINE);
            assert!((found.best() - root).abs() < 2e-10, "{root}: {found:?}");
            assert!(evaluations <= 14, "{root}: {evaluations} evaluations; bisection takes 40");
        }
    }

    #[test]
    fn jump_takes_at_most_two_steps_more_than_bisection() {
        let step = |x: f64| if x < 1.0 / 3.0 { -1.0 } else { 1e6 };
        let (found, evaluations) = find(step, 0.0, 1.0, FINE);
        assert!(found.low < 1.0 / 3.0 && found.high >= 1.0 / 3.0);
        assert!(found.high - found.low <= 2e-10);
        assert!(evaluations <= 35, "{evaluations}"); // bisection takes ⌈log2(1/2e-10)⌉ = 33
    }

    #[test]
    fn root_at_an_end_requires_no_evaluation() {
        assert_eq!(find(|x| x, 0.0, 1.0, FINE).1, 0);
        assert_eq!(find(|x| x - 1.0, 0.0, 1.0, FINE).0.best(), 1.0);
        assert_eq!(find(|x| x, 0.0, 0.0, FINE).1, 0);
    }

    #[test]
    fn search_stops_early_at_value_tolerance() {
        let coarse = Tolerance { argument: 1e-12, value: 0.5 };
        let (found, evaluations) = find(|x| x * x - 2.0, 0.0, 2.0, coarse);
        assert!(found.residual() <= 0.5 && evaluations <= 3);
    }

    #[test]
    fn search_ends_if_tolerance_is_below_resolution_of_argument() {
        let within = Tolerance { argument: 1e-300, value: 0.0 };
        let (found, evaluations) = find(|x| x - 1e9 / 3.0, 0.0, 1e9, within);
        assert!((found.best() - 1e9 / 3.0).abs() < 1e-5 && evaluations < 60);
    }

    #[test]
    fn search_ends_if_function_returns_nan() {
        let start = Bracket { low: 0.0, high: 1.0, value_low: -1.0, value_high: 1.0 };
        let found = find_root(|_| f64::NAN, start, FINE);
        assert!(found.high - found.low <= 2e-10);
    }
}
