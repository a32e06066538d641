"""
What a release is made of and checked by: ``python -m tests.release COMMAND``. The Makefile and the workflow call it.

Not here: the upload itself, and anything that needs an account.
"""
