"""What an operator sets, as a real agent takes it: secrets, identity, constraints, restarts. The plugin is a script."""

import base64
import dataclasses
import json
import shutil
import stat
import subprocess
import sys

import pytest
import yaml

from nomad_csi import errors
from nomad_csi.hcl import documents
from nomad_csi.health import clients, constraints
from nomad_csi.nomad import jobs, request
from nomad_csi.plan import model, storage
from nomad_csi.spec import draft
from nomad_csi_sandbox.session import tasks
from tests import page_examples, plugin_samples
from tests.real import nomad_agents

pytestmark = [pytest.mark.real_nomad, pytest.mark.skipif(shutil.which("nomad") is None, reason="not on PATH: nomad")]

WAIT_S = 45.0
HOSTILE = "it's \"q\" \\ #no comment {{ .x }} ${HOME} %{ if }\n second: line\t<&>\u2028 caf\xe9 \U0001f389 '"
SECRETS = {"password": HOSTILE, "token": "to ken=#'", "api_key": "yes"}

TELLS = """\
#!{python}
import json, os, signal, sys
secrets = os.environ["NOMAD_SECRETS_DIR"]
files = {{}}
for name in os.listdir(secrets):
    path = os.path.join(secrets, name)
    if os.path.isfile(path) and name != ".nomad-mount":
        files[name] = open(path, "rb").read().decode()
out = os.environ["TEST_OUT"]
with open(out + ".new", "w") as file:
    json.dump({{"arguments": sys.argv[1:], "environment": dict(os.environ), "files": files}}, file)
os.rename(out + ".new", out)
signal.pause()
"""


class Script:
    """A plugin whose process is a script that writes what it was given."""

    def __init__(self, agent, folder, until):
        self.agent, self.until = agent, until
        self.path, self.out = folder / "plugin", folder / "given.json"
        self.write(TELLS.format(python=sys.executable))

    def write(self, text):
        self.path.write_text(text)
        self.path.chmod(stat.S_IRWXU)

    def plugin(self, name, role=None, driver=None, **settings):
        """Return the spec of a plugin called *name* with these settings of itself, its driver and its one role."""
        described = {
            "name": "script",
            "provider": "script.example.com",
            "roles": {"node": {"job_type": "system"} | (role or {})},
            "capabilities": [{"access_mode": "multi-node-multi-writer"}],
            "health_timeout_s": 3600,
        }
        task = {"name": "raw_exec", "command": str(self.path), "client_data_dir": str(self.agent.folder)}
        given = {"id": name, "driver": described | (driver or {}), "task_driver": task}
        return given | {"environment": {"TEST_OUT": str(self.out)}} | settings

    def run(self, plugin):
        """Run the job of *plugin*, from its rendered file, and return it."""
        [job] = storage.plan_document({"plugins": [plugin]}).plugins[0].jobs
        hcl = documents.job_file(job)
        parsed = jobs.parse(self.agent.client, hcl)
        assert nomad_agents.problems(self.agent.client, parsed) == []
        jobs.register(self.agent.client, parsed, source=hcl, enforce_index=None)
        return job

    def given(self):
        """Return what the script was given, once it has run."""
        self.until(self.out.exists, WAIT_S, "the script has run")
        return json.loads(self.out.read_text())

    def allocations(self, job):
        return jobs.allocations(self.agent.client, "default", job.job_id)


@pytest.fixture
def script(agent, tmp_path, until):
    made = Script(agent, tmp_path, until)
    yield made
    tasks.end_all(agent.client)


@pytest.fixture
def variable(agent):
    """Write a Nomad variable."""
    written = []

    def write(path, items):
        written.append(path)
        body = {"Namespace": "default", "Path": path, "Items": items}
        agent.client.request("PUT", request.path_of("var", *path.split("/")), body=body)

    yield write
    for path in written:
        agent.client.request("DELETE", request.path_of("var", *path.split("/")))


