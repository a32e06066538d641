"""One module for each part of Nomad's HTTP API; each makes a blueprint for a cluster. Part of the stand-in for Nomad."""
