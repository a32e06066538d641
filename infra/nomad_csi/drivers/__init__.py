"""
The catalogue: what each CSI driver needs, dated, with its sources. A YAML document per driver, read by `model.Driver`.

Pure data. Not here: any choice that depends on what an operator wrote.
"""
