"""
The spec: plugins and volumes, in one YAML form for files and for Pulumi stack config.

Pure: pydantic models and the rules of single values. Requirements of drivers and the plan are elsewhere.
"""
