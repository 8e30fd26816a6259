"""Analytic models with explicit parameters, without a scenario."""

from airpath.solutions.models import *
