//! Stub.
use crate::description::Traffic;
use crate::namespaces::Sides;
use crate::outside::Side;
use airpath_core::Duration;
use std::os::fd::BorrowedFd;
/// Stub.
pub struct Launcher;
/// Stub.
pub enum LauncherEvent {
    Ended { side: Side, status: i32 },
    Failed { side: Side, message: String, status: i32 },
    Gone,
}
impl Launcher {
    pub fn fork(_: &Sides, _: &Traffic, _: bool) -> std::io::Result<Launcher> {
        Ok(Launcher)
    }
    pub fn start(&mut self, _: Side) -> std::io::Result<()> {
        Ok(())
    }
    pub fn fd(&self) -> BorrowedFd<'_> {
        todo!()
    }
    pub fn poll(&mut self) -> Option<LauncherEvent> {
        None
    }
    pub fn end(&mut self, _: Duration) {}
}
