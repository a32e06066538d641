"""The storage of a cluster on one page: zones, clients, plugins, volumes, claims, findings, evidence. Pure."""
