//! Persistent threads that share the work of one step of several simulations.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Work of one step: called once with each index, by any thread.
pub type Work = Arc<dyn Fn(usize) + Send + Sync>;

/// Work in progress.
#[derive(Clone)]
struct Job {
    work: Work,
    count: usize,
    next: Arc<AtomicUsize>,
}

impl Job {
    fn run(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.count {
                return;
            }
            (self.work)(index);
        }
    }
}

#[derive(Default)]
struct State {
    job: Option<Job>,
    /// Number of jobs so far.
    generation: u64,
    /// Number of workers that have not finished the current job.
    active: usize,
    is_closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when a job starts or the pool is closed.
    started: Condvar,
    /// Notified when the last worker has finished a job.
    finished: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with the lock")
    }

    fn work(&self) {
        let mut seen = 0;
        let mut state = self.state();
        loop {
            if state.is_closed {
                return;
            }
            let Some(job) = state.job.clone().filter(|_| state.generation > seen) else {
                state = self.started.wait(state).expect("no thread panics with the lock");
                continue;
            };
            seen = state.generation;
            drop(state);
            let finish = Finish(self);
            job.run();
            drop(job);
            drop(finish);
            state = self.state();
        }
    }
}

/// Reports the end of a worker's part of a job, also if the work panics.
struct Finish<'a>(&'a Shared);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.active -= 1;
        if state.active == 0 {
            self.0.finished.notify_one();
        }
    }
}

/// A pool of threads. The threads end when the pool is dropped.
pub struct Pool {
    shared: Arc<Shared>,
    workers: usize,
    process: u32,
}

impl Pool {
    /// Creates a pool of `threads` threads, the calling one included.
    ///
    /// # Errors
    /// Fails if the system cannot start a thread.
    pub fn new(threads: usize) -> std::io::Result<Pool> {
        let shared = Arc::new(Shared::default());
        let workers = threads.saturating_sub(1);
        let pool = Pool { shared: Arc::clone(&shared), workers, process: std::process::id() };
        for number in 0..workers {
            let shared = Arc::clone(&shared);
            let builder = std::thread::Builder::new().name(format!("airpath-agent-{number}"));
            builder.spawn(move || shared.work())?;
        }
        Ok(pool)
    }

    /// Returns true if this process has created the pool. The threads do not exist in the child
    /// process after a fork.
    pub fn is_alive(&self) -> bool {
        self.process == std::process::id()
    }

    /// Calls `work` with each index below `count`, on all threads. Returns after the last call.
    /// While the calling thread waits for the others, it calls `look` twenty times per second.
    /// If `work` panics in a worker, the job ends without the calls that this worker has not made.
    pub fn run(&self, count: usize, work: Work, mut look: impl FnMut()) {
        let job = Job { work, count, next: Arc::default() };
        let has_help = self.workers > 0 && count > 1;
        if has_help {
            let mut state = self.shared.state();
            state.job = Some(job.clone());
            state.generation += 1;
            state.active = self.workers;
            self.shared.started.notify_all();
        }
        job.run();
        if has_help {
            let mut state = self.shared.state();
            while state.active > 0 {
                let waited = self.shared.finished.wait_timeout(state, Duration::from_millis(50));
                let (guard, timeout) = waited.expect("no thread panics with the lock");
                state = guard;
                if timeout.timed_out() {
                    drop(state);
                    look();
                    state = self.shared.state();
                }
            }
            state.job = None;
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // After a fork, another thread may have had the lock.
        if self.is_alive() {
            self.shared.state().is_closed = true;
            self.shared.started.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_is_worked_on_once_by_any_number_of_threads() {
        for threads in 1..5 {
            let pool = Pool::new(threads).expect("threads");
            assert!(pool.is_alive());
            for count in [0, 1, 2, 100] {
                let calls: Arc<Vec<AtomicUsize>> =
                    Arc::new((0..count).map(|_| AtomicUsize::new(0)).collect());
                let counted = Arc::clone(&calls);
                let work = Arc::new(move |index: usize| {
                    counted[index].fetch_add(1, Ordering::Relaxed);
                });
                pool.run(count, work, || {});
                assert!(calls.iter().all(|call| call.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn waiting_caller_looks() {
        let pool = Pool::new(2).expect("threads");
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let waits = Arc::clone(&gate);
        let caller = std::thread::current().id();
        let work = Arc::new(move |_| {
            if std::thread::current().id() != caller {
                let mut open = waits.0.lock().expect("a lock");
                while !*open {
                    open = waits.1.wait(open).expect("a lock");
                }
            }
        });
        // With this many indices, the worker takes one before the caller has taken all.
        pool.run(100_000, work, || {
            *gate.0.lock().expect("a lock") = true;
            gate.1.notify_all();
        });
    }
}
