"""Register and deregister volumes, one or thousands: compare, send, and return an outcome for each."""
