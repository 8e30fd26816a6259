"""Directory of each paper: data files, README, and results of the last full run."""

from pathlib import Path
from typing import Final

__all__ = ["CLAMP", "QAWLA", "SBD", "VCP", "WIMAX"]

_PAPERS: Final = Path(__file__).parent

CLAMP: Final = _PAPERS / "clamp"
QAWLA: Final = _PAPERS / "qawla"
SBD: Final = _PAPERS / "sbd"
VCP: Final = _PAPERS / "vcp"
WIMAX: Final = _PAPERS / "wimax"
