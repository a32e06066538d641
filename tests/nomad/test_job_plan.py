"""A plan in words."""

import pytest

from nomad_csi.nomad import job_plan
from tests import replies


def changes(diff):
    return replies.read(job_plan.JobPlan, {"Diff": diff}).changes


def failed(values):
    return replies.read(job_plan.JobPlan, values).failed_groups


def field(name, old, new, kind="Edited"):
    return {"Name": name, "Old": old, "New": new, "Type": kind}


def in_task(*fields, objects=None):
    """Return the diff of a job in which one task changed."""
    task = {"Name": "plugin", "Type": "Edited", "Fields": list(fields), "Objects": objects}
    group = {"Name": "controller", "Type": "Edited", "Fields": None, "Objects": None, "Tasks": [task]}
    return {"Type": "Edited", "Fields": None, "Objects": None, "TaskGroups": [group]}


def test_change_says_where_and_from_what_to_what():
    """Group, task, object, field, old and new value."""
    resources = {
        "Name": "Resources",
        "Type": "Edited",
        "Fields": [field("CPU", "1", "1", "None"), field("MemoryMB", "256", "512")],
    }

    assert changes(in_task(objects=[resources])) == ("group controller > task plugin > resources.MemoryMB: 256 -> 512",)


def test_changes_of_job_group_and_nested_objects():
    """Each level is named, in the order of the plan."""
    check = {"Name": "Check", "Type": "Edited", "Fields": [field("Path", "/a", "/b")]}
    policy = {"Name": "RestartPolicy", "Type": "Edited", "Fields": None, "Objects": [check]}
    gone = {"Name": "old", "Type": "Deleted"}
    group = {
        "Name": "nodes",
        "Type": "Edited",
        "Fields": [field("Count", "1", "2")],
        "Objects": [policy],
        "Tasks": [gone, {"Name": "new", "Type": "Added", "Fields": [field("Driver", "", "docker", "Added")]}],
    }
    diff = {
        "Type": "Edited",
        "Fields": [field("Priority", "50", "80")],
        "TaskGroups": [group, {"Name": "more", "Type": "Added"}],
    }

    assert changes(diff) == (
        "Priority: 50 -> 80",
        "group nodes > Count: 1 -> 2",
        "group nodes > restartPolicy.check.Path: /a -> /b",
        "group nodes > task old: removed",
        "group nodes > task new: added",
        "group more: added",
    )


def test_objects_that_come_and_go_show_what_they_hold():
    """A constraint that was replaced is one that goes and one that comes."""
    values = [("LTarget", "${attr.kernel.name}"), ("Operand", "=")]
    removed = {"Name": "Constraint", "Type": "Deleted", "Fields": [field(n, v, "", "Deleted") for n, v in values]}
    added = {"Name": "Constraint", "Type": "Added", "Fields": [field(n, "", v, "Added") for n, v in values]}
    empty = {"Name": "Vault", "Type": "Added", "Fields": [field("Role", "", "", "None")]}

    assert changes({"Type": "Edited", "Objects": [removed, added, empty]}) == (
        "constraint: removed (LTarget ${attr.kernel.name}, Operand =)",
        "constraint: added (LTarget ${attr.kernel.name}, Operand =)",
        "vault: added",
    )


@pytest.mark.parametrize(
    ("name", "kind", "word"),
    [
        ("Env[NFS_PASS]", "Edited", "changed"),
        ("Env[CLIENT_AUTH]", "Added", "added"),
        ("EmbeddedTmpl", "Edited", "changed"),
        ("Config[auth_token]", "Deleted", "removed"),
        ("Meta[api-secret]", "Edited", "changed"),
        ("config[0][password]", "Edited", "changed"),
    ],
)
def test_values_that_may_be_secret_are_not_shown(name, kind, word):
    """A plan ends in a log; that something changed is enough there."""
    [line] = changes(in_task(field(name, "hunter2", "hunter3", kind)))

    assert line == f"group controller > task plugin > {name}: {word}"


