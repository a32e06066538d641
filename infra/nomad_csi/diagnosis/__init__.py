"""
Find what is wrong with plugins, volumes, claims, clients and AWS: `facts`, ``rules`` over them, and views.

Which claim is stuck, and after which time, is in `rules.claims`; `prometheus` and `page` are views.
"""
