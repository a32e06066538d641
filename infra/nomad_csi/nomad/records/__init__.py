"""
What Nomad holds, as plain data. Nothing here imports the HTTP library or sends a request.

The modules of `nomad_csi.nomad` beside this package read Nomad's replies into these records.
"""
