"""
Check hand-written job files, volume files and IAM policies: parsed files in, findings out. Pure.

Each rule has a code, an explanation, a fix and a source (`table`); requirements of drivers come from the catalogue.
"""
