"""Secrets reach a task by templates that name them; nothing secret stands in a job's document or file."""

import pytest
import yaml

from nomad_csi import errors
from nomad_csi.hcl import documents
from nomad_csi.plan import storage, task_secrets
from nomad_csi.plan.model import Constraint
from nomad_csi.spec import model as spec

VARIABLE = spec.CredentialsSpec(nomad_variable="nomad/jobs/x")
VAULT = spec.CredentialsSpec(vault=spec.VaultSpec(path="secret/data/x y"))
EBS = {"id": "ebs", "driver": "aws-ebs", "aws_region": "us-east-1"}
FILE = {
    "name": "own",
    "provider": "own.example.com",
    "image": "registry.example.com/own:1",
    "roles": {"node": {"job_type": "system", "arguments": ["--config={config_file}"]}},
    "capabilities": [{"access_mode": "single-node-writer"}],
    "config_file": {"name": "own.yaml", "required": ["driver"], "values": {"driver": ["a", "b"]}},
}


def jobs(**plugin):
    [plan] = storage.plan_document({"plugins": [EBS | plugin]}).plugins
    return {job.role: job for job in plan.jobs}


def expectation(**plugin):
    [plan] = storage.plan_document({"plugins": [EBS | plugin]}).plugins
    return plan.expectation


def problems(**plugin):
    try:
        jobs(**plugin)
    except errors.SpecError as error:
        return [str(problem) for problem in error.problems]
    return []


def test_items_of_a_nomad_variable_become_environment():
    """Each line is written as JSON, and held back while its item is missing."""
    assert task_secrets.template_data(VARIABLE, {"USER": "name", "PASSWORD": "password"}, "job-1") == (
        '{{ with nomadVar "nomad/jobs/x" -}}\n'
        '{{ if not .name.Value }}{{ nomadVar "nomad/jobs/job-1/missing/name" }}{{ end -}}\n'
        '{{ if not .password.Value }}{{ nomadVar "nomad/jobs/job-1/missing/password" }}{{ end -}}\n'
        "PASSWORD={{ .password.Value | toJSON }}\n"
        "USER={{ .name.Value | toJSON }}\n"
        "{{- end }}"
    )


def test_items_of_vault_are_those_of_a_version_2_store():
    """They stand one level further down."""
    assert task_secrets.template_data(VAULT, {"USER": "name"}, "job-1") == (
        '{{ with secret "secret/data/x y" -}}\n'
        '{{ if not .Data.data.name }}{{ nomadVar "nomad/jobs/job-1/missing/name" }}{{ end -}}\n'
        "USER={{ .Data.data.name | toJSON }}\n"
        "{{- end }}"
    )


def test_file_of_one_item_ends_where_the_item_ends():
    """A key with a newline behind it is another key to some programs."""
    assert task_secrets.one_item(VARIABLE, "key", "job-1") == (
        '{{ with nomadVar "nomad/jobs/x" -}}\n'
        '{{ if not .key.Value }}{{ nomadVar "nomad/jobs/job-1/missing/key" }}{{ end -}}\n'
        "{{ .key.Value }}\n"
        "{{- end -}}"
    )


def test_config_is_sorted_yaml_with_expressions_for_secrets():
    """Two secrets, one of them twice, in a mapping and in a list."""
    config = {
        "b": {"pw": {"from_secret": "pw"}},
        "a": [{"from_secret": "key"}, {"from_secret": "pw"}],
        "p": 443,
        "t": True,
    }

    assert task_secrets.config_file(VARIABLE, config, "job-1") == (
        '{{ with nomadVar "nomad/jobs/x" -}}\n'
        '{{ if not .key.Value }}{{ nomadVar "nomad/jobs/job-1/missing/key" }}{{ end -}}\n'
        '{{ if not .pw.Value }}{{ nomadVar "nomad/jobs/job-1/missing/pw" }}{{ end -}}\n'
        "a:\n"
        "- {{ .key.Value | toJSON }}\n"
        "- {{ .pw.Value | toJSON }}\n"
        "b:\n"
        "  pw: {{ .pw.Value | toJSON }}\n"
        "p: 443\n"
        "t: true\n"
        "{{- end }}"
    )


def test_config_does_not_depend_on_the_order_of_its_keys():
    """The same file, so no plugin restarts for it."""
    one = {"a": {"from_secret": "x"}, "b": {"from_secret": "y"}}
    other = {"b": {"from_secret": "y"}, "a": {"from_secret": "x"}}

    assert task_secrets.config_file(VARIABLE, one, "j") == task_secrets.config_file(VARIABLE, other, "j")


@pytest.mark.parametrize(
    "text",
    ["1e3", "0o17", "0x1F", "12:30", "on", "y", "No", "~", "null", "", " a", "a: b", "- a", "# a", "a\nb\tc", "é", "@a", "1.0", ".5"],
)  # fmt: skip
def test_text_of_config_is_text_to_every_reader_of_yaml(text):
    """What YAML 1.1 and 1.2 read differently is quoted; here it is read back by 1.1, and seen to be quoted for 1.2."""
    written = task_secrets.config_file(None, {"key": text}, "j")

    assert yaml.safe_load(written) == {"key": text}
    assert written.startswith(('key: "', "key: '"))


