"""The compiled part of Airpath: scenarios in as JSON, results out as JSON and columns of bytes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from airpath.parts.events import (
    Ack,
    Arrival,
    BuiltInCongestion,
    CongestionSetup,
    Departure,
    Idle,
    LinkRate,
    Loss,
    LostSegment,
    Open,
    PolicySetup,
    QueueObservation,
    QueueSetup,
    Random,
    RateSample,
    SchedulerSetup,
    Scheme,
    Sent,
    Undo,
    User,
)

__all__ = [
    "Ack",
    "AgentExperiment",
    "AgentSimulation",
    "AgentVector",
    "Arrival",
    "BuiltInCongestion",
    "CongestionSetup",
    "Departure",
    "ErrorChain",
    "Idle",
    "LinkRate",
    "Loss",
    "LostSegment",
    "Open",
    "PerTable",
    "PolicySetup",
    "QueueObservation",
    "QueueSetup",
    "Random",
    "RateSample",
    "ReedSolomon",
    "SchedulerSetup",
    "Scheme",
    "Sent",
    "SimulationOutput",
    "Trace",
    "Undo",
    "User",
    "agent_quantities",
    "capture_points",
    "check",
    "commit",
    "component_problems",
    "cost231_hata_db",
    "csv_rows",
    "fixed_points",
    "generate_trace",
    "jain_index",
    "link_budget_snr_db",
    "mean_interval",
    "optimum_pair",
    "part_records",
    "phy_channel",
    "phy_components",
    "phy_measure",
    "phy_problems",
    "policy_choices",
    "registry",
    "rtt_stages",
    "scenario_problems",
    "shadowing_levels",
    "simulate",
    "sinr_db",
    "solve",
    "square_root",
    "symbol_error_names",
    "symbol_error_rates",
    "version",
    "vocabulary",
    "wilson_interval",
]

_Bounds = tuple[float | None, bool, float | None, bool]
_Problem = tuple[str, str, str, _Bounds | str | None, list[str]]

_Outcome = tuple[bytes, bool, list[bool]]

@final
class AgentExperiment:
    """A resolved scenario with flows of agents."""

    @staticmethod
    def read(
        scenario_json: str,
        traces: Mapping[str, Trace],
        tables: Mapping[str, str] | None,
        snr: Mapping[str, str] | None,
        flows: Sequence[int],
        step: tuple[str, float, float],
    ) -> AgentExperiment:
        """Read a scenario in which agents control `flows`; raises `ValueError`.

        `step`: ``("time", s, 0)``, ``("rtt", factor, first s)`` or ``("acks", number, longest s)``.
        """

@final
class AgentSimulation:
    """An episode.

    An outcome has the statistics of all agents as doubles, whether the scenario has ended, and
    whether the flow of each agent has finished.
    """

    @staticmethod
    def start(
        experiment: AgentExperiment,
        seed: int,
        replication: int,
        decisions: Sequence[tuple[float, float]],
    ) -> AgentSimulation:
        """Build a replication and run it to the start of the first flow of an agent.

        A decision has a window in bytes and a rate in bit/s; infinity for no limit and no pacing.
        Raises `ValueError` or `RuntimeError`.
        """

    def first(self) -> _Outcome:
        """Return the outcome before the first interval."""

    def step(self, decisions: Sequence[tuple[float, float]]) -> _Outcome:
        """Apply a decision of each agent and run one interval.

        Raises `ValueError` or `RuntimeError`.
        """

    def step_one(self, window: float, rate: float) -> _Outcome:
        """Do the same for a single agent."""

    def now_ns(self) -> int:
        """Return the simulated time, ns."""

@final
class AgentVector:
    """Simulations with one agent each, and the threads that step them."""

    @staticmethod
    def create(count: int, threads: int) -> AgentVector:
        """Create empty places."""

    def put(self, index: int, simulation: AgentSimulation) -> None:
        """Place a simulation; raises `ValueError`."""

    def step(self, decisions: bytes, mask: bytes) -> tuple[bytes, bytes]:
        """Run one interval of each simulation with a byte other than 0 in `mask`.

        `decisions` has window (bytes) and rate (bit/s) of each place as doubles. Returns the
        statistics as doubles, quantity by quantity, and a byte for each place: 1 at the end of the
        scenario, plus 2 if the flow has finished. Raises `ValueError` or `RuntimeError`.
        """

@final
class ErrorChain:
    """Errors of single units under a chain of two states."""

    @staticmethod
    def checked(
        p_good_to_bad: float, p_bad_to_good: float, error_good: float, error_bad: float
    ) -> ErrorChain:
        """Return a chain; raises `ValueError`."""

    @staticmethod
    def from_doppler(given: list[float], modulation: str, antennas: tuple[int, int]) -> ErrorChain:
        """Return the chain of a fading channel; raises `ValueError`.

        `given`: SNR and threshold in dB, Doppler shift and symbol rate in Hz.
        """

    @property
    def probabilities(self) -> tuple[float, float, float, float]:
        """Probabilities of leaving good and bad, of errors in good and bad."""

    @property
    def shares(self) -> tuple[float, float]:
        """Shares of the states, good and bad."""

    @property
    def mean_runs(self) -> tuple[float, float]:
        """Mean lengths of runs of the states, units."""

    @property
    def error_rate(self) -> float:
        """The share of units in error."""

    def received_by_state(self, units: int) -> list[list[float]]:
        """Return P(r received, last state good), P(r received, last state bad), r from 0."""

    def packet_failure(self, units: int) -> float:
        """Return how often a packet without a code fails."""

    def block_failure(self, symbols: int, correctable: int, symbol_units: int) -> float:
        """Return how often a block fails."""

    def coded_failure(self, packet_bytes: int, code: ReedSolomon, symbol_units: int) -> float:
        """Return how often a packet fails with a code; raises `ValueError`."""

@final
class ReedSolomon:
    """A Reed–Solomon code of packets."""

    @staticmethod
    def checked(code_rate: float, symbol_bits: int, max_block: int | None) -> ReedSolomon:
        """Return a code; raises `ValueError`."""

    def blocks(self, packet_bytes: int) -> list[tuple[int, int, int]]:
        """Return k, b and t_C of each block of a packet; raises `ValueError`."""

    def on_air(self, packet_bytes: int) -> int:
        """Return the bytes of a packet on the air."""

@final
class PerTable:
    """A table of error rates."""

    @staticmethod
    def from_json(text: str) -> PerTable:
        """Read a table; raises `ValueError`."""

    @property
    def snr_range_db(self) -> tuple[float, float]:
        """Lowest and highest SNR that the table was made for, dB."""

    def fer(self, curve: int, snrs_db: list[float]) -> list[float]:
        """Return the frame error rates of a curve."""

    def per(self, curve: int, snrs_db: list[float], packet_bytes: int) -> list[float]:
        """Return the error rates of packets."""

    def covers(self, curve: int, snrs_db: list[float]) -> bool:
        """Return whether a curve was measured about every SNR."""

@final
class Trace:
    """A recorded or generated link."""

    @staticmethod
    def from_mahimahi(text: str, name: str = "trace") -> Trace:
        """Read the Mahimahi format; `name` is used in errors."""

    @staticmethod
    def from_csv(text: str, name: str = "trace") -> Trace:
        """Read a ``time_s,rate_bps`` CSV; `name` is used in errors."""

    @property
    def kind(self) -> str:
        """``opportunities`` or ``rate``."""

    @property
    def duration_s(self) -> float:
        """The period, s."""

    def to_mahimahi(self) -> str:
        """Return the trace in the Mahimahi format."""

    def to_csv(self, bin_ns: int, provenance: str = "") -> str:
        """Return the trace as CSV, opportunities averaged over bins."""

    def info(self) -> str:
        """Return length, rates and outages as JSON."""

    def rates(self, bin_ns: int) -> bytes:
        """Return the rate in each bin, little-endian doubles, bit/s."""

@final
class SimulationOutput:
    """What finished of a simulation."""

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it early."""

    @property
    def cpu_s(self) -> list[float]:
        """Processor time of each finished replication, s."""

    @property
    def replications(self) -> str:
        """The finished replications as a JSON list, without what is there for each flow."""

    def flows(self, index: int) -> tuple[bytes, list[tuple[str, str, bytes]]]:
        """Return whether each flow of a replication is TCP, and columns: name, f8 or i8, values."""

    def series(self, index: int, name: str) -> tuple[bytes, bytes, bytes, bytes]:
        """Return a recorded series of a replication: time_s f64, id u32, queue i32, value f64."""

    def ss(self, index: int) -> dict[str, bytes]:
        """Return the senders' state over time in a replication: name -> column."""

    def flow_monitor(self, index: int) -> str:
        """Return the flow monitor's statistics of a replication as JSON."""

