use super::*;
use airpath_core::Bytes;
use serde_json::json;

/// Returns a curve with blocks of 60 bytes and points (snr_db, errors, blocks).
fn curve(points: &[(f64, u64, u64)]) -> Value {
    let point = |&(snr_db, errors, blocks): &(f64, u64, u64)| json!({"snr_db": snr_db, "errors": errors, "blocks": blocks});
    json!({
        "mcs": {
            "name": "mcs0", "bits_per_symbol": 2, "code_rate": 0.5, "block_bytes": 60,
            "rate_bps": 5.376e6,
        },
        "points": points.iter().map(point).collect::<Vec<_>>(),
    })
}

fn document(curves: &[Value]) -> Value {
    json!({"provenance": {"seed": 1}, "channel": "awgn", "curves": curves})
}

fn read(document: &Value) -> Result<PerTable, ConfigError> {
    PerTable::from_json(&document.to_string())
}

fn table(points: &[(f64, u64, u64)]) -> PerTable {
    read(&document(&[curve(points)])).expect("a table")
}

fn fer(points: &[(f64, u64, u64)], snr_db: f64) -> f64 {
    table(points).curves[0].fer(snr_db)
}

/// Checks that a table with one modified value is rejected with this error.
#[track_caller]
fn refused(pointer: &str, value: Value, field: &str, shown: &str, problem: &str) {
    let mut document = document(&[curve(&[(0.0, 90, 100), (2.0, 9, 100), (4.0, 0, 100)])]);
    *document.pointer_mut(pointer).expect("is there") = value;
    let error = read(&document).expect_err("refused");
    assert_eq!(
        (error.first().field.as_str(), error.first().value.as_str()),
        (field, shown),
        "{error}"
    );
    assert!(error.first().problem.contains(problem), "{error}");
}

#[test]
fn fer_at_points_is_the_counted_share() {
    let points = [(0.0, 1, 3), (0.5, 7, 1000), (1.0, 1, 10_000_000)];
    for (snr_db, errors, blocks) in points {
        assert_eq!(fer(&points, snr_db), errors as f64 / blocks as f64);
    }
}

#[test]
fn logarithm_of_fer_is_linear_between_points() {
    let points = [(10.0, 100, 1000), (12.0, 1, 1000)];
    // One decade per dB; linear interpolation of FER would give 5.05e-2 in the middle.
    for (snr_db, wanted) in
        [(11.0, 1e-2), (10.5, f64::powf(10.0, -1.5)), (11.75, 10f64.powf(-2.75))]
    {
        let found = fer(&points, snr_db);
        assert!((found / wanted - 1.0).abs() < 1e-12, "{snr_db}: {found}");
    }
}

#[test]
fn curve_falls_to_half_an_error_before_clean_point() {
    let points = [(0.0, 50, 1000), (2.0, 0, 10_000_000), (4.0, 0, 10)];
    let wanted = (5e-2f64 * 5e-8).sqrt();
    assert!((fer(&points, 1.0) / wanted - 1.0).abs() < 1e-12);
    let just_below = fer(&points, 2.0 - 1e-9);
    assert!((just_below / 5e-8 - 1.0).abs() < 1e-6, "{just_below}");
    for snr_db in [2.0, 2.1, 4.0, 100.0] {
        assert_eq!(fer(&points, snr_db), 0.0);
    }
}

#[test]
fn clean_point_before_errors_counts_as_half_an_error() {
    let points = [(0.0, 10, 100), (2.0, 0, 100), (4.0, 1, 1000)];
    assert_eq!(fer(&points, 2.0), 0.005);
    assert!((fer(&points, 3.0) - f64::sqrt(0.005 * 0.001)).abs() < 1e-15);
    assert_eq!(fer(&points, 5.0), 0.001);
}

#[test]
fn fer_outside_points_is_that_of_nearest_point() {
    let points = [(0.0, 90, 100), (2.0, 9, 100)];
    assert_eq!(fer(&points, -50.0), 0.9);
    assert_eq!(fer(&points, 50.0), 0.09);
    assert_eq!(fer(&[(1.0, 3, 10)], -1.0), 0.3);
    assert_eq!(fer(&[(1.0, 0, 10)], -1.0), 0.0);
}

#[test]
fn fer_never_rises_if_counted_fer_falls() {
    let points = [(0.0, 1000, 1000), (1.0, 700, 1000), (2.5, 20, 9000), (3.0, 0, 10_000_000)];
    let rates: Vec<f64> = (-10..50).map(|tenth| fer(&points, f64::from(tenth) / 10.0)).collect();
    assert!(rates.windows(2).all(|pair| pair[0] >= pair[1]), "{rates:?}");
    assert_eq!((rates[0], rates[59]), (1.0, 0.0));
}

#[test]
fn per_matches_qawla_2015_equation_23() {
    let table = table(&[(0.0, 100, 100), (2.0, 1, 100), (4.0, 1, 10_000_000), (6.0, 0, 100)]);
    let per = |snr_db, bytes| table.curves[0].per(snr_db, Bytes(bytes));
    assert!((per(2.0, 60) - 0.01).abs() < 1e-15);
    assert!((per(2.0, 61) - (1.0 - 0.99 * 0.99)).abs() < 1e-15);
    assert!((per(2.0, 1500) - (1.0 - 0.99f64.powi(25))).abs() < 1e-14);
    assert!((per(4.0, 1500) / 2.5e-6 - 1.0).abs() < 2e-6, "small rates keep their digits");
    assert_eq!((per(0.0, 1500), per(6.0, 1500), per(0.0, 0)), (1.0, 0.0, 0.0));
}

