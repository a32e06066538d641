"""
The catalogue: requirements of each CSI driver, with date and sources. One YAML document per driver (`model.Driver`).

Pure data, without any choice that depends on a spec.
"""
