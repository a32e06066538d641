"""A cluster's storage on one page: zones, clients, plugins, volumes, claims, findings, evidence. Pure; asks nothing."""
