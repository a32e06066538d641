"""
HCL text: quoting, layout, reading. The one place that knows both dialects that Nomad reads.

Nomad reads job files as HCL2 and volume files as HCL1; ``nomad fmt`` reads both as HCL2. Either may be JSON.
"""
