//! Implements [`PacketIo`] with the kernel: two devices, a clock and a timer, polled with one
//! `epoll` instance.

use crate::device::Device;
use crate::packet_io::{PacketIo, Ready, Side};
use airpath_core::{Duration, Time};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timer::Expiration;
use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{ClockId as Clock, clock_gettime};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Identifiers of `epoll` events other than those of the devices, whose identifiers are the side
/// numbers.
const TIMER: u64 = 2;
const OTHER: u64 = 3;

/// Time before the due time at which the timer expires. The thread then polls the clock until the
/// due time, because kernel timers are about 45 µs late, and this delay would occur in both
/// directions of each round trip.
const SPIN: Duration = Duration::from_nanos(60_000);
/// Minimum length of a wait that ends with polling the clock. The thread therefore polls for at
/// most a third of the time. If a real-time thread never sleeps, the kernel stops it for 50 ms in
/// each second.
const LONG_WAIT: Duration = Duration::from_nanos(180_000);

/// Returns the time of the monotonic clock, ns.
pub fn monotonic_ns() -> u64 {
    nanos(Clock::CLOCK_MONOTONIC)
}

/// Returns the time since 1970, ns.
pub fn realtime_ns() -> u64 {
    nanos(Clock::CLOCK_REALTIME)
}

/// Returns the CPU time of the calling thread, ns.
pub fn thread_cpu_ns() -> u64 {
    nanos(Clock::CLOCK_THREAD_CPUTIME_ID)
}

fn nanos(clock: Clock) -> u64 {
    let time = clock_gettime(clock).expect("every Linux has this clock");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Two devices, a clock and a timer.
pub struct Devices {
    devices: [Device; 2],
    timer: TimerFd,
    epoll: Epoll,
    /// Time of the monotonic clock at the scenario's time zero, ns.
    zero_ns: u64,
    /// Time of the monotonic clock at which the timer expires, ns; 0 if the timer has expired.
    armed_ns: u64,
}

impl Devices {
    /// Creates the I/O for non-blocking devices, in the order of [`Side`], and for other
    /// descriptors that are polled for reading. The scenario's time zero is at `zero_ns` of the
    /// monotonic clock; before this time, [`PacketIo::now`] returns 0.
    ///
    /// # Errors
    /// Fails if the system has no more file descriptors.
    pub fn new(
        devices: [Device; 2],
        others: &[BorrowedFd<'_>],
        zero_ns: u64,
    ) -> io::Result<Devices> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        for (number, device) in (0..).zip(&devices) {
            epoll.add(device, EpollEvent::new(EpollFlags::EPOLLIN, number))?;
        }
        // Edge-triggered: one event per expiry, without a read.
        let once = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        epoll.add(timer.as_fd(), EpollEvent::new(once, TIMER))?;
        for other in others {
            epoll.add(other, EpollEvent::new(EpollFlags::EPOLLIN, OTHER))?;
        }
        Ok(Devices { devices, timer, epoll, zero_ns, armed_ns: 0 })
    }

    /// Stops polling `other`.
    pub fn forget(&self, other: BorrowedFd<'_>) {
        // A descriptor that is already removed is not an error.
        let _ = self.epoll.delete(other);
    }

    /// Sets the timer to expire `spin` before `until`.
    fn set_timer(&mut self, until: Time, spin: Duration) -> io::Result<()> {
        let at = self.zero_ns.saturating_add(until.as_nanos()).saturating_sub(spin.as_nanos());
        if self.armed_ns == at {
            return Ok(());
        }
        self.armed_ns = at;
        let at = std::time::Duration::from_nanos(at);
        let at = Expiration::OneShot(TimeSpec::from_duration(at));
        Ok(self.timer.set(at, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?)
    }
}

impl PacketIo for Devices {
    #[inline]
    fn now(&mut self) -> Time {
        Time::from_nanos(monotonic_ns().saturating_sub(self.zero_ns))
    }

    fn read(&mut self, side: Side, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.devices[side as usize].read(buffer) {
                Ok(length) => return Ok(Some(length)),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return Ok(None),
                    io::ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
        }
    }

    fn write(&mut self, side: Side, packet: &[u8]) -> io::Result<bool> {
        loop {
            let Err(error) = self.devices[side as usize].write(packet) else { return Ok(true) };
            match error.raw_os_error() {
                // The device has no space, the system has no memory, or the kernel rejects the
                // packet.
                Some(libc::EAGAIN | libc::ENOBUFS | libc::ENOMEM | libc::EINVAL) => {
                    return Ok(false);
                }
                Some(libc::EINTR) => {}
                _ => return Err(error),
            }
        }
    }

    fn wait(&mut self, until: Time) -> io::Result<Ready> {
        let ahead = until.saturating_since(self.now());
        let spin = if ahead > LONG_WAIT { SPIN } else { Duration::ZERO };
        let timeout = if ahead == Duration::ZERO {
            EpollTimeout::ZERO
        } else {
            self.set_timer(until, spin)?;
            EpollTimeout::NONE
        };
        let mut events = [EpollEvent::empty(); 8];
        let count = match self.epoll.wait(&mut events, timeout) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        let mut ready = Ready::default();
        let mut is_timer = false;
        for event in &events[..count] {
            match event.data() {
                TIMER => {
                    self.armed_ns = 0;
                    is_timer = true;
                }
                OTHER => ready.attention = true,
                side => ready.packets[side as usize] = true,
            }
        }
        // The clock is polled only if the timer was the only event, so that ready descriptors are
        // handled without delay.
        if is_timer && spin > Duration::ZERO && ready == Ready::default() {
            while self.now() < until {
                std::hint::spin_loop();
            }
        }
        Ok(ready)
    }
}
