"""CSI probes where the sockets are: run by a job on the clients, with the plugins' responses."""
