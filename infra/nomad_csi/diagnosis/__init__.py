"""Find what is wrong with plugins, volumes, claims, clients and AWS: facts, rules over them, and views."""
