"""
The spec: plugins and volumes, in one YAML form for files and for Pulumi stack config.

Pure: pydantic models, with the default of each key, and the rules of single values. What a driver requires or refuses
is in `drivers`; what combines two keys is in `plan`. `volume`, `plugin`, `driver` and others have the keys, `model` the
whole spec, `schema` the JSON schema made of them; `expand` makes the volumes of one entry, up to the limit of `count`;
`problems` words what is refused, with the key that was meant.
"""