def test_secrets_of_a_nomad_variable_arrive_unchanged(script, variable):
    """As environment, as argument, as file and inside a YAML file: whatever characters they hold."""
    variable("nomad/jobs/plugin-secret-nodes", SECRETS)
    role = {
        "arguments": ["--config={config_file}", "--token=${TOKEN}", "--password=${PASSWORD}"],
        "secret_environment": {"PASSWORD": "password", "TOKEN": "token"},
        "secret_files": {"key.json": "password"},
    }
    config = {
        "driver": "none",
        "httpConnection": {"password": {"from_secret": "password"}, "apiKey": {"from_secret": "api_key"}, "port": 443},
        "list": [{"token": {"from_secret": "token"}}, "1e3", "0o17", "on", "two\nlines # one", "k: v", ""],
    }
    credentials = {"nomad_variable": "nomad/jobs/plugin-secret-nodes"}

    job = script.run(
        script.plugin("secret", role, {"config_file": {"name": "driver.yaml"}}, config=config, credentials=credentials)
    )
    given = script.given()

    place = given["environment"]["NOMAD_SECRETS_DIR"]
    assert given["arguments"] == [
        f"--config={place}/driver.yaml",
        f"--token={SECRETS['token']}",
        f"--password={HOSTILE}",
    ]
    assert (given["environment"]["PASSWORD"], given["environment"]["TOKEN"]) == (HOSTILE, SECRETS["token"])
    assert given["files"]["key.json"] == HOSTILE
    assert yaml.safe_load(given["files"]["driver.yaml"]) == {
        "driver": "none",
        "httpConnection": {"password": HOSTILE, "apiKey": "yes", "port": 443},
        "list": [{"token": SECRETS["token"]}, "1e3", "0o17", "on", "two\nlines # one", "k: v", ""],
    }
    assert sorted(given["files"]) == ["credentials.env", "driver.yaml", "key.json"]
    stored = jobs.source(script.agent.client, "default", job.job_id, 0)
    assert not [value for value in SECRETS.values() if value != "yes" and value in stored]


def test_running_task_survives_that_its_item_is_removed(script, variable):
    """Whoever writes the variable again without an item ends no plugin, and empties no password."""
    role = {"secret_environment": {"PASSWORD": "password"}, "secret_files": {"key": "key"}}
    path = "nomad/jobs/plugin-stays-nodes"
    variable(path, {"password": "first", "key": "k1"})
    job = script.run(script.plugin("stays", role, credentials={"nomad_variable": path}))
    assert script.given()["environment"]["PASSWORD"] == "first"

    script.out.unlink()
    variable(path, {"key": "k2"})

    given = script.given()
    assert (given["environment"]["PASSWORD"], given["files"]["key"]) == ("first", "k2")
    [allocation] = script.allocations(job)
    assert allocation.client_status in ("pending", "running")  # said with a delay while it restarts
    script.out.unlink()
    variable(path, {"password": "second", "key": "k2"})
    assert script.given()["environment"]["PASSWORD"] == "second"


