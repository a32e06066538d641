"""A volume tried by a small job: written, freed, read back on another client."""
