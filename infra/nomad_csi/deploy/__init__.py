"""
What each custom resource does: check, compare, create, read, update, remove; and the gate that waits.

No pulumi import: the provider plugin, the command line and the tests are thin shells over these classes.
"""
