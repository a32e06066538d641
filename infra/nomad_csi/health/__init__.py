"""Whether a CSI plugin is healthy: what Nomad and the instances' sockets say, against what a plan expects."""
