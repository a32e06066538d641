"""
CSI over gRPC: the probe and the calls it is made of. Generated code stands in ``v1``.

Every call has a deadline, is cancelled at it, and leaves no thread, file or channel behind.
"""
