"""
The catalogue: requirements of each CSI driver, with date and sources. One YAML document each (`catalogue.Driver`).

It includes what the deletion of a volume and its last snapshot need of a driver (`catalogue.DriverDeletion`). The IAM
actions are in `plan.iam`. A placeholder of an argument, such as ``{log_verbosity}``, is a field of `spec.plugin`.

Pure data, without any choice that depends on a spec.
"""
