"""Commands that read a cluster and its plugins."""