def version() -> str:
    """Return the version of the package."""

def commit() -> str:
    """Return the commit that the module was built from, ``unknown`` outside a repository."""

def registry() -> str:
    """Return the built-in parts as JSON: kind of part -> list of (name, one line)."""

def vocabulary() -> str:
    """Return the names and units of quantities and series, and the drop reasons, as JSON."""

def mean_interval(values: list[float], confidence: float) -> tuple[float, float, float]:
    """Return the mean and the Student-t interval of independent values: (mean, low, high)."""

def jain_index(shares: list[float]) -> float:
    """Return Jain's fairness index."""

def csv_rows(columns: Sequence[tuple[str, bytes, Sequence[bytes]]]) -> bytes:
    """Return the rows of a CSV, numbers as `repr` writes them; raises `ValueError`.

    Of each column: ``f8``, ``i8`` or ``text``, its numbers in little-endian order, and the texts
    that those of ``text`` stand for; below 0 for an empty field, as NaN is.
    """

def simulate(
    scenario_json: str,
    traces: Mapping[str, Trace],
    seed: int,
    first_replication: int,
    replications: int,
    threads: int,
    captures: tuple[int, tuple[str, str], Sequence[tuple[str, str]]] | None = None,
    progress: Callable[[int, int, float], object] | None = None,
    tables: Mapping[str, str] | None = None,
    memory_bytes: int | None = None,
    snr: Mapping[str, str] | None = None,
    parts: Sequence[tuple[str, str, Any]] | None = None,
) -> SimulationOutput:
    """Run replications of a resolved scenario on several threads, or with parts on this thread.

    `captures`: number of a replication, comments of section and interface, (point, file) pairs.
    `tables`: the texts of error-rate tables. `memory_bytes`: most that recordings may take.
    `snr`: the texts of recorded SNRs.
    """

