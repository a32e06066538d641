"""
Health of CSI plugins: compare Nomad's status and CSI probe results with a plan.

`eligibility` has the clients on which an instance is expected, `policy` how many may fail, `instances` the judgement of
one, `stability` that of its restarts, `plugin_health_wait` what `up` waits for and reports meanwhile.
"""