@pytest.mark.parametrize("text", ["nfs", "/pool/x-1", "nas.example.com", "zfs-generic-nfs"])
def test_ordinary_text_of_config_stands_bare(text):
    """Names, hosts and paths read as people write them."""
    for source in (None, VARIABLE):
        assert task_secrets.config_file(source, {"key": text}, "j") == f"key: {text}"


def test_credentials_go_to_the_role_that_takes_them():
    """EBS's controller calls AWS; its nodes do not."""
    given = jobs(credentials={"nomad_variable": "nomad/jobs"})

    [template] = given["controller"].templates
    assert (template.file_name, template.is_environment) == ("credentials.env", True)
    assert template.data == task_secrets.template_data(
        spec.CredentialsSpec(nomad_variable="nomad/jobs"),
        {"AWS_ACCESS_KEY_ID": "access_key_id", "AWS_SECRET_ACCESS_KEY": "secret_access_key"},
        "plugin-ebs-controller",
    )
    assert given["controller"].secret_variables == ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    assert (given["node"].templates, given["node"].secret_variables) == ((), ())


def test_vault_is_used_by_the_jobs_that_need_it_only():
    """A node job that needs no secret must not be kept from clients without Vault."""
    given = jobs(credentials={"vault": {"path": "secret/data/x", "role": "csi"}})

    assert (given["controller"].vault_role, given["node"].vault_role) == ("csi", None)
    of_files = jobs(driver="gce-pd", aws_region=None, credentials={"vault": {"path": "secret/data/x"}})
    assert (of_files["controller"].vault_role, of_files["node"].vault_role) == ("", None)
    config = {"driver": "freenas-api-nfs", "password": {"from_secret": "password"}}
    of_config = jobs(driver="democratic-csi", aws_region=None, config=config, credentials={"vault": {"path": "x"}})
    assert (of_config["controller"].vault_role, of_config["node"].vault_role) == ("", "")
    text = documents.job_file(given["controller"])
    assert (
        '      vault {\n        role         = "csi"\n        env          = false\n        disable_file = true\n'
        in text
    )


def test_clients_without_vault_are_not_counted_where_nodes_need_it():
    """Nomad adds the constraint by itself, so the count of clients has it too."""
    vault = Constraint(attribute="${attr.vault.version}", operator="semver", value=">= 0.6.1")

    assert expectation(credentials={"vault": {"path": "secret/data/x"}}).constraints == ()
    assert expectation(registry_credentials={"vault": {"path": "secret/data/x"}}).constraints == (vault,)


def test_workload_identity_is_exchanged_for_a_role():
    """A token in a file, and the two variables by which AWS's SDKs find it; no key anywhere."""
    arn = "arn:aws:iam::123456789012:role/nomad-csi"
    given = jobs(credentials={"workload_identity": {"role_arn": arn, "audience": "example"}})

    controller = given["controller"]
    assert (controller.templates, controller.secret_variables, controller.identity_audience) == ((), (), "example")
    assert controller.environment == {
        "AWS_REGION": "us-east-1",
        "AWS_ROLE_ARN": arn,
        "AWS_WEB_IDENTITY_TOKEN_FILE": "${NOMAD_SECRETS_DIR}/nomad_aws.jwt",
    }
    assert (given["node"].identity_audience, given["node"].environment) == ("", {"AWS_REGION": "us-east-1"})
    text = documents.job_file(controller)
    assert (
        '      identity {\n        name = "aws"\n        aud  = ["example"]\n        file = true\n        ttl  = "1h"\n      }\n'
        in text
    )


def test_config_of_a_driver_becomes_its_file():
    """It stands in the secrets directory, and the driver is told where."""
    config = {"driver": "a", "password": {"from_secret": "pw"}}
    job = jobs(driver=FILE, aws_region=None, config=config, credentials={"nomad_variable": "nomad/jobs"})["node"]

    assert job.arguments == ("--config=${NOMAD_SECRETS_DIR}/own.yaml",)
    [template] = job.templates
    assert (template.file_name, template.is_environment) == ("own.yaml", False)
    assert "password: {{ .pw.Value | toJSON }}\n" in template.data
    assert template.data in documents.job_file(job)


CREDENTIALS = {"credentials": {"nomad_variable": "nomad/jobs"}}


HOSTILE_ITEMS = [
    '{{ file "/etc/shadow" }}',
    'a.Value }}{{ with secret "secret/data/other-team" }}{{ .Data.data.x',
    "a }}{{ b",
    "a-b",
    "a.b",
    "a b",
    "1a",
    "",
    'a" | toJSON }}',
    "a\n",
]


@pytest.mark.parametrize("item", HOSTILE_ITEMS)
@pytest.mark.parametrize("field", ["secret_environment", "secret_files"])
def test_item_of_an_own_driver_carries_no_template_text(field, item):
    """It stands in a template that Nomad's client evaluates: names follow the rule of `from_secret`."""
    driver = FILE | {"roles": {"node": FILE["roles"]["node"] | {field: {"TOKEN": item}}}}

    [problem] = problems(driver=driver, aws_region=None, config={"driver": "a"}, **CREDENTIALS)

    assert problem.startswith(
        f"plugins[0].driver.roles.node.{field}.TOKEN: expected an item name of letters, digits and '_'"
    )
