//! Reads a table from the text of its file and checks every value.

use super::{PerCurve, PerPoint, PerTable, TableMcs};
use airpath_core::ConfigError;
use serde_json::Value;

/// Largest rate of a scheme, bit/s; the limit of all links.
const FASTEST_BPS: f64 = 1e18;

/// Largest magnitude of the SNR of a point, dB.
const LARGEST_DB: f64 = 1000.0;

/// Reads the table in `text`.
pub(super) fn table(text: &str) -> Result<PerTable, ConfigError> {
    let document: Value = serde_json::from_str(text)
        .map_err(|error| ConfigError::new("table", "…", format!("not JSON: {error}")))?;
    if !document.is_object() {
        return Err(ConfigError::new("table", shown(&document), "not a table of error rates"));
    }
    let curves = list(&document, "curves", curve)?;
    for (place, curve) in curves.iter().enumerate() {
        if curves[..place].iter().any(|other| other.mcs.name == curve.mcs.name) {
            let problem = "occurs twice. Use a unique name for every curve";
            let field = format!("curves.{place}.mcs.name");
            return Err(ConfigError::new(field, shown(&curve.mcs.name.as_str().into()), problem));
        }
    }
    Ok(PerTable {
        channel: name(&document, "channel")?,
        snr_range_db: range(&document, &curves)?,
        curves,
        provenance: document["provenance"].clone(),
    })
}

fn curve(value: &Value) -> Result<PerCurve, ConfigError> {
    let mcs = mcs(&value["mcs"]).map_err(|error| error.under("mcs"))?;
    let points = list(value, "points", point)?;
    for (place, pair) in points.windows(2).enumerate() {
        if pair[0].snr_db >= pair[1].snr_db {
            let problem =
                format!("not above the {} of the point before. Points rise", pair[0].snr_db);
            let field = format!("points.{}.snr_db", place + 1);
            return Err(ConfigError::new(field, pair[1].snr_db, problem));
        }
    }
    Ok(PerCurve { mcs, points })
}

fn mcs(value: &Value) -> Result<TableMcs, ConfigError> {
    let code_rate = positive(value, "code_rate")?;
    if code_rate > 1.0 {
        let problem = "not a share of bits: above 1";
        return Err(ConfigError::new("code_rate", shown(&value["code_rate"]), problem));
    }
    Ok(TableMcs {
        name: name(value, "name")?,
        bits_per_symbol: count(value, "bits_per_symbol", 1)?,
        code_rate,
        block_bytes: count(value, "block_bytes", 1)?,
        rate_bps: rate_bps(value)?,
    })
}

fn point(value: &Value) -> Result<PerPoint, ConfigError> {
    let (errors, blocks) = (count(value, "errors", 0)?, count(value, "blocks", 1)?);
    if errors > blocks {
        return Err(ConfigError::new("errors", errors, format!("above the {blocks} blocks")));
    }
    let snr_db = number(value, "snr_db")?;
    if snr_db.abs() > LARGEST_DB {
        let problem = format!("not a number of dB from -{LARGEST_DB} to {LARGEST_DB}");
        return Err(ConfigError::new("snr_db", shown(&value["snr_db"]), problem));
    }
    Ok(PerPoint { snr_db, errors, blocks })
}

/// Returns the SNR range in the file, or the range of the points if the file does not contain it.
fn range(document: &Value, curves: &[PerCurve]) -> Result<(f64, f64), ConfigError> {
    let ends = |curve: &PerCurve| (curve.points[0].snr_db, curve.points.last().map(|p| p.snr_db));
    let of_points = curves.iter().map(ends).fold((f64::MAX, f64::MIN), |range, (first, last)| {
        (range.0.min(first), range.1.max(last.expect("a point")))
    });
    let Some(written) = document.get("snr_range_db") else {
        return Ok(of_points);
    };
    let ends = written.as_array().map(|ends| ends.iter().map(Value::as_f64).collect::<Vec<_>>());
    match ends.as_deref() {
        Some(&[Some(low), Some(high)]) if low <= of_points.0 && high >= of_points.1 => {
            Ok((low, high))
        }
        _ => {
            let problem = "not the lowest and the highest of all the points' snr_db, or beyond";
            Err(ConfigError::new("snr_range_db", shown(written), problem))
        }
    }
}

// --- fields of a JSON object ----------------------------------------------------------------

/// Reads a list that is not empty.
fn list<T>(
    from: &Value,
    key: &str,
    read: impl Fn(&Value) -> Result<T, ConfigError>,
) -> Result<Vec<T>, ConfigError> {
    let Some(values) = from[key].as_array().filter(|values| !values.is_empty()) else {
        let problem = format!("not a list with {key} in it");
        return Err(ConfigError::new(key, shown(&from[key]), problem));
    };
    let read_at = |(place, value): (usize, &Value)| {
        read(value).map_err(|error| error.under(&place.to_string()).under(key))
    };
    values.iter().enumerate().map(read_at).collect()
}

fn name(from: &Value, key: &str) -> Result<String, ConfigError> {
    match from[key].as_str() {
        Some(name) if !name.is_empty() => Ok(name.into()),
        _ => Err(ConfigError::new(key, shown(&from[key]), "not a name. Use a text")),
    }
}

/// Reads a number; JSON numbers are always finite.
fn number(from: &Value, key: &str) -> Result<f64, ConfigError> {
    let number = from[key].as_f64();
    number.ok_or_else(|| ConfigError::new(key, shown(&from[key]), "not a number"))
}

fn positive(from: &Value, key: &str) -> Result<f64, ConfigError> {
    match number(from, key)? {
        number if number > 0.0 => Ok(number),
        _ => Err(ConfigError::new(key, shown(&from[key]), "not above 0")),
    }
}

fn rate_bps(from: &Value) -> Result<f64, ConfigError> {
    let rate = positive(from, "rate_bps")?;
    if rate > FASTEST_BPS {
        let problem = format!("not a rate up to {FASTEST_BPS:e}, the fastest that is counted");
        return Err(ConfigError::new("rate_bps", shown(&from["rate_bps"]), problem));
    }
    Ok(rate)
}

fn count(from: &Value, key: &str, least: u64) -> Result<u64, ConfigError> {
    let count = from[key].as_u64().filter(|&count| count >= least);
    count.ok_or_else(|| {
        let problem = format!("not an integer from {least} on");
        ConfigError::new(key, shown(&from[key]), problem)
    })
}

/// Formats a value as in the file, truncated if long.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}
