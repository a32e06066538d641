"""One module for each part of Nomad's HTTP API; each makes a blueprint. Part of the Nomad emulator."""