def check(
    scenario_json: str,
    traces: Mapping[str, Trace],
    tables: Mapping[str, str] | None = None,
    snr: Mapping[str, str] | None = None,
    parts: Sequence[tuple[str, str, Any]] | None = None,
) -> list[_Problem]:
    """Return every problem; none if the network can be built. Raises `ValueError` about a file."""

def component_problems(family: str, description: str) -> list[_Problem]:
    """Return every problem of a component; raises `ValueError` about an unknown family."""

def part_records() -> list[tuple[str, int, list[tuple[str, str, int]]]]:
    """Return the records of compiled parts: name, size, (name, type, offset) of the fields."""

def agent_quantities() -> list[tuple[str, str, str]]:
    """Return name, unit and definition of each statistic of an agent's interval."""

def capture_points(scenario_json: str) -> list[tuple[str, str]]:
    """Return name and description of each point of a path where packets can be captured."""

def scenario_problems(scenario_json: str) -> list[_Problem]:
    """Return every problem of the values of a scenario itself, not of its components."""

def rtt_stages(
    given: tuple[float, ...],
    is_updated: bool,
    is_draining: bool,
    step: float,
    samples: int | None,
    seed: int,
) -> tuple[float, float, float, float, float, float]:
    """Return the solution of the model of stages; raises `ValueError`."""

