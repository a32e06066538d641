"""
Import what exists into a spec: job and volume files, a Terraform state, a running cluster.

`terraform` and `live_files` make files of a state or a cluster, `adopt` makes the spec of files, and `aws_storage` adds
their storage. Here belongs what converts a file's content to keys of a spec, and the remark on each part that a spec
cannot keep. What is wrong with a file, imported or not, is a rule in `diagnosis.file_rules`.
"""
