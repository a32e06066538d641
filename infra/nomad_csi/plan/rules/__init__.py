"""What makes a spec wrong that each of its parts allows: rules across the spec, its drivers and AWS. Pure."""
