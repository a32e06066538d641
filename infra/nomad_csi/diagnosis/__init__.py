"""
Find what is wrong with plugins, volumes, claims, clients and AWS: `facts`, ``rules`` over them, and views.

The status of a claim (live, ended, vanished) is in `claim_status`; which one is stuck, and after which time, in
`rules.claims`, and so is an EBS volume that is attached without a claim. `claim_repair` has the steps of `claims
repair`; whether a volume may be deregistered is in `volumes.decide`. `prometheus` and `page`
(``templates/report.html.j2``) are views.

An unhealthy instance is judged in `health.instances`, and reported by `verify` (`rules.plugins`). `doctor` reports what
follows from it: claims on a client without a healthy node plugin, and volumes out of reach.
"""
