"""
The Pulumi provider plugin: a process of its own that serves the custom resources and the components.

Only translates between the wire and `resources`.
"""
