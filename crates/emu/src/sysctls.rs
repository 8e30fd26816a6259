//! Reads and writes sysctls of the network namespace of the calling thread.

use std::fs;
use std::io;
use std::path::PathBuf;

/// Returns the path of a sysctl such as `net.ipv4.tcp_sack`.
///
/// # Errors
/// Fails if `name` is not the name of a `net` sysctl.
fn path(name: &str) -> io::Result<PathBuf> {
    let letters = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-%@".contains(&byte))
    };
    if !name.starts_with("net.") || !name.split('.').all(letters) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a sysctl name such as net.ipv4.tcp_sack",
        ));
    }
    Ok(["/proc", "sys"].into_iter().chain(name.split('.')).collect())
}

/// Reads a sysctl; its fields are separated by single spaces.
///
/// # Errors
/// Fails if the sysctl does not exist or cannot be read.
pub fn read(name: &str) -> io::Result<String> {
    fs::read_to_string(path(name)?).map(|text| normal(&text))
}

/// Writes a sysctl and reads it back.
///
/// # Errors
/// Fails if the sysctl does not exist or cannot be written, or if the kernel stores a different
/// value.
pub fn write(name: &str, value: &str) -> io::Result<String> {
    fs::write(path(name)?, value)?;
    let found = read(name)?;
    if found == normal(value) {
        Ok(found)
    } else {
        let message = format!("set to {:?}, it reads {found:?}", normal(value));
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    }
}

fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn names_outside_the_net_sysctls_are_rejected() {
    for name in ["kernel.panic", "net..ipv4", "net.ipv4.../x", "net.ipv4.a/b", "net", ""] {
        assert_eq!(path(name).expect_err(name).kind(), io::ErrorKind::InvalidInput, "{name}");
    }
    let path = path("net.ipv4.tcp_sack").expect("a name");
    assert_eq!(path, PathBuf::from("/proc/sys/net/ipv4/tcp_sack"));
    assert_eq!(normal("4096\t16384\t33554432\n"), "4096 16384 33554432");
}
