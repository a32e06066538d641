"""HTTP with Nomad: where it is, how it is reached, one request, and what an unwelcome answer means."""
