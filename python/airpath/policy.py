"""Link adaptation policies, which select the MCS of a link."""

from airpath.scenario.policy import *
