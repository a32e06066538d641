"""Client nodes, and what changes them. Part of the emulator of Nomad."""
