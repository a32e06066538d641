"""Rules across the parts of a spec, its drivers and AWS. Pure."""
