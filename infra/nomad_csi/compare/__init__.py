"""
Compare desired and observed state, as data: one comparator per subject, used by all commands and resources.

Pure: imports no HTTP library, gRPC, boto3 or Pulumi, not even through another module.
"""
