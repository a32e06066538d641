"""The whole life of a plugin job: its resource, its owner, the jobs beside it, and `apply` without Pulumi."""
