"""
The Pulumi provider plugin: a process of its own that serves the custom resources and the components.

It only translates between the wire and the classes of `frame.registry`.
"""
