"""Analytic models by their parameters, for what is not a scenario."""

from airpath.solutions.models import *
