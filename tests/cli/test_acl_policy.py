"""``nomad-csi acl-policy``: which namespaces the policy is for, and what it has."""

import pytest

from nomad_csi import cli
from nomad_csi.nomad import permissions

SPEC = """\
plugins:
  - {id: efs, driver: aws-efs, aws_region: us-east-1, namespace: storage}
  - {id: ebs, driver: aws-ebs, aws_region: us-east-1, namespace: infra}
volumes:
  - {id: a, namespace: shop, plugin_id: efs, existing: {external_id: "fs-0123456789abcdef0:/a"}}
"""


@pytest.fixture
def run(capsys):
    """Run the command; return exit code, output and error output."""

    def invoke(*words):
        code = cli.main(["acl-policy", *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return invoke


def test_spec_names_the_namespaces_of_jobs_and_volumes(run, tmp_path):
    """Rights for jobs where the jobs are, those for volumes where the volumes are, the cluster's id in ``default``."""
    (tmp_path / "storage.yaml").write_text(SPEC)

    code, out, _ = run("up", "--spec", str(tmp_path / "storage.yaml"))

    blocks = {block.split('"')[1]: block for block in out.split("\n\nn") if "amespace" in block}
    assert (code, list(blocks)) == (0, ["default", "infra", "shop", "storage"])
    assert "csi-register-plugin" in blocks["storage"]
    assert "csi-write-volume" not in blocks["storage"]
    assert "csi-write-volume" in blocks["shop"]
    assert "submit-job" not in blocks["shop"]
    assert blocks["default"].count("capabilities") == 1


def test_policy_of_commands_in_several_namespaces(run):
    """Each has the rights; the commands are named first, as they were typed."""
    assert run("snapshot list", "claims", "snapshot list", "--namespace", "a", "--namespace", "b") == (
        0,
        "# for snapshot list, claims\n"
        'namespace "a" {\n  capabilities = ["csi-list-volume", "read-job"]\n}\n\n'
        'namespace "b" {\n  capabilities = ["csi-list-volume", "read-job"]\n}\n\n'
        'node {\n  policy = "read"\n}\n\nplugin {\n  policy = "read"\n}\n',
        "",
    )
    code, out, _ = run()
    assert (code, out.splitlines()[0]) == (0, "# for every command of nomad-csi, and for Pulumi")
    assert out.count("\n# ") == sum(bool(rights.remark) for rights in permissions.table().commands.values())


def test_default_namespace_has_the_rights_of_its_volumes_and_of_the_id():
    """The id of the cluster needs fewer of them than what is recorded there of volumes."""
    policy = permissions.least_policy(["destroy"], jobs=["default"], volumes=["default"])
    assert policy.variables == {"default": {"read", "write", "destroy"}}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["render"], "COMMAND: 'render' is not one of 'apply FILE', 'plan', 'apply', "),
        (["claims", "--spec", "a", "--namespace", "b"], "--namespace and --spec exclude each other"),
    ],
)
def test_wrong_words_are_refused(run, words, message):
    """Nothing is printed that could be applied."""
    code, out, err = run(*words)

    assert (code, out) == (64, "")
    assert message in err


def test_every_command_that_asks_nomad_has_rights():
    """What is typed begins with a command of this package, or is one of Pulumi's; its calls are known."""
    of_others = {"up", "preview", "refresh", "destroy", "job"}
    offline = {
        "init",
        "check",
        "render",
        "snippet",
        "explain",
        "completion",
        "version",
        "plugin",
        "schema",
        "eject",
        "drivers",
        "sandbox",
    } | {"acl-policy"}

    assert {name.split()[0] for name in permissions.table().commands} - of_others == cli.COMMANDS.keys() - offline
    for rights in permissions.table().commands.values():
        assert {*rights.jobs, *rights.volumes, *rights.cluster, *rights.identity} <= permissions.table().calls.keys()
