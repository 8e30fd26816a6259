//! Writes the result file of a run, a sequence of sections. The last section is the report.
//!
//! ```text
//!   {"name":"ss/cwnd","bytes":16}⏎ 16 bytes  …  {"name":"report.json","bytes":2048}⏎ 2048 bytes
//! ```
//!
//! A file without the section `report.json` belongs to a run that did not finish.

use crate::report::RunReport;
use airpath_core::{Recorder, Series};
use airpath_path::Scenario;
use airpath_tcp::{SS_COLUMNS, SsSample};
use serde_json::json;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Writer of the sections.
pub(crate) struct Results(BufWriter<File>);

impl Results {
    /// Creates a writer to an empty file.
    pub(crate) fn to(file: File) -> Results {
        Results(BufWriter::new(file))
    }

    fn section(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        fill(&mut bytes)?;
        writeln!(self.0, "{}", json!({"name": name, "bytes": bytes.len()}))?;
        self.0.write_all(&bytes)
    }

    /// Writes `ss/COLUMN`: the samples of the senders' state, if the scenario records them.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(crate) fn ss(&mut self, scenario: &Scenario, samples: &[SsSample]) -> io::Result<()> {
        if !scenario.record.ss {
            return Ok(());
        }
        for column in &SS_COLUMNS {
            self.section(&format!("ss/{}", column.name), |bytes| column.write(samples, bytes))?;
        }
        Ok(())
    }

    /// Writes `series/NAME.COLUMN`: the recorded series in little-endian order. Times and values
    /// are doubles; indices of flows, components and queues are 32-bit integers.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(crate) fn series(&mut self, recorder: &Recorder, series: &[Series]) -> io::Result<()> {
        for wanted in series {
            let (_, name) = Series::ALL[*wanted as usize];
            let samples = recorder.samples(*wanted);
            self.section(&format!("series/{name}.time_s"), |bytes| {
                bytes.extend(samples.iter().flat_map(|one| one.time.as_secs_lossy().to_le_bytes()));
                Ok(())
            })?;
            self.section(&format!("series/{name}.id"), |bytes| {
                bytes.extend(samples.iter().flat_map(|one| one.id.to_le_bytes()));
                Ok(())
            })?;
            self.section(&format!("series/{name}.queue"), |bytes| {
                bytes.extend(samples.iter().flat_map(|one| one.queue.0.to_le_bytes()));
                Ok(())
            })?;
            self.section(&format!("series/{name}.value"), |bytes| {
                bytes.extend(samples.iter().flat_map(|one| one.value.to_le_bytes()));
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Writes `report.json`, the last section.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(crate) fn finish(mut self, report: &RunReport) -> io::Result<()> {
        self.section("report.json", |bytes| Ok(serde_json::to_writer(bytes, report)?))?;
        self.0.flush()
    }
}
