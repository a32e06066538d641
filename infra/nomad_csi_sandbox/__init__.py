"""
Emulators for what a laptop lacks: AWS, the Pulumi engine, a Nomad agent, CSI drivers.

Everything here is a double and says so where it speaks. It listens on 127.0.0.1 only, is never imported by
`nomad_csi` but for the command ``nomad-csi sandbox``, and must never be pointed at real end points.
"""
