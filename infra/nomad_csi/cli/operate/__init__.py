"""Commands that change what a cluster or a stack has, and `plan`, which shows it first."""
