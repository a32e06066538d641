"""
Which tests run when. ``pytest --tier check``, ``test``, ``all`` and ``real`` are behind the targets of the Makefile.

A file runs in the first tier that names it, or the nearest folder above it, and in each later one. Files and folders
that are given on the command line are run, whatever their tier.
"""

from pathlib import Path

TESTS = Path(__file__).parent
PROJECT = TESTS.parent

TIERS = ("check", "test", "all")

FIRST = {
    "tests": "check",
    "tests/aws": "test",
    "tests/aws/test_throttled.py": "all",
    "tests/cli": "test",
    "tests/cli/test_verify_watch.py": "all",
    "tests/cli/test_apply_created.py": "all",
    "tests/cli/test_option_effects.py": "all",
    "tests/components": "test",
    "tests/components/test_outputs_everywhere.py": "all",
    "tests/contract": "all",
    "tests/contract/test_claims.py": "test",
    "tests/contract/test_create.py": "test",
    "tests/contract/test_reading.py": "test",
    "tests/contract/test_registrations.py": "test",
    "tests/contract/test_snapshots.py": "test",
    "tests/contract/test_volumes.py": "test",
    "tests/diagnosis": "test",
    "tests/diagnosis/test_doctor_findings.py": "check",
    "tests/diagnosis/test_in_a_browser.py": "all",
    "tests/diagnosis/test_verification_scale.py": "all",
    "tests/diagnosis/test_cluster_states.py": "all",
    "tests/docs": "all",
    "tests/docs/test_committed_hcl.py": "test",
    "tests/docs/test_generated.py": "test",
    "tests/docs/test_readme.py": "test",
    "tests/e2e": "all",
    "tests/e2e/test_main_job.py": "test",
    "tests/faults": "all",
    "tests/faults/test_answers.py": "test",
    "tests/faults/test_connections.py": "test",
    "tests/fuzz": "test",
    "tests/health": "test",
    "tests/health/test_plugin_status.py": "all",
    "tests/iam": "test",
    "tests/iam/test_actions.py": "all",
    "tests/interpreters": "all",
    "tests/jobs": "test",
    "tests/migration/test_hostile.py": "all",
    "tests/model": "test",
    "tests/mutants": "all",
    "tests/nomad/test_cluster_identity.py": "test",
    "tests/nomad/test_sandbox_mark.py": "test",
    "tests/packaging": "test",
    "tests/packaging/test_for_pipelines.py": "all",
    "tests/provider": "test",
    "tests/provider/test_hosting.py": "all",
    "tests/pulumi_state": "test",
    "tests/real": "all",
    "tests/hcl/test_own_templates.py": "test",
    "tests/sandbox": "all",
    "tests/test_pure.py": "test",
    "tests/test_tiers.py": "all",
    "tests/text/test_spellings.py": "test",
    "tests/volumes": "test",
    "tests/volumes/test_compare.py": "check",
    "tests/volumes/test_deletion_drivers.py": "all",
    "tests/volumes/test_deletion_interleavings.py": "all",
    "tests/volumes/test_every_registration_field.py": "check",
    "tests/volumes/test_outcome.py": "check",
    "tests/walk": "test",
}
"""The first tier that runs the files below a path; the longest path that fits decides."""

REAL = "real"
"""The tier of what needs a real program: all below ``tests/real``, and what has one of these marks."""

MARKS = ("real_driver", "real_nomad", "real_pulumi")


def first(path):
    """Return the first tier that runs the file *path*, below the project."""
    return next(FIRST[str(each)] for each in (path, *path.parents) if str(each) in FIRST)


def runs(tier, path):
    """Return whether *tier* runs the file *path*, below the project."""
    return TIERS.index(first(path)) <= TIERS.index(tier)


def needs_program(item):
    """Return whether a collected test is of the tier `REAL`."""
    return TESTS / "real" in item.path.parents or any(item.get_closest_marker(mark) for mark in MARKS)
