"""
Nomad's objects, as plain data. Nothing here imports the HTTP library or sends a request.

The modules of `nomad_csi.nomad` read Nomad's replies into these records.
"""
