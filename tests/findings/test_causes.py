"""Findings that another one explains have it as their cause, and no advice."""

import dataclasses

from nomad_csi.findings import causes, finding, printing

PLUGIN = causes.of_plugin("efs")


def made(code, subject, links=()):
    """Return a finding."""
    return finding(code, subject, found="x", links=links)


STOPPED = made("job-missing", "job default/efs-nodes", (causes.of_role("efs", "node"),))
ABSENT = made("plugin-missing", "plugin efs", ("plugin efs", *PLUGIN))
NONE = [made("node-missing", f"node of efs on {name}", (causes.of_role("efs", "node"),)) for name in "abcdefg"]
STUCK = made("volume-unschedulable", "volume default/a", PLUGIN)
OTHER = made("volume-unschedulable", "volume default/b", causes.of_plugin("ebs"))


def test_each_consequence_names_its_root():
    """Also where another consequence lies between; the order stays, and who has no cause stays as it is."""
    found = causes.assign([STUCK, OTHER, ABSENT, NONE[0], STOPPED])

    assert [(item.code, item.cause, bool(item.advice)) for item in found] == [
        ("volume-unschedulable", "job-missing: job default/efs-nodes", False),
        ("volume-unschedulable", "", True),
        ("plugin-missing", "job-missing: job default/efs-nodes", False),
        ("node-missing", "job-missing: job default/efs-nodes", False),
        ("job-missing", "", True),
    ]


def test_a_job_of_one_role_explains_nothing_of_the_other():
    """The controllers of a plugin have a job of their own."""
    lone = made("controller-missing", STOPPED.subject, (causes.of_role("efs", "controller"),))

    assert causes.assign([STOPPED, lone]) == (STOPPED, lone)


def test_text_has_consequences_below_their_cause():
    """Each severity and code with its first subjects and what was found: what the totals count is printed."""
    found = causes.assign([STOPPED, *NONE, STUCK, OTHER])

    assert printing.as_text(found, 100).splitlines() == [
        "error  job-missing  job default/efs-nodes",
        "  found     x",
        "  advice    run `pulumi up`, or `nomad-csi apply` with the spec",
        "  so        error node-missing of node of efs on a, node of efs on b, node of efs on c, node of efs",
        "            on d, node of efs on e and 2 more",
        "            x",
        "  so        error volume-unschedulable of volume default/a",
        "            x",
        "error  volume-unschedulable  volume default/b",
        "  found     x",
        "  advice    restore the plugin's instances: `nomad plugin status PLUGIN` lists them",
    ]
    assert printing.totals(found) == "10 errors, 0 warnings (8 are consequences)"
    assert printing.totals([STOPPED]) == "1 error, 0 warnings"
    assert printing.totals(causes.assign([STOPPED, STUCK])) == "2 errors, 0 warnings (1 is a consequence)"


def test_placeholders_of_a_fix_are_replaced_by_what_is_known():
    """What is not known stays, as `nomad-csi explain` shows it."""
    known = finding("instance-hung", "x", found="x", advice="restart ALLOC of ALLOCATIONS", names={"ALLOC": r"\1"})
    unknown = finding("instance-hung", "x", found="x", names={"ALLOC": ""})

    assert known.advice == r"restart \1 of ALLOCATIONS"
    assert unknown.advice.endswith("restart it with `nomad alloc restart ALLOC`")


def test_an_error_has_a_line_for_each_cause():
    """What is alike stands together with all its subjects, what follows below its cause."""
    hung = [finding("instance-hung", f"node of efs on {name}", found="x", advice="restart it") for name in "abc"]
    others = [dataclasses.replace(hung[0], **{name: "y"}) for name in ("expected", "found", "advice")]

    lines = printing.as_lines([NONE[0], *hung, STOPPED, NONE[1], STUCK, *others])

    assert lines == [
        f"{dataclasses.replace(hung[0], subject='node of efs on a, node of efs on b, node of efs on c')}",
        f"{STOPPED}; so: node-missing: node of efs on a, node of efs on b; volume-unschedulable: volume default/a",
        *map(str, others),
    ]


def test_an_instance_elsewhere_explains_no_claim():
    """Only the instance on the client of the claim does, or what concerns every instance."""
    role = causes.of_role("ebs", "node")
    elsewhere = made(
        "instance-unhealthy", "node instance of plugin ebs on b", ("node instance of plugin ebs on b", role)
    )
    here = made("instance-unhealthy", "node instance of plugin ebs on a", ("node instance of plugin ebs on a", role))
    claim = made(
        "claim-without-node-plugin",
        "plugin ebs on a",
        ("node instance of plugin ebs on a", causes.of_all_nodes("ebs")),
    )

    assert causes.assign([elsewhere, claim])[1].cause == ""
    assert causes.assign([elsewhere, here, claim])[2].cause == causes.name_of(here)
