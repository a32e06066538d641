"""
A stand-in for the AWS EBS and EFS CSI drivers: a small real CSI plugin on a Unix socket.

It answers as the named driver does, and its EBS side attaches, makes and deletes volumes in moto's EC2. It is a double:
it mounts nothing and formats nothing, has no snapshots and no expansion, and talks to loopback addresses only.
Source of the behaviour: aws-ebs-csi-driver v1.64.0 and aws-efs-csi-driver v3.4.1, ``cmd`` and ``pkg/driver``; the
EBS driver itself was run against moto beside it, 2026-11.
"""
