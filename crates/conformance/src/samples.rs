//! Sample configurations of each built-in component, for test suites that cover all components of a
//! kind.

use serde_json::{Map, Value, json};

const SAMPLES: &str = include_str!("../generated/samples.json");

/// Returns sample configurations of the component `kind` in `family`. The first sample contains the
/// defaults of the component's Python class. The others are extreme variants, except those for
/// which `accepts` returns false. Each variant changes one value: an integer to 0, 1 or the largest
/// value, another number to 0 or 1, or a Boolean to its inverse.
///
/// A test suite that needs other samples adds its own list. Without such a list, a new component is
/// tested with these samples.
///
/// If the sample with the defaults is missing or rejected, because the engine and the Python class
/// differ. `make generate-docs` writes the samples.
pub fn samples(family: &str, kind: &str, accepts: impl Fn(&Value) -> bool) -> Vec<Value> {
    let all: Value = serde_json::from_str(SAMPLES).expect("what make generate-docs wrote is JSON");
    let Value::Object(usual) = &all[family][kind] else {
        panic!("no sample of {family} {kind}: run make generate-docs");
    };
    assert!(accepts(&json!(usual)), "{family} {kind}: the engine refuses {}", json!(usual));
    let mut found = vec![json!(usual)];
    found.extend(extremes(usual).filter(|description| accepts(description)));
    found
}

fn extremes(usual: &Map<String, Value>) -> impl Iterator<Item = Value> {
    usual.iter().flat_map(|(key, value)| {
        let others = match value {
            Value::Bool(is_on) => vec![json!(!is_on)],
            Value::Number(number) if number.is_u64() => {
                vec![json!(0), json!(1), json!(u64::MAX)]
            }
            Value::Number(_) => vec![json!(0), json!(1)],
            _ => Vec::new(),
        };
        let with = |other| {
            let mut changed = usual.clone();
            changed.insert(key.clone(), other);
            Value::Object(changed)
        };
        others.into_iter().map(with)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_include_the_accepted_extremes() {
        let all = samples("aqm", "codel", |description| description["limit"] != 0);
        assert_eq!(all[0]["target_ns"], 5_000_000);
        assert!(all.iter().any(|sample| sample["limit"] == u64::MAX));
        assert!(all.iter().any(|sample| sample["ecn"] == true));
        assert!(all.iter().all(|sample| sample["limit"] != 0));
    }

    #[test]
    #[should_panic(expected = "no sample of aqm nonsense")]
    fn component_without_a_class_is_reported() {
        samples("aqm", "nonsense", |_| true);
    }
}
