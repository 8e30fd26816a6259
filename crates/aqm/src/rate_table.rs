//! [`RateTable`]: table of the parameters of a discipline for ranges of the link rate. A discipline
//! reads the table when the link rate changes.
//!
//! Source: Alcaraz & Cerdán 2006 §6 (`sbd-2006`): the parameters depend on the rate of the radio
//! bearer.

use airpath_core::{Checks, Rate, at_least};

/// Row of a [`RateTable`].
pub(crate) trait RateRow {
    /// Lowest link rate to which the row applies, bit/s.
    fn rate_bps(&self) -> u64;
}

/// Rows in ascending order of rate, and the index of the current row.
#[derive(Clone, Debug)]
pub(crate) struct RateTable<R> {
    rows: Box<[R]>,
    current: Option<usize>,
}

impl<R: RateRow> RateTable<R> {
    /// Creates a table without a current row. `rows` may be in any order.
    pub(crate) fn new(mut rows: Vec<R>) -> RateTable<R> {
        rows.sort_by_key(R::rate_bps);
        RateTable { rows: rows.into_boxed_slice(), current: None }
    }

    /// Rejects a rate of 0, two rows of the same rate, and rows that `check_row` rejects.
    pub(crate) fn check(rows: &[R], checks: &mut Checks, check_row: impl Fn(&R, &mut Checks)) {
        for (number, row) in rows.iter().enumerate() {
            let (mut found, rate) = (Checks::default(), row.rate_bps());
            found.within("rate_bps", rate, at_least(1_u64));
            if rows[..number].iter().any(|other| other.rate_bps() == rate) {
                let (problem, advice) = ("in the table twice", "Use one row for each rate");
                found.reject("rate_bps", rate, problem, advice);
            }
            check_row(row, &mut found);
            checks.nested(&format!("by_rate.{number}"), found.finish());
        }
    }

    /// Selects the row for the link rate `rate`. Returns the row if it differs from the current
    /// row. The selected row has the highest rate that does not exceed the link rate; if the rates
    /// of all rows are higher, it is the first row.
    pub(crate) fn change(&mut self, rate: Rate) -> Option<&R> {
        let fitting = self.rows.partition_point(|row| row.rate_bps() <= rate.0);
        let row = fitting.saturating_sub(1);
        if self.current.replace(row) == Some(row) {
            return None;
        }
        self.rows.get(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl RateRow for u64 {
        fn rate_bps(&self) -> u64 {
            *self
        }
    }

    fn table(rows: &[u64]) -> RateTable<u64> {
        RateTable::new(rows.to_vec())
    }

    #[test]
    fn table_selects_highest_rate_not_above_link_rate() {
        for (rate, row) in
            [(0, 64), (63, 64), (64, 64), (127, 64), (128, 128), (200, 128), (384, 384), (999, 384)]
        {
            assert_eq!(table(&[384, 64, 128]).change(Rate(rate)), Some(&row), "{rate}");
        }
    }

    #[test]
    fn table_returns_row_only_on_change() {
        let mut table = table(&[64, 128]);
        let changes = [64, 100, 128, 999, 127].map(|rate| table.change(Rate(rate)).copied());
        assert_eq!(changes, [Some(64), None, Some(128), None, Some(64)]);
    }

    #[test]
    fn empty_table_never_returns_row() {
        assert_eq!(table(&[]).change(Rate(64)), None);
    }

    #[test]
    fn check_rejects_duplicate_rate() {
        let mut checks = Checks::default();
        RateTable::check(&[64, 128, 64], &mut checks, |_, _| ());
        let error = checks.finish().expect_err("rate 64 is in two rows");
        let text = "by_rate.2.rate_bps = 64: in the table twice. Use one row for each rate";
        assert_eq!(error.to_string(), text);
    }
}
