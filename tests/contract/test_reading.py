"""Every command that only reads, with a token that may only read, and in one namespace only."""

import contextlib
import json
import os

import pytest

from nomad_csi import cli
from nomad_csi.nomad import version_gates
from nomad_csi.volumes import secret_safety
from tests.contract import agents

SECRET = "secret"
READER = "reader"
RULES = """
namespace "default" { policy = "read" }
plugin { policy = "read" }
node { policy = "read" }
"""
SPEC = """
plugins: [{id: efs, driver: aws-efs, aws_region: us-east-1}]
volumes: [{id: mine, plugin_id: efs, existing: {external_id: fs-0123456789abcdef0}}]
"""


@contextlib.contextmanager
def _served(kind, environment):
    options = {"with_acl": True} if kind is agents.Real else {"token": agents.ROOT}
    with agents.started(kind, environment, **options) as agent:
        root = agent.call("POST", "/v1/acl/bootstrap")[1]["SecretID"] if kind is agents.Real else agents.ROOT
        agent.headers = {"X-Nomad-Token": root}
        yield agent, agent.make_token(root, READER, RULES)


def _in(namespace, hcl):
    """Return the job *hcl* in *namespace*."""
    first, rest = hcl.split("\n", 1)
    return f'{first}\n  namespace = "{namespace}"\n{rest}'


def _end(agent, job_id, namespace):
    """Purge a job, and wait until its tasks have ended."""
    agent.call("DELETE", f"/v1/job/{job_id}?namespace={namespace}&purge=true")
    ended = {"complete", "failed", "lost"}
    agent.until(
        lambda: agent.get(f"/v1/job/{job_id}/allocations?namespace={namespace}"),
        lambda found: {item["ClientStatus"] for item in found} <= ended,
    )


@contextlib.contextmanager
def _filled(agent, write_plugin, write_volume, write_consumer):
    """Let the agent have a plugin and a claimed volume in both namespaces."""
    agent.call("PUT", "/v1/namespace", {"Name": SECRET})
    words = ["--driver", "aws-efs", "--endpoint=${CSI_ENDPOINT}"]
    ran = []
    try:
        for plugin_id, namespace in (("efs", "default"), ("hidden", SECRET)):
            job_id = f"plugin-{plugin_id}"
            ran.append((job_id, namespace))
            agent.run(_in(namespace, write_plugin(agent, job_id, plugin_id, "node", words, kind="system")))
            agent.until(
                lambda path=f"/v1/plugin/csi/{plugin_id}": agent.call("GET", path)[1],
                lambda found: isinstance(found, dict) and found["NodesHealthy"],
            )
        for volume_id, namespace in (("mine", "default"), ("theirs", SECRET)):
            agent.register(write_volume(volume_id, Namespace=namespace), namespace=namespace)
            job_id = f"user-{volume_id}"
            ran.insert(0, (job_id, namespace))
            agent.run(_in(namespace, write_consumer(job_id, volume_id)))
            agent.until(
                lambda path=f"/v1/job/{job_id}/allocations?namespace={namespace}": agent.get(path),
                lambda found: [item["ClientStatus"] for item in found] == ["running"],
            )
        yield
    finally:
        for key in ran:
            _end(agent, *key)


@pytest.fixture(scope="module", params=["emulator", pytest.param("real", marks=pytest.mark.real_nomad)])
def reading(request, moto_url, plugin_writer, volume_writer, consumer_writer):
    """Return an agent, and a token that may read one of its namespaces."""
    if request.param == "real" and (why := agents.obstacle()):
        pytest.skip(why)
    kind = agents.Real if request.param == "real" else agents.Emulator
    environment = agents.task_environment(moto_url, "i-0")
    with (
        _served(kind, environment) as (agent, token),
        _filled(agent, plugin_writer, volume_writer, consumer_writer),
    ):
        yield agent, token


