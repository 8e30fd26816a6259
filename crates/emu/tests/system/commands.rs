//! Tests of the commands of a run and their privileges.

use crate::support::{Test, become_unprivileged, carry, description, needs_root, now, sides, skip};
use airpath_emu::description::Traffic;
use airpath_emu::launcher::{Launcher, LauncherEvent};
use airpath_emu::namespaces::Sides;
use airpath_emu::packet_io::Side;
use airpath_emu::sys;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgrp, setsid, tcgetpgrp};
use serde_json::json;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const TESTS: &[Test] = &[
    ("exit_statuses_are_those_of_a_shell", exit_statuses_are_those_of_a_shell),
    ("failed_start_is_reported", failed_start_is_reported),
    ("commands_have_no_capability", commands_have_no_capability),
    ("commands_have_no_capability_without_root", commands_have_no_capability_without_root),
    (
        "a_file_with_capabilities_is_executed_without_them",
        a_file_with_capabilities_is_executed_without_them,
    ),
    ("commands_keep_privileges_if_configured", commands_keep_privileges_if_configured),
    (
        "commands_have_environment_variables_of_the_run",
        commands_have_environment_variables_of_the_run,
    ),
    ("commands_of_both_sides_communicate", commands_of_both_sides_communicate),
    ("commands_have_no_other_descriptors", commands_have_no_other_descriptors),
    ("command_that_ignores_sigterm_is_killed", command_that_ignores_sigterm_is_killed),
    (
        "command_that_exits_on_sigterm_ends_the_grace_period",
        command_that_exits_on_sigterm_ends_the_grace_period,
    ),
    ("a_killed_run_leaves_no_process", a_killed_run_leaves_no_process),
    (
        "interactive_shell_uses_the_terminal_and_returns_it",
        interactive_shell_uses_the_terminal_and_returns_it,
    ),
    ("a_run_within_a_run_starts_commands", a_run_within_a_run_starts_commands),
];

/// A temporary file for the output of a command.
struct OutputFile(PathBuf);

impl OutputFile {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("airpath-emu-test-{}", Pid::this()));
        fs::write(&path, "").expect("a file");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).expect("permissions");
        Self(path)
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.0).expect("text")
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn launch(sides: &Sides, client: &[&str], server: Option<&[&str]>, keep: bool) -> Launcher {
    let traffic = json!({"kind": "commands", "client": client, "server": server});
    let traffic: Traffic = serde_json::from_value(traffic).expect("traffic");
    Launcher::fork(sides, &traffic, keep).expect("a launcher")
}

fn wait(launcher: &mut Launcher) -> LauncherEvent {
    loop {
        if let Some(event) = launcher.poll() {
            return event;
        }
        let mut wanted = [PollFd::new(launcher.fd(), PollFlags::POLLIN)];
        assert_eq!(poll(&mut wanted, PollTimeout::NONE), Ok(1), "no event");
    }
}

/// Runs a command of the client. Returns its status, and the reason if it could not be started.
fn run(sides: &Sides, client: &[&str], keep: bool) -> (i32, Option<String>) {
    let mut launcher = launch(sides, client, None, keep);
    assert_eq!(launcher.poll(), None, "nothing is started before");
    launcher.start(Side::Client).expect("start");
    let outcome = match wait(&mut launcher) {
        LauncherEvent::Ended { side: Side::Client, status } => (status, None),
        LauncherEvent::Failed { side: Side::Client, message, status } => (status, Some(message)),
        other => panic!("{other:?}"),
    };
    assert_eq!(launcher.end(airpath_core::Duration::from_millis(1000)), []);
    outcome
}

/// Returns the output of a shell command.
fn output_of(sides: &Sides, command: &str, keep: bool) -> String {
    let output = OutputFile::new();
    let command = format!("exec > {}; {command}", output.0.display());
    assert_eq!(run(sides, &["sh", "-c", &command], keep), (0, None));
    output.text()
}

fn exit_statuses_are_those_of_a_shell() {
    needs_root();
    let sides = sides(json!({}));
    for (command, status) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143)] {
        assert_eq!(run(&sides, &["sh", "-c", command], false), (status, None), "{command}");
    }
}

