"""Runs several engines on one scenario, compares their answers, and explains the differences.

```
  simulate ──Result───┐
  emulate ───Result───┼─ answers ── rows (means, differences) ── table, figure, files
  solve ─────Solution─┘                    └── explain (facts that engines report)
```
"""

from airpath.comparison.engines import ENGINES, compare
from airpath.comparison.load import load_comparison
from airpath.comparison.result import Comparison

__all__ = ["ENGINES", "Comparison", "compare", "load_comparison"]
