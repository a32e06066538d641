"""
The catalogue: requirements of each CSI driver, with date and sources. One YAML document per driver (`model.Driver`).

That includes what the deletion of a volume and its last snapshot need of a driver (`model.DriverDeletion`).

Pure data, without any choice that depends on a spec.
"""
