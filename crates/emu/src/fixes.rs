//! Instructions that fix missing permissions. They depend on the environment (container, WSL, …) in
//! which the process runs.
//!
//! A fix is one clause without a semicolon, because it follows the reason in an error message.

use std::fs;
use std::io;

/// Options of `docker run` that permit an emulation. `systempaths=unconfined` leaves `/proc/sys`
/// writable.
const DOCKER: &str = "docker run --device /dev/net/tun --cap-add NET_ADMIN --cap-add SYS_ADMIN \
                      --security-opt systempaths=unconfined";
/// Options of `podman run` that permit an emulation.
const PODMAN: &str = "podman run --device /dev/net/tun --cap-add NET_ADMIN --cap-add SYS_ADMIN \
                      --security-opt unmask=ALL";

/// Environment in which the process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// A container of Docker.
    Docker,
    /// A container of Podman.
    Podman,
    /// The Windows Subsystem for Linux, version 1: no Linux kernel.
    Wsl1,
    /// The Windows Subsystem for Linux, version 2: Microsoft's kernel in a virtual machine.
    Wsl2,
    /// Everything else.
    Other,
}

impl Environment {
    /// Returns the environment of this process.
    pub fn detect() -> Environment {
        let exists = |path| fs::exists(path).unwrap_or(false);
        let release = setting("kernel/osrelease");
        Environment::of(exists("/.dockerenv"), exists("/run/.containerenv"), &release)
    }

    /// Returns the environment for the given marker files of Docker or Podman and the given kernel
    /// release.
    fn of(docker: bool, podman: bool, release: &str) -> Environment {
        if podman {
            Environment::Podman
        } else if docker {
            Environment::Docker
        } else if release.contains("WSL2") || release.contains("microsoft-standard") {
            Environment::Wsl2
        } else if release.contains("Microsoft") {
            Environment::Wsl1
        } else {
            Environment::Other
        }
    }

    /// Returns the fix that starts a container with the required permissions; `None` outside a
    /// container.
    fn start(self) -> Option<String> {
        let command = match self {
            Environment::Docker => DOCKER,
            Environment::Podman => PODMAN,
            _ => return None,
        };
        Some(format!("start the container with `{command}`"))
    }

    /// Returns the fix for a TUN device that cannot be opened.
    pub fn tun(self, error: &io::Error) -> String {
        let start = self.start();
        match error.raw_os_error() {
            Some(libc::EACCES) if self == Environment::Podman => {
                "run `chmod 0666 /dev/net/tun` as root of the host, or use Podman as root"
                    .to_owned()
            }
            Some(libc::EACCES) => {
                "run `chmod 0666 /dev/net/tun` as root, or run as root".to_owned()
            }
            Some(libc::ENOENT | libc::ENODEV | libc::ENXIO) => match self {
                Environment::Wsl1 => "WSL 1 has no network devices: run `wsl --set-version \
                                      DISTRIBUTION 2` in Windows"
                    .to_owned(),
                Environment::Wsl2 => "run `modprobe tun` as root, if that fails `wsl --update` in \
                                      Windows"
                    .to_owned(),
                _ => match start {
                    Some(start) => format!("{start}, after `modprobe tun` on the host"),
                    None if fs::exists("/proc/modules").unwrap_or(false) => {
                        "run `modprobe tun` as root".to_owned()
                    }
                    None => "this kernel loads no modules: use one with CONFIG_TUN".to_owned(),
                },
            },
            _ => start.unwrap_or_else(|| {
                "allow the device `c 10:200 rwm` if this is a container, or run as root".to_owned()
            }),
        }
    }

    /// Returns the fix for a user namespace, or a network namespace within it, that cannot be
    /// created.
    pub fn user_namespace(self, error: &io::Error) -> String {
        let sysctl = |cause: &str, setting: &str| {
            format!("{cause}: run `sysctl {setting}` as root, or run as root")
        };
        if setting("kernel/apparmor_restrict_unprivileged_userns") == "1" {
            let setting = "kernel.apparmor_restrict_unprivileged_userns=0";
            sysctl("AppArmor restricts them", setting)
        } else if setting("kernel/unprivileged_userns_clone") == "0" {
            sysctl("they are switched off", "kernel.unprivileged_userns_clone=1")
        } else if setting("user/max_user_namespaces") == "0" {
            sysctl("none are allowed", "user.max_user_namespaces=15000")
        } else if error.raw_os_error() == Some(libc::ENOSPC) {
            "there are too many: raise `user.max_user_namespaces`, or run as root".to_owned()
        } else {
            self.start().unwrap_or_else(|| {
                "run as root, or with a seccomp profile that allows `unshare`".to_owned()
            })
        }
    }

