"""Which allocation holds which volume, which claims are stuck, and their repair."""
