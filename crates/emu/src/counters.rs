//! Reads the kernel's counters in a network namespace.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Open files with the counters of a network namespace. They can be read from any other namespace.
#[derive(Debug)]
pub(crate) struct Counters {
    devices: File,
    netstat: File,
    snmp: File,
}

impl Counters {
    /// Opens the files of the calling thread's namespace.
    pub(crate) fn open() -> io::Result<Self> {
        let open = |name: &str| File::open(format!("/proc/thread-self/net/{name}"));
        Ok(Self { devices: open("dev")?, netstat: open("netstat")?, snmp: open("snmp")? })
    }

    /// Returns the number of outgoing packets that a device has dropped.
    pub(crate) fn transmit_drops(&self, device: &str) -> io::Result<u64> {
        transmit_drops(&text(&self.devices)?, device)
            .ok_or_else(|| io::Error::other(format!("the device {device} does not exist")))
    }

    /// Returns all counters of `/proc/net/netstat`, and the TCP counters of `/proc/net/snmp`.
    pub(crate) fn tcp(&self) -> io::Result<BTreeMap<String, u64>> {
        let mut counters = BTreeMap::new();
        add_table(&mut counters, &text(&self.netstat)?, |_| true);
        add_table(&mut counters, &text(&self.snmp)?, |group| group == "Tcp");
        Ok(counters)
    }
}

/// Reads a complete file from its start.
fn text(file: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut part = [0; 8192];
    loop {
        match file.read_at(&mut part, bytes.len() as u64)? {
            0 => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            read => bytes.extend_from_slice(&part[..read]),
        }
    }
}

/// Returns the number of dropped outgoing packets, the twelfth number after the device name.
fn transmit_drops(table: &str, device: &str) -> Option<u64> {
    table.lines().find_map(|line| {
        let (name, numbers) = line.split_once(':')?;
        (name.trim() == device).then(|| numbers.split_whitespace().nth(11)?.parse().ok())?
    })
}

/// Adds the counters of a table. The table consists of pairs of lines; the first line of a pair
/// contains names, the second line the values. Both start with the name of a group.
fn add_table(into: &mut BTreeMap<String, u64>, table: &str, wanted: impl Fn(&str) -> bool) {
    let lines: Vec<&str> = table.lines().collect();
    for pair in lines.chunks_exact(2) {
        let (Some((group, names)), Some((_, numbers))) =
            (pair[0].split_once(':'), pair[1].split_once(':'))
        else {
            continue;
        };
        if wanted(group) {
            let numbers = numbers.split_whitespace();
            for (name, number) in names.split_whitespace().zip(numbers) {
                // Limits, which are not counters, can be −1.
                if let Ok(number) = number.parse() {
                    into.insert(format!("{group}.{name}"), number);
                }
            }
        }
    }
}

#[test]
fn tables_are_read_by_names() {
    let table = "Tcp: MaxConn ActiveOpens\nTcp: -1 5\nUdp: InDatagrams\nUdp: 7\n";
    let mut counters = BTreeMap::new();
    add_table(&mut counters, table, |group| group == "Tcp");
    assert_eq!(counters, BTreeMap::from([("Tcp.ActiveOpens".to_owned(), 5)]));
    let devices = " face |bytes\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  emu0: 0 0 0 0 \
                   0 0 0 0 0 0 0 99 0 0 0 0\n";
    assert_eq!(transmit_drops(devices, "emu0"), Some(99));
    assert_eq!(transmit_drops(devices, "lo"), Some(12));
    assert_eq!(transmit_drops(devices, "emu1"), None);
}
