"""
Desired state against observed state, as data: one comparator a subject, which every command and resource calls.

Pure: imports no HTTP library, gRPC, boto3 or Pulumi, not even through another module.
"""