fn failed_start_is_reported() {
    needs_root();
    let sides = sides(json!({}));
    let outcome = run(&sides, &["no-such-program"], false);
    let words = "no-such-program: not found, or the program that it is to be run by is not";
    assert_eq!(outcome, (127, Some(words.to_owned())));
    let outcome = run(&sides, &["/etc/passwd", "x"], false);
    assert_eq!(outcome, (126, Some("/etc/passwd: not executable, or a directory".to_owned())));
    let flows = description(json!({})).traffic;
    let error = Launcher::fork(&sides, &flows, false).expect_err("not commands");
    assert_eq!(error.what, "command");
}

/// Returns the lines of /proc/self/status of a command, by name.
fn status(sides: &Sides, keep: bool) -> impl Fn(&str) -> String + use<> {
    let output = output_of(sides, "cat /proc/self/status", keep);
    move |name| {
        let line = output.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
        line.unwrap_or_else(|| panic!("{name} in {output}")).to_owned()
    }
}

fn check_that_there_is_no_capability(sides: &Sides) {
    let of = status(sides, false);
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(of(set), "0000000000000000", "{set}");
    }
    assert_eq!(of("NoNewPrivs"), "1");
    let socket = "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)";
    let output = output_of(sides, &format!("python3 -c '{socket}' 2>&1 || :"), false);
    assert!(output.contains("PermissionError"), "{output}");
}

fn commands_have_no_capability() {
    needs_root();
    sys::set_fifo(1).expect("the real-time class");
    let sides = sides(json!({}));
    check_that_there_is_no_capability(&sides);
    // The 41st field is the scheduling class; 0 is the normal class.
    let stat = output_of(&sides, "cat /proc/self/stat", false);
    assert_eq!(stat.split(' ').nth(40), Some("0"));
    assert_eq!(sys::class(), sys::Class::Fifo);
}

fn commands_have_no_capability_without_root() {
    needs_root();
    become_unprivileged();
    let sides = sides(json!({}));
    check_that_there_is_no_capability(&sides);
    assert_eq!(output_of(&sides, "id -u", false), "65534\n");
}

fn a_file_with_capabilities_is_executed_without_them() {
    needs_root();
    // `ping` often has file capabilities: without them in the bounding set, its execution would
    // fail.
    let program = OutputFile::new();
    let path = program.0.display().to_string();
    fs::copy("/bin/true", &program.0).expect("a copy");
    fs::set_permissions(&program.0, PermissionsExt::from_mode(0o755)).expect("permissions");
    let give = "import os, struct, sys; os.setxattr(sys.argv[1], 'security.capability', \
                struct.pack('<5I', 0x02000001, 1 << 13, 0, 0, 0))";
    let given = std::process::Command::new("python3").args(["-c", give, &path]).status();
    if !given.is_ok_and(|status| status.success()) {
        skip("files here have no capabilities");
    }
    assert_eq!(run(&sides(json!({})), &[&path], false), (0, None));
}

fn commands_keep_privileges_if_configured() {
    needs_root();
    let own = format!("{:016x}", sys::capabilities().expect("capabilities").effective);
    let of = status(&sides(json!({})), true);
    assert_eq!((of("CapEff"), of("NoNewPrivs")), (own, "0".to_owned()));
    become_unprivileged();
    let sides = sides(json!({}));
    let of = status(&sides, true);
    let effective = u64::from_str_radix(&of("CapEff"), 16).expect("a number");
    assert_ne!(effective & 1 << sys::CAP_NET_ADMIN, 0);
}

fn commands_have_environment_variables_of_the_run() {
    needs_root();
    let sides = Sides::open(&description(json!({"level": 3})), &[258]).expect("sides");
    let output = output_of(&sides, "echo $AIRPATH_SERVER $AIRPATH_CLIENT $AIRPATH_LEVEL $$", false);
    let (known, process) = output.trim().rsplit_once(' ').expect("words");
    assert_eq!(known, "100.70.0.1 100.71.1.2 4");
    assert_eq!(process, "2", "in a separate PID namespace");
    // Two processes: the first process of the namespace, and the shell.
    assert_eq!(
        output_of(&sides, "set -- /proc/[0-9]*; echo $#", false),
        "2\n",
        "with its own /proc"
    );
}

