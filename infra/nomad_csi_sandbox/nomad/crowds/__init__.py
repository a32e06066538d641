"""Clients, plugin instances and volumes in numbers, with no process behind them. Part of the emulator of Nomad."""
