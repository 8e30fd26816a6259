//! The files of results, each of which is whole or not there.

use crate::report::RunReport;
use airpath_core::{Recorder, Series};
use airpath_path::Scenario;
use airpath_tcp::{SS_COLUMNS, SsSample};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file by way of another name.
fn whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let unfinished = path.with_extension("unfinished");
    let mut file = BufWriter::new(File::create(&unfinished)?);
    write(&mut file)?;
    file.flush()?;
    fs::rename(&unfinished, path)
}

/// `report.json`.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write_report(folder: &Path, report: &RunReport) -> io::Result<()> {
    whole(&folder.join("report.json"), |file| Ok(serde_json::to_writer(file, report)?))
}

/// `ss/COLUMN`: the senders' state over time, when the scenario asks for it.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write_ss(folder: &Path, scenario: &Scenario, samples: &[SsSample]) -> io::Result<()> {
    if !scenario.record.ss {
        return Ok(());
    }
    let folder = folder.join("ss");
    fs::create_dir_all(&folder)?;
    for column in &SS_COLUMNS {
        whole(&folder.join(column.name), |mut file| column.write(samples, &mut file))?;
    }
    Ok(())
}

/// `series/NAME.COLUMN`: the recorded series, little-endian: times and values as doubles, numbers of
/// flows or parts and of queues as 32 bits.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write_series(
    folder: &Path,
    recorder: &Recorder,
    series: &[Series],
) -> io::Result<()> {
    let folder = folder.join("series");
    for wanted in series {
        fs::create_dir_all(&folder)?;
        let (_, name) = Series::ALL[*wanted as usize];
        let samples = recorder.samples(*wanted);
        let column = |what: &str, write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
            whole(&folder.join(format!("{name}.{what}")), |file| write(file))
        };
        column("time_s", &|file| {
            let times = samples.iter().map(|sample| sample.time.as_secs_lossy().to_le_bytes());
            times.into_iter().try_for_each(|bytes| file.write_all(&bytes))
        })?;
        column("id", &|file| {
            samples.iter().try_for_each(|sample| file.write_all(&sample.id.to_le_bytes()))
        })?;
        column("queue", &|file| {
            samples.iter().try_for_each(|sample| file.write_all(&sample.queue.0.to_le_bytes()))
        })?;
        column("value", &|file| {
            samples.iter().try_for_each(|sample| file.write_all(&sample.value.to_le_bytes()))
        })?;
    }
    Ok(())
}
