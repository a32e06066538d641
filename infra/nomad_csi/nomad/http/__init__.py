"""HTTP with Nomad: connection settings, transport, one request function, and classification of errors."""
