"""Mutation testing of the modules that hold data: ``python -m tests.mutants [SUBJECT ...]``, all without a name."""
