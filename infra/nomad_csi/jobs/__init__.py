"""
The whole life of a plugin job: its resource and its owner; and the plan and `apply` of a spec without Pulumi.

`plugin_job` is the resource. `wanted_job` decides whether a job may run, registers and stops it; `conflicts` refuses a
second job of a plugin. `health.plugin_health_wait` waits until the plugin is healthy.
"""
