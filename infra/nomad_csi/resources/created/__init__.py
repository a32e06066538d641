"""Volumes that a plugin creates: the resource `CreatedVolume`, and its counterpart for the command line."""
