//! Checks whether this machine can run an emulation. The checks run in copies of the process, so
//! that they leave no state behind.

use crate::fixes::Environment;
use crate::idle::keep_awake;
use crate::namespaces::{self, SetupError};
use crate::privileges;
use crate::sys;
use crate::sysctls;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sched::{CloneFlags, unshare};
use nix::sys::mman::{MlockAllFlags, mlockall};
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::time::TimeSpec;
use nix::sys::timer::Expiration;
use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::sys::wait::waitpid;
use nix::time::{ClockId as Clock, clock_gettime};
use nix::unistd::{pipe2, write};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::Duration;

/// Congestion control algorithms of the kernel that scenarios can use.
const WANTED: [&str; 13] = [
    "reno", "cubic", "bbr", "dctcp", "westwood", "hybla", "scalable", "htcp", "bic", "vegas",
    "veno", "illinois", "yeah",
];
/// Interval of the measured timers; `TIMERS` intervals take two seconds.
const PERIOD: Duration = Duration::from_millis(1);
const TIMERS: u32 = 2000;
/// Largest acceptable 99th percentile of the lateness, s. It is 5 % of a base RTT of 20 ms.
const GOOD_P99_S: f64 = 1e-3;
/// Real-time priority that the check tries to set; the same as in a run.
const PRIORITY: u8 = 10;

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Name of the check.
    pub name: String,
    /// True if the capability is available and sufficient.
    pub ok: bool,
    /// Result of the check.
    pub found: String,
    /// Instruction that fixes the problem; absent if `ok` is true.
    pub fix: Option<String>,
}

/// Lateness of timers, s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimerLateness {
    /// Median of the lateness, s.
    pub p50_s: f64,
    /// 99th percentile of the lateness, s.
    pub p99_s: f64,
    /// Maximum lateness, s.
    pub max_s: f64,
}

/// Results of all checks of this machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// True if emulation is possible.
    pub ok: bool,
    /// Scheduling class of a run: `fifo` or `other`.
    pub class: String,
    /// Lateness of timers in this scheduling class; absent if it could not be measured.
    pub lateness: Option<TimerLateness>,
    /// Results of all checks.
    pub checks: Vec<Probe>,
}

impl Probe {
    fn good(name: &str, found: impl Into<String>) -> Self {
        Self { name: name.to_owned(), ok: true, found: found.into(), fix: None }
    }

    fn bad(name: &str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        let fix = Some(fix.into());
        Self { name: name.to_owned(), ok: false, found: found.into(), fix }
    }

    /// Converts the result of a check. An error message ends with a semicolon and the fix.
    fn of(name: &str, tried: Result<String, SetupError>) -> Self {
        match tried {
            Ok(found) => Self::good(name, found),
            Err(error) => match error.message.rsplit_once("; ") {
                Some((found, fix)) => Self::bad(name, found, fix),
                None => Self::bad(name, &error.message, "run as root"),
            },
        }
    }
}

/// Runs all checks, which takes about two seconds. The process must have one thread.
pub fn check() -> Report {
    let mut checks = vec![Probe::good("kernel", release())];
    let needed = in_a_copy(check_requirements).unwrap_or_else(|error| {
        vec![Probe::bad("processes", format!("cannot be copied: {error}"), "raise `ulimit -u`")]
    });
    let ok = needed.iter().all(|probe| probe.ok);
    checks.extend(needed);
    checks.extend(congestion_controls());
    let measured = in_a_copy(timers).ok();
    let class = measured.as_ref().map_or("other", |measured| &measured.class).to_owned();
    let lateness = measured.as_ref().and_then(|measured| measured.lateness);
    checks.extend(measured.into_iter().flat_map(|measured| measured.checks));
    Report { ok, class, lateness, checks }
}

fn release() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    text.trim().to_owned()
}

