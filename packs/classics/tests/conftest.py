"""Tests run in the environment that the command prepares."""

from theorysim.environment import prepare

prepare()  # before anything imports JAX
