//! Configures TUN devices.

use super::result;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// `TUNSETIFF` of linux/if_tun.h: `_IOW('T', 202, int)`.
const TUNSETIFF: libc::Ioctl = nix::request_code_write!(b'T', 202, size_of::<libc::c_int>()) as _;

/// The request of `TUNSETIFF`: `struct ifreq`, whose union is 24 bytes with 64-bit pointers.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: libc::c_short,
    rest: [u8; 64],
}

/// Configures an opened `/dev/net/tun` as a device for IP packets without an additional header.
/// Returns its name. `name` may contain `%d` for the first free number.
///
/// # Errors
/// Fails if the name is longer than 15 bytes or in use, or if it is not permitted.
pub fn open_tun(file: &File, name: &str) -> io::Result<String> {
    let mut request = Request {
        name: [0; libc::IFNAMSIZ],
        flags: (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short,
        rest: [0; 64],
    };
    if name.len() >= libc::IFNAMSIZ {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    // SAFETY: the kernel reads and writes a `struct ifreq` at the address, which is no larger than
    // `Request` and has the same beginning; it is done with it when the call returns.
    result(unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, &raw mut request) })?;
    let length = request.name.iter().position(|byte| *byte == 0).unwrap_or(request.name.len());
    Ok(String::from_utf8_lossy(&request.name[..length]).into_owned())
}