/// Runs `body` in a copy of the process, and returns its result.
fn in_a_copy<T: Serialize + DeserializeOwned>(body: impl FnOnce() -> T) -> io::Result<T> {
    let (reading, writing) = pipe2(OFlag::O_CLOEXEC)?;
    let pid = sys::fork(&[writing.as_fd()], || {
        let Ok(text) = serde_json::to_vec(&body()) else { return 1 };
        let mut rest = &text[..];
        while let Ok(written @ 1..) = write(writing.as_fd(), rest) {
            rest = &rest[written..];
        }
        0
    })?;
    drop(writing);
    let mut text = Vec::new();
    File::from(reading).read_to_end(&mut text)?;
    while waitpid(pid, None) == Err(Errno::EINTR) {}
    Ok(serde_json::from_slice(&text)?)
}

/// Checks the requirements of a run in the order in which a run depends on them.
fn check_requirements() -> Vec<Probe> {
    type Try = fn() -> Result<String, SetupError>;
    let steps: [(&str, Try); 5] = [
        ("privileges", try_privileges),
        ("network namespaces", || namespaces::new_network().map(|()| "can be made".to_owned())),
        ("kernel settings", try_settings),
        ("devices", try_device),
        ("PID namespaces", try_processes),
    ];
    let mut probes: Vec<Probe> = Vec::new();
    for (name, step) in steps {
        let before = probes.iter().find(|probe| !probe.ok).map(|probe| probe.name.clone());
        probes.push(match before {
            // Only missing privileges or namespaces stop the checks; the other checks do not depend
            // on each other.
            Some(before) if before == "privileges" || before == "network namespaces" => {
                Probe::bad(name, "not tried", format!("first {before}"))
            }
            _ => Probe::of(name, step()),
        });
    }
    probes
}

fn try_privileges() -> Result<String, SetupError> {
    if privileges::is_privileged() {
        return Ok("CAP_NET_ADMIN and CAP_SYS_ADMIN".to_owned());
    }
    privileges::enter_user_namespace()?;
    Ok("none, but user namespaces".to_owned())
}

fn try_settings() -> Result<String, SetupError> {
    let (name, value) = ("net.ipv4.tcp_sack", "0");
    sysctls::write(name, value)
        .map_err(|error| namespaces::sysctl_refused(name, value, &error))
        .map(|_| "can be written".to_owned())
}

fn try_device() -> Result<String, SetupError> {
    let (_, no_tun) = namespaces::open_device(false)?;
    Ok(match no_tun {
        None => "TUN can be opened".to_owned(),
        Some(refused) => format!("pairs of veth devices: {}", refused.reason),
    })
}

fn try_processes() -> Result<String, SetupError> {
    let flags = CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS;
    unshare(flags).map(|()| "can be made".to_owned()).map_err(|error| {
        let fix = "raise `user.max_pid_namespaces` and `user.max_mnt_namespaces`";
        SetupError::new("namespace", format!("cannot make a PID namespace: {error}; {fix}"))
    })
}

/// Checks which congestion control algorithms are available.
fn congestion_controls() -> Vec<Probe> {
    let text = sysctls::read("net.ipv4.tcp_available_congestion_control").unwrap_or_default();
    let there: BTreeSet<&str> = text.split_whitespace().collect();
    let has_modules = fs::exists("/proc/modules").unwrap_or(false);
    let others = there.iter().copied().filter(|name| !WANTED.contains(name));
    WANTED
        .into_iter()
        .chain(others)
        .map(|name| {
            if there.contains(name) {
                return Probe::good(name, "available");
            }
            let option = name.to_uppercase();
            let fix = if has_modules {
                format!("run `modprobe tcp_{name}` as root")
            } else {
                format!("this kernel loads no modules: use one with CONFIG_TCP_CONG_{option}")
            };
            Probe::bad(name, "absent", fix)
        })
        .collect()
}

