r"""
HCL text: quoting, layout, reading. The one place that knows both dialects that Nomad reads.

Nomad reads job files as HCL2 and volume files as HCL1; ``nomad fmt`` reads both as HCL2. Either may be JSON. The reader
is our own: no library for Python reads HCL1, and python-hcl2 (8.1.4) leaves ``\u0024`` and ``\U0001F389`` undecoded and
lets a key that stands twice pass. The Nomad emulator reads with python-hcl2, so that the tests hold two readers to
one another; those of ``tests/real`` hold ours to Nomad's.
"""
