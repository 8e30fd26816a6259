"""TCP congestion control algorithms, in the order of ``airpath list``."""

from airpath.scenario.cc.base import Congestion as Congestion
from airpath.scenario.cc import (
    loss_based as loss_based,
    fast_growth as fast_growth,
    delay_based as delay_based,
    scalable as scalable,
    model_based as model_based,
    feedback as feedback,
)
