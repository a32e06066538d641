"""Commands that write specs and files. They change nothing in a cluster."""
