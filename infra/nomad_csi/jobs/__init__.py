"""
The whole life of a plugin job: its resource, its owner, and `apply` without Pulumi.

`conflicts` refuses a second job of a plugin.
"""