fn commands_of_both_sides_communicate() {
    needs_root();
    let sides = sides(json!({}));
    let output = OutputFile::new();
    let server = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); \
                  s.bind(('100.64.0.1', 4000)); d, a = s.recvfrom(99); s.sendto(d.upper(), a)";
    let client = "import os, socket, sys; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); \
                  s.sendto(b'question', (os.environ['AIRPATH_SERVER'], 4000)); \
                  open(sys.argv[1], 'wb').write(s.recv(99))";
    let path = output.0.display().to_string();
    let client = ["python3", "-c", client, &path];
    let mut launcher = launch(&sides, &client, Some(&["python3", "-c", server]), false);
    launcher.start(Side::Server).expect("start");
    // The client starts when the server listens.
    let listens = || {
        let table = sides.within(Side::Server, || fs::read_to_string("/proc/thread-self/net/udp"));
        table.expect("there").expect("a table").contains(":0FA0")
    };
    while !listens() {
        std::thread::yield_now();
    }
    launcher.start(Side::Client).expect("start");
    assert_eq!(&carry(&sides, Side::Client)[28..], b"question");
    assert_eq!(&carry(&sides, Side::Server)[28..], b"QUESTION");
    let mut ended = [wait(&mut launcher), wait(&mut launcher)];
    ended.sort_by_key(|event| matches!(event, LauncherEvent::Ended { side: Side::Client, .. }));
    for (side, event) in Side::BOTH.into_iter().zip(ended) {
        assert_eq!(event, LauncherEvent::Ended { side, status: 0 });
    }
    assert_eq!(output.text(), "QUESTION");
}

fn commands_have_no_other_descriptors() {
    needs_root();
    let sides = sides(json!({}));
    // 3 is the listed directory itself.
    assert_eq!(output_of(&sides, "echo $(ls /proc/self/fd)", false), "0 1 2 3\n");
}

/// Ends a run whose client runs the commands `client` and continues. Returns the duration of the
/// end, and the events.
fn end_of(client: &str, grace: Duration) -> (Duration, Vec<LauncherEvent>) {
    let sides = sides(json!({}));
    let output = OutputFile::new();
    let client =
        format!("{client}; echo ready > {}; while :; do sleep 0.1; done", output.0.display());
    let mut launcher = launch(&sides, &["bash", "-c", &client], None, false);
    launcher.start(Side::Client).expect("start");
    while output.text().is_empty() {
        std::thread::yield_now();
    }
    let start = now();
    let outcome = launcher.end(airpath_core::Duration::from_millis(grace.as_millis() as u64));
    (now().saturating_sub(start), outcome)
}

fn command_that_ignores_sigterm_is_killed() {
    needs_root();
    // This client never ends without SIGKILL.
    let (took, _) = end_of("trap '' TERM HUP", Duration::from_millis(300));
    assert!(took >= Duration::from_millis(299), "{took:?}");
}

fn command_that_exits_on_sigterm_ends_the_grace_period() {
    needs_root();
    let (_, outcome) = end_of("trap 'exit 9' TERM", Duration::from_secs(3600));
    assert_eq!(outcome, [LauncherEvent::Ended { side: Side::Client, status: 9 }]);
}

