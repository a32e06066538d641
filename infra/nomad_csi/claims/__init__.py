"""Volume claims: which allocations claim each volume, which claims are stuck, and how to repair them."""
