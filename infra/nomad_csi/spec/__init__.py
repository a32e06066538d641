"""
What the operator wants: plugins and volumes, one YAML form for files and for Pulumi stack config.

Pure: pydantic models and the rules of single values. Not here: what a driver needs, what follows from the spec.
"""
