"""Who owns registrations, jobs and clusters: owner records in Nomad variables, and what they allow."""
