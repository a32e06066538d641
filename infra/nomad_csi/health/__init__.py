"""
Health of CSI plugins: compare Nomad's status and CSI probe results with a plan.

`eligibility` has the clients on which an instance is expected, `policy` how many may fail, `instances` the judgement of
one, `events` what the events and the log of its task say (such as: became unhealthy 3 times), `stability` whether it
stays healthy while `up` watches, `plugin_health_wait` what `up` waits for and reports meanwhile.
"""
