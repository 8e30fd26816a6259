//! The flows of a scenario. Equal flows share one entry with a count.

use crate::scenario::{FlowSpec, SourceSpec};
use airpath_core::{Checks, ConfigError};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::sync::Arc;

/// Maximum number of flows in a scenario.
const MOST_FLOWS: u64 = 100_000;

/// The flows of a scenario, numbered in their order.
///
/// An entry of the document describes `count` equal consecutive flows, so 100,000 equal flows take
/// as much memory as one. Consecutive entries with the same connection share its description.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    entries: Vec<FlowSpec>,
}

impl Flows {
    /// Returns the number of flows.
    pub fn len(&self) -> usize {
        self.entries.iter().map(|entry| entry.count as usize).sum()
    }

    /// Returns true if there are no flows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the description of each flow, in order of flow number.
    pub fn iter(&self) -> impl Iterator<Item = &FlowSpec> {
        self.entries.iter().flat_map(|entry| std::iter::repeat_n(entry, entry.count as usize))
    }

    /// Returns the entries of the document, each once regardless of its count.
    pub fn entries(&self) -> &[FlowSpec] {
        &self.entries
    }

    /// Returns one flow per entry, or the connections of one client, which is enough to check whether
    /// the described components can be built.
    #[must_use]
    pub fn one_of_each(&self) -> Flows {
        let alone = |entry: &FlowSpec| FlowSpec { count: entry.connections(), ..entry.clone() };
        Flows { entries: self.entries.iter().map(alone).collect() }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let mut checks = Checks::default();
        for (number, entry) in self.entries.iter().enumerate() {
            checks.nested(&format!("flows.{number}"), entry.validate());
        }
        let total: u64 = self.entries.iter().map(|entry| u64::from(entry.count)).sum();
        let largest = self.entries.iter().enumerate().max_by_key(|(_, entry)| entry.count);
        match largest {
            None => checks.reject("flows", "[]", "no flows", "Use at least one group of flows"),
            Some((number, entry)) if total > MOST_FLOWS => {
                let problem = format!("{total} flows in all");
                let advice = format!("Use counts that add up to {MOST_FLOWS} at most");
                checks.reject(&format!("flows.{number}.count"), entry.count, &problem, &advice);
            }
            Some(_) => {}
        }
        checks.finish()
    }
}

impl<'de> Deserialize<'de> for Flows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Flows, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Flows;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an array of flows")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Flows, A::Error> {
                let mut entries: Vec<FlowSpec> = Vec::new();
                while let Some(mut entry) = seq.next_element::<FlowSpec>()? {
                    if let SourceSpec::Tcp(spec) = &mut entry.source
                        && let Some(SourceSpec::Tcp(before)) = entries.last().map(|e| &e.source)
                        && spec == before
                    {
                        *spec = Arc::clone(before);
                    }
                    entries.push(entry);
                }
                Ok(Flows { entries })
            }
        }

        deserializer.deserialize_seq(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn entry(count: Option<u64>, rate_bps: u64) -> Value {
        let mut entry = json!({
            "source": {"kind": "cbr", "rate_bps": rate_bps, "packet_bytes": 100},
            "start": {"kind": "at", "time_ns": 0},
            "access": {"delay_ns": 0}, "egress": {"delay_ns": 0}, "return_wire": {"delay_ns": 0},
        });
        if let Some(count) = count {
            entry["count"] = count.into();
        }
        entry
    }

    fn flows(entries: &[Value]) -> Flows {
        serde_json::from_value(entries.into()).expect("entries are read")
    }

    #[test]
    fn an_entry_describes_count_flows() {
        let flows = flows(&[entry(Some(3), 10), entry(None, 20), entry(Some(2), 30)]);
        let rate = |flow: &FlowSpec| match flow.source {
            SourceSpec::Cbr { rate_bps, .. } => rate_bps,
            _ => panic!("datagrams"),
        };
        assert_eq!(flows.len(), 6);
        assert_eq!(flows.iter().map(rate).collect::<Vec<_>>(), [10, 10, 10, 20, 30, 30]);
        assert_eq!(flows.one_of_each().iter().map(rate).collect::<Vec<_>>(), [10, 20, 30]);
        assert!(flows.validate().is_ok());
    }

    #[test]
    fn validate_rejects_zero_and_too_many_flows() {
        assert!(flows(&[]).validate().is_err());
        assert!(flows(&[entry(Some(0), 10)]).validate().is_err());
        assert!(flows(&[entry(Some(1), 10), entry(Some(MOST_FLOWS), 10)]).validate().is_err());
    }
}
