"""The base class of the results of all analytic models."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from airpath.engine.resolved import ResolvedScenario
from airpath.present import html
from airpath.present.tables import Table

__all__ = ["Solution", "SolvedFlow", "digits"]


@dataclass(frozen=True)
class SolvedFlow:
    """Quantities of one flow at the operating point.

    Parameters
    ----------
    id : int
        Index of the flow.
    throughput_bps : float
        Rate of IP packets that reach the receiver, bit/s.
    rtt_s : float
        Round-trip time with queueing and transmission, s.
    loss : float
        Probability that a packet is dropped or lost, in [0, 1].
    """

    id: int
    throughput_bps: float
    rtt_s: float
    loss: float


class Solution(ABC):
    """The steady state of a scenario according to an analytic model; each model has a subclass.

    Attributes
    ----------
    model : str
        Name of the model, one of ``airpath list model``.
    throughput_bps : float
        Total rate of IP packets that reach the receivers, bit/s.
    flows : sequence
        Results of each flow.
    warnings : sequence of str
        Warnings to read before you use the result.
    provenance : mapping
        Provenance of the result: versions and inputs.
    """

    registry: ClassVar[dict[str, type[Solution]]] = {}
    """Maps names of models to the classes of their results."""
    flow_type: ClassVar[type] = SolvedFlow
    """Class of the elements of `flows`."""

    model: str
    throughput_bps: float
    flows: Sequence[Any]
    warnings: Sequence[str]
    provenance: Mapping[str, Any]

    def __init_subclass__(cls, *, model: str, **rest: Any) -> None:
        """Register the class as the result class of a model."""
        super().__init_subclass__(**rest)
        Solution.registry[model] = cls

    @staticmethod
    def of(found: Mapping[str, Any], provenance: Mapping[str, Any]) -> Solution:
        """Create an object of the model's class from the engine's result.

        Parameters
        ----------
        found : mapping
            Result of the engine as a parsed JSON object.
        provenance : mapping
            Provenance of the result.
        """
        kind = Solution.registry[found["model"]]
        flows = [kind.flow_type(**flow) for flow in found["flows"]]
        return kind(**{**found, "flows": flows, "provenance": provenance})

    def metrics(self) -> dict[str, float]:
        """Map names of simulation metrics to the corresponding values of the solution.

        Only quantities with the same meaning are included: ``ip_throughput_bps``,
        ``flows.0.mean_rtt_s``, ``queues.bottleneck.mean_packets``, ...
        """
        if self.throughput_bps is None:
            return {}
        found = {"ip_throughput_bps": self.throughput_bps}
        for flow in self.flows:
            found[f"flows.{flow.id}.ip_throughput_bps"] = flow.throughput_bps
            if hasattr(flow, "rtt_s"):
                found[f"flows.{flow.id}.mean_rtt_s"] = flow.rtt_s
        return found

    @abstractmethod
    def lines(self) -> list[str]:
        """Return the description of the operating point that ``airpath solve`` prints."""

    @abstractmethod
    def flow_table(self) -> Table:
        """Return the table of flows."""

    def flow_labels(self) -> list[str]:
        """Return the label of each flow in tables: its index, and the name of its group."""
        stored = self.provenance.get("scenario")
        if not stored:
            return [str(flow.id) for flow in self.flows]
        flows = ResolvedScenario(stored).flows
        return [flows.flow_label(int(flow.id)) for flow in self.flows]

    def _repr_html_(self) -> str:
        return (
            html.heading(f"{self.provenance['scenario']['name']}: {self.model}")
            + "".join(html.paragraph(line) for line in self.lines())
            + html.table(self.flow_table())
            + "".join(html.paragraph(warning) for warning in self.warnings)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the output of ``solve --json``."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        own = {name: getattr(self, name) for name in names if name != "provenance"}
        return {
            "provenance": dict(self.provenance),
            **own,
            "flows": [vars(flow) for flow in self.flows],
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """Return `to_dict` as a JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)


def digits(value: float, number: int = 3) -> str:
    """Format a value with `number` significant digits.

    Parameters
    ----------
    value : float
        Any finite number.
    number : int
        Number of significant digits. Default 3.
    """
    if value == 0:
        return "0"
    return f"{value:.{max(0, number - 1 - math.floor(math.log10(abs(value))))}f}"
