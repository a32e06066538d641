"""
CSI over gRPC: the probe and the calls that it consists of. Generated code is in ``v1``.

`services` has one function for each RPC, `channel` sends it, `probe` calls them in Nomad's order; `validation` asks a
controller for many volumes. `rpc` makes the documents of requests and replies, which `csi call` prints.

Every call has a deadline, is cancelled at it, and leaves no thread, file or channel behind.
"""
