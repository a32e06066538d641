"""Jobs: stored, compared, validated, planned and scheduled. Part of the emulator of Nomad."""
