//! Stub.
use crate::outside::Side;
use airpath_core::{Duration, Time};
use airpath_tcp::{OnOff, SsSample};
use nix::sys::socket::*;
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
pub struct EndpointFlow {
    pub flow: u32,
    pub sender: Side,
    pub server: Ipv4Addr,
    pub client: Ipv4Addr,
    pub port: u16,
    pub congestion: String,
    pub mss: Option<u32>,
    pub window_clamp: Option<u32>,
    pub start: Time,
    pub stop: Time,
    pub transfer: Option<u64>,
    pub on_off: Option<OnOff>,
}
pub struct Plan {
    pub flows: Vec<EndpointFlow>,
    pub warmup: Time,
    pub end: Time,
    pub ss_interval: Option<Duration>,
}
pub struct Endpoints(Vec<(u32, Arc<AtomicU64>)>);
pub struct EndpointsReport {
    pub flows: Vec<SocketReport>,
    pub ss: Vec<SsSample>,
    pub problems: Vec<String>,
}
pub struct SocketReport {
    pub flow: u32,
    pub delivered_bytes: u64,
    pub retransmissions: Option<u64>,
    pub timeouts: Option<u64>,
    pub mean_rtt_s: Option<f64>,
    pub rwnd_limited_share: Option<f64>,
    pub cwnd_limited_share: Option<f64>,
    pub start_s: Option<f64>,
    pub completed_at_s: Option<f64>,
    pub congestion: String,
}
impl Endpoints {
    pub fn start(plan: Plan, netns: [BorrowedFd; 2], _: u64) -> Result<Endpoints, std::io::Error> {
        let mut all = vec![];
        for f in plan.flows {
            let count = Arc::new(AtomicU64::new(0));
            all.push((f.flow, count.clone()));
            let (s, c) = (netns[0].try_clone_to_owned()?, netns[1].try_clone_to_owned()?);
            let (client, port, cc, server) = (f.client, f.port, f.congestion.clone(), f.server);
            std::thread::spawn(move || {
                nix::sched::setns(&c, nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
                let l = std::net::TcpListener::bind((client, port)).unwrap();
                let (mut k, _) = l.accept().unwrap();
                let mut b = vec![0; 1 << 18];
                while let Ok(n) = k.read(&mut b) {
                    if n == 0 {
                        break;
                    }
                    count.fetch_add(n as u64, Ordering::Relaxed);
                }
            });
            std::thread::spawn(move || {
                nix::sched::setns(&s, nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
                let k =
                    socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), None).unwrap();
                setsockopt(&k, sockopt::TcpCongestion, &cc.into()).unwrap();
                let o = server.octets();
                let d = client.octets();
                bind(k.as_raw_fd(), &SockaddrIn::new(o[0], o[1], o[2], o[3], port)).unwrap();
                while connect(k.as_raw_fd(), &SockaddrIn::new(d[0], d[1], d[2], d[3], port))
                    .is_err()
                {}
                let mut k = std::net::TcpStream::from(k);
                let b = vec![0; 1 << 17];
                while k.write_all(&b).is_ok() {}
            });
        }
        Ok(Endpoints(all))
    }
    pub fn finish(self, _: Time) -> EndpointsReport {
        let flows = self
            .0
            .iter()
            .map(|(flow, n)| SocketReport {
                flow: *flow,
                delivered_bytes: n.load(Ordering::Relaxed),
                retransmissions: None,
                timeouts: None,
                mean_rtt_s: None,
                rwnd_limited_share: None,
                cwnd_limited_share: None,
                start_s: None,
                completed_at_s: None,
                congestion: String::new(),
            })
            .collect();
        EndpointsReport { flows, ss: vec![], problems: vec![] }
    }
}