/// Returns the number of processes whose arguments contain a word.
fn processes_with(word: &str) -> usize {
    let all = fs::read_dir("/proc").expect("processes").flatten();
    let lines = all.filter_map(|one| fs::read(one.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(word)).count()
}

fn a_killed_run_leaves_no_process() {
    needs_root();
    // A sleep duration that no other test uses.
    let length = format!("1234.{}", Pid::this());
    let output = OutputFile::new();
    let script = format!(
        "setsid sleep {length} & (trap '' TERM HUP INT; sleep {length}) & echo ready > {}; sleep \
         {length}",
        output.0.display()
    );
    let run = sys::fork(&[], || {
        let sides = sides(json!({}));
        let server = ["sleep", &length];
        let launcher = launch(&sides, &["sh", "-c", &script], Some(&server), false);
        launcher.start(Side::Server).expect("start");
        launcher.start(Side::Client).expect("start");
        loop {
            nix::unistd::pause();
        }
    })
    .expect("a copy");
    while output.text().is_empty() || processes_with(&length) < 4 {
        std::thread::yield_now();
    }
    kill(run, Signal::SIGKILL).expect("kill");
    nix::sys::wait::waitpid(run, None).expect("its end");
    while processes_with(&length) > 0 {
        std::thread::yield_now();
    }
}

fn interactive_shell_uses_the_terminal_and_returns_it() {
    needs_root();
    use nix::fcntl::OFlag;
    use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
    let mut master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY).expect("a terminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    let name = ptsname_r(&master).expect("its name");
    let user = sys::fork(&[], || {
        setsid().expect("a session");
        // The first terminal that a session opens becomes its controlling terminal.
        let terminal = File::options().read(true).write(true).open(&name).expect("open");
        nix::unistd::dup2_stdin(&terminal).expect("stdin");
        nix::unistd::dup2_stdout(&terminal).expect("stdout");
        nix::unistd::dup2_stderr(&terminal).expect("stderr");
        let sides = sides(json!({}));
        let shell = ["bash", "--norc", "--noprofile", "-i"];
        let mut launcher = launch(&sides, &shell, None, false);
        launcher.start(Side::Client).expect("start");
        let LauncherEvent::Ended { status, .. } = wait(&mut launcher) else { return 1 };
        launcher.end(airpath_core::Duration::from_millis(1000));
        let back = tcgetpgrp(&terminal) == Ok(getpgrp());
        if back { status } else { 2 }
    })
    .expect("a copy");
    let mut output = String::new();
    let mut until = |words: &str, master: &mut nix::pty::PtyMaster| {
        while !output.contains(words) {
            let mut buffer = [0; 4096];
            let length = master.read(&mut buffer).unwrap_or_else(|_| panic!("ended: {output}"));
            output.push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
        output.clear();
    };
    master.write_all(b"echo $((40+2)); sleep 1000; echo af''ter $?\n").expect("write");
    until("42", &mut master);
    // Ctrl-C ends the sleep and not the shell.
    let sleeps = || processes_with("sleep\u{0}1000") > 0;
    while !sleeps() {
        std::thread::yield_now();
    }
    master.write_all(b"\x03").expect("write");
    master.write_all(b"set -m; echo job''s $-; exit 5\n").expect("write");
    until("jobs", &mut master);
    let drained = std::thread::spawn(move || while master.read(&mut [0; 4096]).is_ok() {});
    let ended = nix::sys::wait::waitpid(user, None).expect("its end");
    assert_eq!(ended, nix::sys::wait::WaitStatus::Exited(user, 5));
    drained.join().expect("drained");
}

fn a_run_within_a_run_starts_commands() {
    needs_root();
    let outer = sides(json!({}));
    let within = |keep: bool, inner: serde_json::Value, command: &str| {
        let output = OutputFile::new();
        let program = std::env::current_exe().expect("this program");
        let inner = inner.to_string();
        let path = output.0.display().to_string();
        let words =
            [program.to_str().expect("text"), "--inner", &inner, &format!("{command} > {path}")];
        let (status, message) = run(&outer, &words, keep);
        assert_eq!((status, message), (0, None), "{}", output.text());
        output.text()
    };
    // Without privileges, and with the privileges that the current namespace requires.
    assert_eq!(within(false, json!({"level": 1}), "echo $AIRPATH_LEVEL"), "2\n");
    let inner = json!({"level": 1, "host_network": true});
    assert_eq!(within(true, inner, "cat /proc/net/route | grep -c emu0"), "2\n");
}

/// Runs a nested run with one shell command.
pub(crate) fn inner(changes: &str, command: &str) {
    let sides = sides(serde_json::from_str(changes).expect("changes"));
    let (status, message) = run(&sides, &["sh", "-c", command], false);
    eprintln!("{status} {message:?}");
    std::process::exit(status);
}
