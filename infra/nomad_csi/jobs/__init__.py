"""
The whole life of a plugin job: its resource and its owner; and the plan and `apply` of a spec without Pulumi.

`plugin_job` is the resource: what `up` and `destroy` do with a job, when it is replaced, and what becomes of it where
its owner is not known. `wanted_job` decides whether a job may run, and has the steps that run and remove it;
`conflicts` refuses a second job of a plugin. Whether a plan with a refused item is carried out is in `cli.apply`.
`health.plugin_health_wait` waits until the plugin is healthy.
"""
