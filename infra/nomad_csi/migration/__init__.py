"""
Import what exists into a spec: job and volume files, a Terraform state, a running cluster.

`terraform` and `live_files` make files of a state or a cluster, `adopt` makes the spec of files: `plugins` and
`volumes` convert the content of one to keys. `terraform` has the resource types of Nomad's provider, `aws_storage`
those of AWS's, whose storage it adds to the spec.

Here belongs what converts a file's content to keys of a spec, and the remark on each part that a spec cannot keep. What
is wrong with a file, imported or not, is a rule in `diagnosis.file_rules`.
"""
