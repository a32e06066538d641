"""
What happens to one volume: what is known of it (`facts`), and what is done with it (`decide`). Pure and total.

The custom resources and `create` decide here. `resources.volume_facts` reads the facts and has the sentences.
"""
