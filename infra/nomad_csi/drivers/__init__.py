"""
The catalogue: requirements of each CSI driver, with date and sources. One YAML document each (`catalogue.Driver`).

That includes what the deletion of a volume and its last snapshot need of a driver (`catalogue.DriverDeletion`).

Pure data, without any choice that depends on a spec.
"""
