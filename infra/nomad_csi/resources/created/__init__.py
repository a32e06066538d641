"""Volumes that a plugin makes: the resource `CreatedVolume`, and the same for the command line."""
