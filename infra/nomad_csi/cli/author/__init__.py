"""Commands for who writes specs and files. They change nothing in a cluster."""
