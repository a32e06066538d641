"""
Rules for files that operators wrote by hand: job files, volume files, IAM policies. Pure: files in, findings out.

Here belongs a rule of `nomad-csi check` about a file; a rule about a spec is in `plan.rules`, one about a cluster
in `diagnosis.rules`. What a driver requires comes from the catalogue, and each code is in ``findings/codes.yaml``.
"""
