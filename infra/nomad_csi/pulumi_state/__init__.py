"""The state of a Pulumi stack: what it made, what can be imported into it, and how it lets go of it."""