def test_workload_identity_is_a_file_for_the_audience(script):
    """AWS's tools find the token, which is meant for AWS and for this task."""
    role = {
        "environment": {"AWS_REGION": "{aws_region}"},
        "secret_environment": {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"},
    }
    arn = "arn:aws:iam::123456789012:role/nomad-csi"

    script.run(
        script.plugin("oidc", role, aws_region="us-east-1", credentials={"workload_identity": {"role_arn": arn}})
    )
    given = script.given()

    environment = given["environment"]
    assert environment["AWS_ROLE_ARN"] == arn
    assert environment["AWS_WEB_IDENTITY_TOKEN_FILE"] == f"{environment['NOMAD_SECRETS_DIR']}/nomad_aws.jwt"
    assert sorted(given["files"]) == ["nomad_aws.jwt"]
    claims = given["files"]["nomad_aws.jwt"].split(".")[1]
    read = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    assert read["aud"] == "sts.amazonaws.com"
    assert read["nomad_job_id"] == "plugin-oidc-nodes"
    assert read["exp"] - read["iat"] == 3600
    assert "AWS_ACCESS_KEY_ID" not in environment


def test_vault_is_asked_for_in_words_that_nomad_takes(script):
    """An agent without Vault refuses such a job for that reason alone."""
    role = {"secret_environment": {"PASSWORD": "password"}}
    credentials = {"vault": {"path": "secret/data/x", "role": "plugin"}}
    [job] = storage.plan_document({"plugins": [script.plugin("vault", role, credentials=credentials)]}).plugins[0].jobs

    parsed = jobs.parse(script.agent.client, documents.job_file(job))

    task = parsed["TaskGroups"][0]["Tasks"][0]
    assert {name: task["Vault"][name] for name in ("Role", "Env", "DisableFile")} == {
        "Role": "plugin",
        "Env": False,
        "DisableFile": True,
    }
    with pytest.raises(errors.NomadApiError, match=r'Vault "default" not enabled but used in the job'):
        jobs.register(script.agent.client, parsed, source="", enforce_index=None)


CONSTRAINTS = [
    ("${attr.kernel.name}", "=", "linux"),
    ("${attr.kernel.name}", "=", "darwin"),
    ("${attr.kernel.name}", "!=", "linux"),
    ("${meta.absent}", "!=", "x"),
    ("${meta.absent}", "=", "x"),
    ("${meta.absent}", "is_set", ""),
    ("${meta.absent}", "is_not_set", ""),
    ("${attr.kernel.name}", "is_set", ""),
    ("${attr.cpu.numcores}", ">", "1"),
    ("${attr.cpu.numcores}", ">=", "1000"),
    ("${attr.cpu.numcores}", "<", "1e9"),
    ("${attr.kernel.name}", "<", "m"),
    ("${attr.kernel.name}", "<=", "1"),
    ("${attr.kernel.name}", "regexp", "^l.*x$"),
    ("${attr.kernel.name}", "regexp", "w"),
    ("${attr.nomad.version}", "version", ">= 1.0"),
    ("${attr.nomad.version}", "version", ">= 2.0.6-a, < 2.0.7"),
    ("${attr.nomad.version}", "version", ">= 2.0.6-a"),
    ("${attr.nomad.version}", "version", "~> 2.0.6-a"),
    ("${attr.nomad.version}", "version", "!= 2.0.6"),
    ("${attr.nomad.version}", "semver", ">= 1.0.0"),
    ("${attr.nomad.version}", "semver", ">= 2.0.6"),
    ("${attr.nomad.version}", "semver", "< 2.0.6"),
    ("${attr.kernel.name}", "version", ">= 1.0"),
    ("${attr.os.signals}", "set_contains", "SIGHUP, SIGINT"),
    ("${attr.os.signals}", "set_contains", "SIGHUP,SIGNONE"),
    ("${attr.os.signals}", "set_contains_any", "SIGHUP,SIGNONE"),
    ("${node.class}", "=", "x"),
    ("${node.class}", "!=", "x"),
    ("${node.pool}", "=", "default"),
    ("${node.datacenter}", "regexp", "dc"),
    ("${attr.platform.aws.placement.availability-zone}", "=", "us-east-1a"),
]


@pytest.mark.parametrize("item", CONSTRAINTS, ids=" ".join)
def test_constraint_holds_where_nomad_says_so(script, item):
    """Nomad's own plan of the job and our count of eligible clients agree on each operator."""
    attribute, operator, value = item
    plugin = script.plugin("placed", constraints=[{"attribute": attribute, "operator": operator, "value": value}])
    [job] = storage.plan_document({"plugins": [plugin]}).plugins[0].jobs
    parsed = jobs.parse(script.agent.client, documents.job_file(job))

    path = request.path_of("job", job.job_id, "plan")
    planned = script.agent.client.request("PUT", path, body={"Job": parsed, "Diff": False}).data
    wanted = model.Constraint(attribute=attribute, operator=operator, value=value)
    placement = dataclasses.replace(plugin_samples.EXPECTATION, constraints=(wanted,), task_driver="")
    [client] = clients.ClientCache(script.agent.client).read_clients([placement])

    assert constraints.holds(wanted, client) is (planned["Annotations"]["DesiredTGUpdates"]["nodes"]["Place"] == 1)


LACKING = ('is in nonexistent namespace "storage"', 'Vault "default" not enabled but used in the job')
"""What the examples ask for and this agent has not."""


@pytest.mark.parametrize("title", page_examples.EXAMPLES)
def test_every_example_of_the_documentation_is_valid_and_laid_out(script, tmp_path, title):
    """The agent finds nothing wrong with its jobs, and `nomad fmt` nothing to change."""
    for plan in storage.plan_document(draft.read_yaml(page_examples.EXAMPLES[title], title)).plugins:
        for job in plan.jobs:
            text = documents.job_file(job)
            (tmp_path / f"{job.job_id}.nomad.hcl").write_text(text)
            found = nomad_agents.problems(script.agent.client, jobs.parse(script.agent.client, text))
            assert [problem for problem in found if not problem.endswith(LACKING)] == []

    assert subprocess.run(["nomad", "fmt", "-check", tmp_path], check=False).returncode == 0
