r"""
Quote, format and read HCL text, in both dialects that Nomad reads.

Nomad reads job files as HCL2 and volume files as HCL1; ``nomad fmt`` reads both as HCL2. Either may be JSON. The reader
is our own: no library for Python reads HCL1, and python-hcl2 (8.1.4) leaves ``\u0024`` and ``\U0001F389`` undecoded and
accepts duplicate keys. The Nomad emulator uses python-hcl2, so that the tests compare two readers; ``tests/real``
compares ours with Nomad's.
"""
