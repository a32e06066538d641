"""
An emulator of CSI drivers: a small real CSI plugin on a Unix socket.

It answers as the named driver does. The EBS driver's side attaches, makes, grows and deletes volumes in moto's EC2; the
EFS driver's knows the shape of ids; the others are played from a table, with records instead of storage (`profiles`).
It is a double: it mounts nothing and formats nothing, and talks to loopback addresses only.
Source of the behaviour: aws-ebs-csi-driver v1.64.0 and aws-efs-csi-driver v3.4.1, ``cmd`` and ``pkg/driver``; the
EBS driver itself was run against moto beside it, 2026-11; `profiles` names the source of each other driver.
"""
