"""CSI plugins, volumes, claims and snapshots. Part of the emulator of Nomad."""
