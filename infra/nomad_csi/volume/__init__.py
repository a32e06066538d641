"""
What happens to one volume: what is known of it (`facts`), and what is done with it (`decide`). Pure and total.

The custom resources and `apply` decide here. `resources.volume_facts` reads the facts; `resources.wanted_volume` and
`resources.removed_volume` have the sentences.
"""
