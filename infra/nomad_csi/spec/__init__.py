"""
The spec: plugins and volumes, in one YAML form for files and for Pulumi stack config.

Pure: pydantic models, with the default of each key, and the rules of single values. What a driver requires or refuses
is in `drivers`; what combines two keys is in `plan`.
"""