#[test]
fn table_covers_snrs_of_all_curves() {
    let clean = curve(&[(0.0, 90, 100), (2.0, 0, 100)]);
    let mut open = curve(&[(1.0, 90, 100), (4.0, 9, 100)]);
    open["mcs"]["name"] = "mcs1".into();
    let both = read(&document(&[clean.clone(), open])).expect("a table");
    assert!([1.0, 2.0, 3.0, 4.0].into_iter().all(|snr_db| both.covers(snr_db)));
    assert!([-0.1, 0.5, 4.1, f64::NAN].into_iter().all(|snr_db| !both.covers(snr_db)));
    // Above a final point without errors, the table covers SNRs up to the end of its range.
    let mut document = document(&[clean]);
    assert!(!read(&document).expect("a table").covers(3.0));
    document["snr_range_db"] = json!([-1, 6]);
    let wide = read(&document).expect("a table");
    assert!(wide.covers(6.0) && !wide.covers(6.1) && !wide.covers(-0.5));
}

#[test]
fn table_contains_data_of_schemes() {
    let table = table(&[(0.0, 90, 100)]);
    assert_eq!((table.channel.as_str(), &table.provenance), ("awgn", &json!({"seed": 1})));
    let mcs = &table.curve("mcs0").expect("is there").mcs;
    assert_eq!((mcs.bits_per_symbol, mcs.code_rate, mcs.block_bytes), (2, 0.5, 60));
    assert_eq!(mcs.rate_bps, 5.376e6);
    assert_eq!(table.curve("mcs1"), None);
}

#[test]
fn descending_points_are_rejected() {
    let field = "curves.0.points.1.snr_db";
    refused("/curves/0/points/1/snr_db", json!(0), field, "0", "the 0 of the point before");
    refused("/curves/0/points/1/snr_db", json!(-1.5), field, "-1.5", "Points rise");
}

#[test]
fn numbers_beyond_limits_are_rejected() {
    // A rate without a limit would make a link infinitely fast.
    refused("/curves/0/mcs/rate_bps", json!(1e300), "curves.0.mcs.rate_bps", "1e+300", "1e18");
    refused("/curves/0/points/2/snr_db", json!(1e30), "curves.0.points.2.snr_db", "1e+30", "of dB");
}

#[test]
fn impossible_counts_are_rejected() {
    let (errors, blocks) = ("/curves/0/points/1/errors", "/curves/0/points/1/blocks");
    refused(errors, json!(101), "curves.0.points.1.errors", "101", "above the 100 blocks");
    refused(errors, json!(-1), "curves.0.points.1.errors", "-1", "from 0 on");
    refused(errors, json!(1.5), "curves.0.points.1.errors", "1.5", "not an integer");
    refused(blocks, json!(0), "curves.0.points.1.blocks", "0", "from 1 on");
}

#[test]
fn values_that_are_not_numbers_are_rejected() {
    let snr_db = "/curves/0/points/2/snr_db";
    refused(snr_db, json!("4 dB"), "curves.0.points.2.snr_db", "\"4 dB\"", "not a number");
    refused(snr_db, Value::Null, "curves.0.points.2.snr_db", "null", "not a number");
    let text = document(&[curve(&[(0.0, 1, 2)])]).to_string();
    for literal in ["NaN", "Infinity", "1e999"] {
        let error =
            PerTable::from_json(&text.replace("\"snr_db\":0.0", &format!("\"snr_db\":{literal}")));
        assert!(error.expect_err("refused").first().problem.contains("not JSON"));
    }
}

#[test]
fn impossible_schemes_are_rejected() {
    let mcs = "/curves/0/mcs";
    let field = |key: &str| (format!("{mcs}/{key}"), format!("curves.0.mcs.{key}"));
    for (key, value, shown, problem) in [
        ("name", json!(""), "\"\"", "a text"),
        ("bits_per_symbol", json!(0), "0", "from 1 on"),
        ("code_rate", json!(0.0), "0.0", "not above 0"),
        ("code_rate", json!(1.1), "1.1", "above 1"),
        ("block_bytes", json!(null), "null", "not an integer"),
        ("rate_bps", json!(-1.0), "-1.0", "not above 0"),
    ] {
        let (pointer, field) = field(key);
        refused(&pointer, value, &field, shown, problem);
    }
}

#[test]
fn error_names_missing_value() {
    refused("/curves", json!([]), "curves", "[]", "not a list with curves in it");
    refused("/curves", json!({}), "curves", "{}", "not a list");
    refused("/curves/0/points", json!([]), "curves.0.points", "[]", "points in it");
    refused("/curves/0", json!(3), "curves.0.mcs.code_rate", "null", "not a number");
    refused("/channel", json!(1), "channel", "1", "not a name");
    refused("", json!([1, 2]), "table", "[1,2]", "not a table");
    let twice = read(&document(&[curve(&[(0.0, 1, 2)]), curve(&[(0.0, 1, 2)])]));
    assert_eq!(twice.expect_err("refused").first().field, "curves.1.mcs.name");
    let text = PerTable::from_json("{").expect_err("refused");
    assert!(text.first().problem.starts_with("not JSON: EOF"), "{text}");
}

#[test]
fn range_that_excludes_points_is_rejected() {
    for range in [json!([0.0, 3.9]), json!([0.1, 5]), json!([4, 0]), json!([0]), json!("all")] {
        let mut document = document(&[curve(&[(0.0, 1, 2), (4.0, 1, 2)])]);
        document["snr_range_db"] = range;
        assert_eq!(read(&document).expect_err("refused").first().field, "snr_range_db");
    }
}
