"""CSI probes from where the sockets are: by a job on the clients, and what the plugins answered it."""
