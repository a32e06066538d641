"""The state of a Pulumi stack: its resources, what can be imported into it, and removing resources from it."""
