"""
The whole life of a plugin job: its resource and its owner; and the plan and `apply` of a spec without Pulumi.

`conflicts` refuses a second job of a plugin.
"""
