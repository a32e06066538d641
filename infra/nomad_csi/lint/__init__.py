"""
Status of job files, volume files and IAM policies that somebody wrote by hand: parsed files in, findings out. Pure.

Each rule has a code, an explanation, a fix and a source (`table`); what a driver takes comes from the catalogue.
"""
