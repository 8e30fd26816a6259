"""Schedulers of a cell and of a TDD link."""

from airpath.scenario.scheduler import *
