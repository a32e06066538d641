"""
What AWS says, as plain data. Nothing here imports boto3.

The modules of `nomad_csi.aws` beside this package ask for it.
"""