@pytest.mark.parametrize(
    ("name", "before", "after", "shown"),
    [
        ("Env[AWS_REGION]", "us-east-1", "us-west-2", "us-east-1 -> us-west-2"),
        ("Env[CSI_ENDPOINT]", "", "unix:///csi/csi.sock", "unset -> unix:///csi/csi.sock"),
        ("Env[DATABASE]", "postgres://user:hunter2@host/x", "postgres://host/x", "changed"),
        ("Env[OPTIONS]", "--verbose", "--password=hunter2", "changed"),
        ("Env[LINE]", "a" * 80, "b" * 81, f"{'a' * 80} -> {'b' * 80}..."),
    ],
)
def test_values_of_the_environment_are_shown_but_for_secrets(name, before, after, shown):
    """By the name of the variable, or the form of its value; the first 80 characters of a long one."""
    [line] = changes(in_task(field(name, before, after, "Edited")))

    assert line == f"group controller > task plugin > {name}: {shown}"


def test_secret_values_of_whole_objects_are_not_shown():
    """An added object names its secret fields only."""
    template = {
        "Name": "Template",
        "Type": "Added",
        "Fields": [field("DestPath", "", "local/x", "Added"), field("EmbeddedTmpl", "", "hunter2", "Added")],
    }

    assert changes(in_task(objects=[template])) == (
        "group controller > task plugin > template: added (DestPath local/x, EmbeddedTmpl)",
    )


def test_long_values_are_cut_and_on_one_line():
    """A change stays one line."""
    fields = [field("User", "a\n b", "x" * 100), field("args[0]", "a\n b", "x" * 100)]

    alone, item = changes(in_task(*fields))

    assert alone == "group controller > task plugin > User: a b -> " + "x" * 80 + "..."
    assert item == "group controller > task plugin > args: removed a b; added " + "x" * 80 + "..."


def items(name, old, new):
    """Return the fields by which Nomad tells of a list: place by place, the equal ones too."""
    count = max(len(old), len(new))
    for number, (before, after) in enumerate(zip([*old, *[""] * count], [*new, *[""] * count], strict=False)):
        if number < count:
            kind = "None" if before == after else "Added" if not before else "Deleted" if not after else "Edited"
            yield field(f"{name}[{number}]", before, after, kind)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (["a", "b", "c"], ["x", "a", "b", "c"], "added x"),
        (["a", "b", "c"], ["b", "c"], "removed a"),
        (["--driver", "ebs", "node"], ["--driver=ebs", "node"], "removed --driver, ebs; added --driver=ebs"),
        (["a", "a", "b"], ["a", "b"], "removed a"),
        (["a", "b"], ["b", "a"], "the same in another order"),
        (["--token=abc"], ["--token=ab==", "-v"], "removed --token=[secret]; added --token=[secret], -v"),
        (["--token", "abc"], ["--token", "abd", "-v"], "removed [secret]; added [secret], -v"),
        (["--token", "abc"], ["--tok", "abc", "x"], "removed --token; added --tok, x"),
        ([*"abcdefghi", "--token", "k"], [*"abcdefghi", "--token", "l"], "removed [secret]; added [secret]"),
        (["--token", "-v", "--token-file", "x"], ["-v"], "removed --token, --token-file, x"),
    ],
)
def test_items_of_a_list_are_told_by_what_they_are(old, new, told):
    """Their places say nothing: one more at the head moves them all."""
    config = {"Name": "Config", "Type": "Edited", "Fields": list(items("args", old, new))}

    assert changes(in_task(objects=[config])) == (f"group controller > task plugin > config.args: {told}",)


def test_equal_lists_and_secret_ones():
    """Nothing is told of the first, and no item of the second."""
    config = {
        "Name": "Config",
        "Type": "Edited",
        "Fields": [*items("args", ["a"], ["a"]), *items("auth_tokens", ["hunter2"], ["hunter3"])],
    }

    assert changes(in_task(objects=[config])) == ("group controller > task plugin > config.auth_tokens: changed",)


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ({"ConstraintFiltered": {"missing drivers": 1}}, "missing drivers (1 node)"),
        (
            {"ConstraintFiltered": {"a": 3, "${attr.platform.aws.placement.availability-zone} = eu-west-1a": 2}},
            "${attr.platform.aws.placement.availability-zone} = eu-west-1a (2 nodes), a (3 nodes)",
        ),
        (
            {"DimensionExhausted": {"memory": 2}, "ConstraintFiltered": {"small": 1}},
            "small (1 node), memory exhausted (2 nodes)",
        ),
        ({"NodesEvaluated": 0}, "no node to check"),
        ({"NodesEvaluated": 3, "ConstraintFiltered": None}, "no node fits"),
        (None, "no node to check"),
    ],
)
def test_group_without_a_place_says_why(metric, reason):
    """The scheduler's counts become a sentence."""
    assert failed({"FailedTGAllocs": {"g": metric}}) == {"g": reason}
