"""
Which tests run when. ``pytest --tier check``, ``test``, ``all`` and ``real`` are behind the targets of the Makefile.

A file runs in the first tier that names it, or the nearest folder above it, and in each later one. Files and folders
that are given on the command line are run, whatever their tier.
"""

import random
import re
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent
PROJECT = TESTS.parent

TIERS = ("check", "test", "all")

FIRST = {
    "tests": "check",
    "tests/aws": "test",
    "tests/aws/test_throttled.py": "all",
    "tests/claims": "test",
    "tests/cli": "test",
    "tests/components": "test",
    "tests/contract": "test",
    "tests/contract/test_acl_rights.py": "all",
    "tests/contract/test_drains.py": "all",
    "tests/deletion": "test",
    "tests/docs": "test",
    "tests/doctor": "test",
    "tests/doctor/test_findings.py": "check",
    "tests/e2e": "all",
    "tests/e2e/test_main_job.py": "test",
    "tests/faults": "test",
    "tests/faults/test_signals.py": "all",