/// Results of the checks of timers.
#[derive(Serialize, Deserialize)]
struct TimerChecks {
    class: String,
    lateness: Option<TimerLateness>,
    checks: Vec<Probe>,
}

fn timers() -> TimerChecks {
    let awake = keep_awake();
    let mut checks = vec![real_time_class(), locked_memory(), idle_states(&awake)];
    let class = sys::class().name().to_owned();
    let lateness = lateness();
    checks.push(match &lateness {
        Ok(lateness) => judged(lateness),
        Err(error) => Probe::bad("timer lateness", error.to_string(), "use a kernel with timerfd"),
    });
    TimerChecks { class, lateness: lateness.ok(), checks }
}

fn judged(lateness: &TimerLateness) -> Probe {
    let [p50, p99, max] = [lateness.p50_s, lateness.p99_s, lateness.max_s].map(words);
    let class = sys::class();
    let found =
        format!("p50 {p50}, p99 {p99}, max {max} ({TIMERS} timers, class {})", class.name());
    if lateness.p99_s <= GOOD_P99_S {
        return Probe::good("timer lateness", found);
    }
    let fix = match class {
        sys::Class::Fifo => "stop other programs; give a virtual machine dedicated cores",
        sys::Class::Other => "enable the real-time class, or stop other programs",
    };
    Probe::bad("timer lateness", found, fix)
}

fn real_time_class() -> Probe {
    let name = "real-time class";
    let Err(error) = sys::set_fifo(PRIORITY) else { return Probe::good(name, "fifo") };
    let limit = getrlimit(Resource::RLIMIT_RTPRIO).map_or(0, |(soft, _)| soft);
    let found = format!("other: fifo is refused ({error}), RLIMIT_RTPRIO is {limit}");
    let is_root = nix::unistd::getuid().is_root();
    Probe::bad(name, found, Environment::detect().real_time(is_root, PRIORITY))
}

fn locked_memory() -> Probe {
    let name = "locked memory";
    match mlockall(MlockAllFlags::MCL_CURRENT) {
        Ok(()) => Probe::good(name, "can be locked"),
        Err(error) => {
            let limit = getrlimit(Resource::RLIMIT_MEMLOCK).map_or(0, |(soft, _)| soft);
            let found = format!("refused ({error}), RLIMIT_MEMLOCK is {limit} bytes");
            Probe::bad(
                name,
                found,
                "raise `ulimit -l`, or run as root; without it a page that \
                                     was swapped out delays packets",
            )
        }
    }
}

fn idle_states(awake: &io::Result<File>) -> Probe {
    let name = "idle states";
    match awake {
        Ok(_) => Probe::good(name, "can be switched off"),
        Err(error) => {
            let found = format!("stay on: cannot open /dev/cpu_dma_latency: {error}");
            let fix = "run as root (without it a thread wakes up later on an idle machine)";
            Probe::bad(name, found, fix)
        }
    }
}

/// Formats a short time with a suitable unit.
fn words(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

/// Measures the lateness of timers, one every [`PERIOD`], which wait like the data thread of a run.
fn lateness() -> nix::Result<TimerLateness> {
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?;
    let now = || clock_gettime(Clock::CLOCK_MONOTONIC).map(Duration::from);
    let start = now()? + PERIOD;
    let mut late = Vec::with_capacity(TIMERS as usize);
    for number in 0..TIMERS {
        // The times of all timers are fixed at the start, so that a late timer does not delay the
        // next timer.
        let at = start + PERIOD * number;
        let expiration = Expiration::OneShot(TimeSpec::from_duration(at));
        timer.set(expiration, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
        timer.wait()?;
        late.push(now()?.saturating_sub(at).as_secs_f64());
    }
    late.sort_by(f64::total_cmp);
    let percentile = |share: f64| late[((late.len() - 1) as f64 * share).round() as usize];
    Ok(TimerLateness { p50_s: percentile(0.5), p99_s: percentile(0.99), max_s: percentile(1.0) })
}