    /// Returns the fix for a sysctl that cannot be written.
    pub fn sysctl(self, error: &io::Error) -> String {
        match error.raw_os_error() {
            Some(libc::ENOENT) => "this kernel does not have it".to_owned(),
            Some(libc::EROFS) => self.start().unwrap_or_else(|| {
                "/proc/sys is read-only: run `mount -o remount,rw /proc/sys` as root".to_owned()
            }),
            Some(libc::EACCES | libc::EPERM) => {
                "it cannot be set in a new network namespace".to_owned()
            }
            _ => "the kernel does not accept the value".to_owned(),
        }
    }

    /// Returns the fix if the real-time class with this priority is not permitted. It differs for
    /// root and other users.
    pub fn real_time(self, is_root: bool, priority: u8) -> String {
        let option = match is_root {
            true => "--cap-add SYS_NICE".to_owned(),
            false => format!("--ulimit rtprio={priority}"),
        };
        match self.start() {
            Some(start) => format!("{} {option}`", start.trim_end_matches('`')),
            None if is_root => "get CAP_SYS_NICE".to_owned(),
            None => format!(
                "run as root, or add `USER - rtprio {priority}` to /etc/security/limits.conf and \
                 log in again"
            ),
        }
    }
}

/// Reads a sysctl, such as `kernel/osrelease`; empty if it does not exist.
fn setting(path: &str) -> String {
    fs::read_to_string(format!("/proc/sys/{path}")).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(number: i32) -> io::Error {
        io::Error::from_raw_os_error(number)
    }

    #[test]
    fn markers_and_release_name_the_environment() {
        let of = Environment::of;
        assert_eq!(of(true, false, "6.8.0-45-generic"), Environment::Docker);
        assert_eq!(of(false, true, "6.8.0-45-generic"), Environment::Podman);
        // Docker on WSL counts as Docker.
        assert_eq!(of(true, false, "6.6.87.2-microsoft-standard-WSL2"), Environment::Docker);
        assert_eq!(of(false, false, "6.6.87.2-microsoft-standard-WSL2"), Environment::Wsl2);
        assert_eq!(of(false, false, "4.4.0-17763-Microsoft"), Environment::Wsl1);
        assert_eq!(of(false, false, "6.8.0-45-generic"), Environment::Other);
    }

    #[test]
    fn missing_device_has_the_fix_of_its_environment() {
        let fixes = [
            (
                Environment::Docker,
                "--security-opt systempaths=unconfined`, after `modprobe tun` on",
            ),
            (Environment::Podman, "--security-opt unmask=ALL`, after `modprobe tun` on the host"),
            (Environment::Wsl1, "run `wsl --set-version DISTRIBUTION 2` in Windows"),
            (Environment::Wsl2, "if that fails `wsl --update` in Windows"),
        ];
        for (environment, words) in fixes {
            let fix = environment.tun(&error(libc::ENOENT));
            assert!(fix.contains(words), "{environment:?}: {fix}");
        }
        let denied = error(libc::EACCES);
        assert!(
            Environment::Other.tun(&denied).starts_with("run `chmod 0666 /dev/net/tun` as root,")
        );
        assert!(Environment::Podman.tun(&denied).contains("as root of the host"));
        assert!(Environment::Other.tun(&error(libc::EPERM)).contains("`c 10:200 rwm`"));
    }

    #[test]
    fn fixes_of_a_container_name_the_same_command() {
        for (environment, command) in [(Environment::Docker, DOCKER), (Environment::Podman, PODMAN)]
        {
            for fix in
                [environment.tun(&error(libc::EPERM)), environment.sysctl(&error(libc::EROFS))]
            {
                assert_eq!(fix, format!("start the container with `{command}`"));
            }
            let real_time = environment.real_time(true, 10);
            assert_eq!(
                real_time,
                format!("start the container with `{command} --cap-add SYS_NICE`")
            );
        }
    }

    #[test]
    fn no_fix_has_a_semicolon() {
        use Environment::{Docker, Other, Podman, Wsl1, Wsl2};
        for environment in [Docker, Podman, Wsl1, Wsl2, Other] {
            for number in [libc::ENOENT, libc::EACCES, libc::EPERM, libc::EROFS, libc::ENOSPC] {
                let error = error(number);
                for fix in [
                    environment.tun(&error),
                    environment.user_namespace(&error),
                    environment.sysctl(&error),
                    environment.real_time(number == libc::EPERM, 10),
                ] {
                    assert!(!fix.is_empty() && !fix.contains(';'), "{fix}");
                }
            }
        }
    }
}
