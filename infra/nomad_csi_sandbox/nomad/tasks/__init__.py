"""Allocations and their tasks as processes of this machine. Part of the emulator of Nomad."""