@pytest.fixture
def run(reading, monkeypatch, capsys, tmp_path):
    """Run a command as the reader: ``run("claims")``; return its exit code and what it wrote."""
    agent, token = reading
    for name in [name for name in os.environ if name.startswith("PULUMI")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NOMAD_ADDR", agent.url)
    monkeypatch.setenv("NOMAD_TOKEN", token)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "storage.yaml").write_text(SPEC)

    def command(*words):
        code = cli.main(list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


@pytest.fixture
def faults(reading):
    """Return the faults that the release has and this cluster can meet, by code: none is known of the newest."""
    found = {"servers", "clients"}
    version = reading[0].version
    return {fault.code: fault for side in found for fault in version_gates.met(side, version, {"secrets"})}


@pytest.fixture
def warned(reading, faults):
    """Return what a command that reads volumes writes to its second output: nothing, unless secrets can be erased."""
    if secret_safety.ERASES_SECRETS not in faults:
        return ""
    fault = faults[secret_safety.ERASES_SECRETS]
    return (
        f"warning: reading a volume can erase its secrets in Nomad (one.global with {reading[0].version}): "
        f"{fault.fix}; `nomad-csi explain {fault.code}` says more\n"
    )


def test_plan_compares_what_it_may_and_says_what_not(run, warned):
    """The volume is read, and so is who runs the plugin already: a job of another id."""
    code, out, err = run("plan", "storage.yaml")

    assert (code, err) == (1, warned)
    first, second = (line.split() for line in out.splitlines()[:2])
    assert (first, second[0]) == (["!", "job", "default/plugin-efs-nodes", "refused"], "job-conflict:")
    assert out.endswith("1 of 2 would change; 1 equal, not shown\n")


def test_doctor_names_the_job_that_it_could_not_read(run, faults):
    """The others are judged; besides, the faults of an older release are found."""
    code, out, err = run("doctor", "--no-aws", "--json", "-C", "/")

    found = json.loads(out)
    errors_of_nomad = {item["code"] for item in found["findings"] if item["severity"] == "error"}
    assert (code, err) == (1 if errors_of_nomad else 2, "")
    assert {item["code"] for item in found["findings"]} == {"token-cannot", *faults}
    assert {item["check"]: item["reason"] for item in found["not_checked"] if not item["is_expected"]} == {
        "how plugins are run by job secret/plugin-hidden": "GET /v1/job/plugin-hidden: status 403: Permission denied; "
        "the token needs read-job in namespace secret; or it is expired, deleted or of another cluster"
    }


def test_claims_shows_what_it_may_read_and_names_the_rest(run, warned):
    """Nomad's list has the claims of all namespaces."""
    code, out, err = run("claims", "--json")

    found = json.loads(out)
    assert (code, err) == (2, warned)
    assert [(item["namespace"], item["volume_id"]) for item in found["volumes"]] == [("default", "mine")]
    assert found["not_read"] == [
        {
            "namespace": SECRET,
            "volume_ids": ["theirs"],
            "reason": "GET /v1/volume/csi/theirs: status 403: Permission denied; the token needs csi-read-volume in "
            "namespace secret (or csi-mount-volume, read-job); or it is expired, deleted or of another cluster",
        }
    ]


@pytest.mark.parametrize(
    ("words", "code", "printed"),
    [
        ("snapshot list --plugin efs", 2, "plugin does not support listing snapshots"),
        ("verify storage.yaml --prometheus", 1, 'nomad_csi_volume_ok{namespace="default",volume_id="mine"'),
        ("claims --namespace default", 0, "1 claim: 0 errors, 0 warnings"),
        ("import --cluster --namespace default", 0, "- id: mine"),
        ("import --cluster --namespace secret", 2, "csi-list-volume in namespace secret"),
        ("claims --namespace secret", 2, "csi-list-volume in namespace secret"),
    ],
)
def test_reading_command_says_its_answer_or_what_lacks(run, words, code, printed):
    """None needs a stack, nor Pulumi."""
    found, out, err = run(*words.split())

    assert found == code, err
    assert printed in out + err


def test_socket_of_a_plugin_needs_no_token_at_all(run, reading):
    """Root on the client is enough."""
    [alloc] = reading[0].get("/v1/job/plugin-efs/allocations")
    path = f"{reading[0].data_dir}/client/csi/plugins/{alloc['ID']}/csi.sock"

    assert run("csi", "probe", path, "--json")[0] == 0
    code, out, _ = run("csi", "call", path, "GetPluginInfo")

    assert code == 0
    assert "efs.csi.aws.com" in out