def square_root(
    mss_bytes: float,
    rtt_s: float,
    loss: float,
    max_window_packets: float,
    packets_per_ack: float,
) -> float:
    """Return the square-root formula with the limit of the window, bit/s."""

def solve(
    scenario_json: str,
    tables: Mapping[str, str] | None = None,
    model: str | None = None,
    trajectory_s: float | None = None,
    max_window_packets: float | None = None,
) -> str:
    """Return the steady state of a resolved scenario as JSON; raises `ValueError`, of lines.

    `model`: the name of one. By default the one that covers the scenario. With `trajectory_s` it
    is CLAMP's fluid model, which says under ``trajectory`` what happens until then; with
    `max_window_packets` the fixed point with that W_max.
    """

def optimum_pair(
    scenario_json: str, tables: Mapping[str, str] | None = None
) -> tuple[str, str, float]:
    """Return the dual-regime pair with the most throughput, and that, bit/s; raises `ValueError`.

    The policy of the scenario's bottleneck is ``{"kind": "optimum", "threshold": ...}``.
    """

def policy_choices(
    policy_json: str, table_json: str, snrs_db: Sequence[float], packet_bytes: int
) -> list[list[int]]:
    """Return the MCS that a policy chooses in each regime, for each estimate of the SNR."""

def fixed_points(
    links: Sequence[tuple[Sequence[float], Sequence[tuple[float, float]]]],
    base_rtts_s: Sequence[Sequence[float]],
    gred: tuple[float, float, float],
    tcp: tuple[float, float, float],
    packet_bytes: float,
    threads: int,
) -> bytes:
    """Return T of each link with each set of flows, little-endian doubles, bit/s, by link.

    A link is its thresholds, packets, and the (rate, packet error rate) of each regime. `gred`:
    min_th, max_th, max_p; `tcp`: largest window, packets, timeout, s, packets for each ACK.
    """

def generate_trace(config_json: str) -> Trace:
    """Make the trace of a Rayleigh-faded Shannon-rate link."""

def phy_components() -> str:
    """Return the measurable components as JSON: `mcss`, `channels`, `mappings`, ..."""

def phy_channel(name: str) -> str | None:
    """Return the full name of a channel; None if there is no such channel."""

def phy_problems(config_json: str) -> list[_Problem]:
    """Return every problem of the description of a measurement."""

def phy_measure(
    config_json: str,
    number: int,
    threads: int,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[int, int, int, int]:
    """Measure one point on several threads: (errors, blocks, iterations, blocks skipped).

    Points are numbered scheme by scheme, and SNR by SNR.
    """

def wilson_interval(errors: int, blocks: int, z: float) -> tuple[float, float]:
    """Return the lowest and highest share of errors by Wilson's test."""

def cost231_hata_db(
    frequencies_hz: list[float],
    distances_m: list[float],
    base_heights_m: list[float],
    mobile_heights_m: list[float],
    is_metropolitan: bool,
) -> tuple[list[float], list[tuple[str, float, float]]]:
    """Return mean path losses, dB, and what is outside the fitted ranges; raises `ValueError`."""

def link_budget_snr_db(budgets: list[list[float]]) -> list[float]:
    """Return the SNR, dB, of: power, two gains, loss, bandwidth and noise figure."""

def symbol_error_rates(
    snrs_db: list[float],
    modulation: str,
    antennas: tuple[int, int],
    fading: tuple[str, float | None, float | None],
    method: str,
) -> list[float]:
    """Return symbol error rates at mean SNRs; raises `ValueError`.

    `fading`: its name, K in dB, m. `method`: ``exact``, ``closed-form`` or ``integral``.
    """

def symbol_error_names() -> tuple[list[str], list[str]]:
    """Return the names of modulations and of fadings."""

def shadowing_levels(deviation_db: float) -> tuple[list[float], list[float]]:
    """Return levels of log-normal shadowing, dB, and their weights."""

def sinr_db(snrs_db: list[float], inrs_db: list[list[float]]) -> list[float]:
    """Return SNR/(1 + Σ INR) of each, dB."""
