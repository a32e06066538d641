"""Secrets reach a task by templates that name them; nothing secret stands in a job's document or file."""

import pytest
import yaml

from nomad_csi import errors
from nomad_csi.plan import storage, task_secrets
from nomad_csi.plan.model import Constraint
from nomad_csi.render import documents
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
    assert task_secrets.config_file(None, {"key": text}, "j") == f"key: {text}"


def test_text_that_looks_like_our_mark_stays_text():
    """No text of the operator is taken for a secret."""
    config = {"a": "from-secret-0-0-", "b": {"from_secret": "pw"}, "c": "from-secret-1-0-"}

    text = task_secrets.config_file(VARIABLE, config, "j")

    assert [line for line in text.splitlines() if line[:2] in ("a:", "b:", "c:")] == [
        "a: from-secret-0-0-",
        "b: {{ .pw.Value | toJSON }}",
        "c: from-secret-1-0-",
    ]


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
EVALUATED = "text without {{ }} ${ %{: Nomad's templates would evaluate it, got [not shown]"
TO_VAULT = "put the value into a Nomad variable or Vault, and name it under credentials"


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ({}, "config.driver: expected a value: own does not start without, got nothing"),
        ({"driver": "c"}, "config.driver: expected one of a, b, got 'c'"),
        ({"driver": "a", "x": "{{ env }}"}, f"config.x: expected {EVALUATED}"),
        ({"driver": "a", "x": ["${y}"]}, f"config.x[0]: expected {EVALUATED}"),
        ({"driver": "a", "x": "a\x01"}, "config.x: expected text without control characters, got [not shown]"),
        ({"driver": "a", "login": {"password": "p"}}, f"config.login.password: expected {{from_secret: ITEM}}: what stands here would stand in the job file, got [not shown]; {TO_VAULT}"),
        ({"driver": "a", "password": ["p"]}, f"config.password[0]: expected {{from_secret: ITEM}}: what stands here would stand in the job file, got [not shown]; {TO_VAULT}"),
        ({"driver": "a", "apiKey": "p"}, f"config.apiKey: expected {{from_secret: ITEM}}: what stands here would stand in the job file, got [not shown]; {TO_VAULT}"),
        ({"driver": "a", "x": {"from_secret": "a", "b": 1}}, "config.x: expected {from_secret: ITEM} and nothing beside it, got [not shown]"),
        ({"driver": "a", "x": {"from_secret": 1}}, "config.x: expected {from_secret: ITEM} and nothing beside it, got [not shown]"),
        ({"driver": "a", "x": {"from_secret": "a-b"}}, "config.x.from_secret: expected an item name of letters, digits and '_', as Nomad's templates require after a dot, got 'a-b'"),
    ],
)  # fmt: skip
def test_config_that_would_fail_or_give_a_secret_away_is_refused(config, line):
    """Where, and what to do; never the value."""
    given = {"config": config, "driver": FILE, "aws_region": None}
    asks = [value for value in config.values() if isinstance(value, dict) and list(value) == ["from_secret"]]

    assert problems(**given, **(CREDENTIALS if asks else {})) == [f"plugins[0].{line}"]


def test_secret_of_config_needs_credentials():
    """It must come from somewhere."""
    config = {"driver": "a", "x": {"from_secret": "pw"}}

    assert problems(driver=FILE, aws_region=None, config=config) == [
        "plugins[0].credentials: expected where the secrets come from: nomad_variable or vault, got nothing; add credentials"
    ]


@pytest.mark.parametrize(
    ("plugin", "line"),
    [
        ({"driver": "aws-efs", **CREDENTIALS}, "credentials: expected none: aws-efs takes no credentials here, got some; remove it"),
        ({"iam": {"role_name": "r"}, **CREDENTIALS}, "iam: expected iam, for the clients' instance role, or credentials, not both, got both"),
        ({"credentials": {"nomad_variable": "a", "vault": {"path": "b"}}}, "credentials: expected exactly one of nomad_variable, vault, workload_identity, got nomad_variable and vault"),
        ({"credentials": {"vault": {"path": "a{{b"}}}, f"credentials.vault.path: expected {EVALUATED}"),
        ({"credentials": {"vault": {"path": "a", "role": "${b}"}}}, "credentials.vault.role: expected text without ${ or %{: Nomad would evaluate it, twice, got '${b}'; write the value itself"),
        ({"credentials": {"workload_identity": {"role_arn": "x"}}}, "credentials.workload_identity.role_arn: expected the ARN of an IAM role such as arn:aws:iam::123456789012:role/nomad-csi, got 'x'"),
        ({"config": {"x": 1}}, "config.x: expected none: aws-ebs has no configuration of its own, got an unknown key; remove it"),
    ],
)  # fmt: skip
def test_credentials_that_cannot_be_are_refused(plugin, line):
    """Each with its place."""
    assert problems(**plugin) == [f"plugins[0].{line}"]


NFS = {"id": "p", "driver": "csi-driver-nfs"}
MEDIA = {
    "id": "v",
    "plugin_id": "p",
    "existing": {"external_id": "nas#e/m"},
    "context": {"server": "nas", "share": "/e"},
}
IN_FILE = "no secret: this value is written into the volume file, and Nomad shows it, got [not shown]; hand it over in `secrets`"
CLEAR_FLAG = (
    "no secret in clear: this value is written into the volume file, got [not shown]; "
    "encrypt it in the stack's config, or hand it over in `secrets`"
)
IN_JOB = f"no secret: what stands here would stand in the job file, got [not shown]; {TO_VAULT}"


@pytest.mark.parametrize(
    ("plugin", "volume", "line"),
    [
        ({}, {"mount_options": {"mount_flags": ["ro", "username=u,password=hunter2"]}}, f"volumes[0].mount_options.mount_flags[1]: expected {CLEAR_FLAG}"),
        ({}, {"parameters": {"csi.storage.k8s.io/pw": "hunter2"}}, f"volumes[0].parameters.csi.storage.k8s.io/pw: expected {IN_FILE}"),
        ({}, {"context": MEDIA["context"] | {"dsn": "postgres://u:hunter2@h/db"}}, f"volumes[0].context.dsn: expected {IN_FILE}"),
        ({"environment": {"CONNECTION": "postgres://u:hunter2@h/db"}}, {}, f"plugins[0].environment.CONNECTION: expected {IN_JOB}"),
        ({"extra_arguments": {"node": ["--dsn=postgres://u:hunter2@h/db"]}}, {}, "plugins[0].extra_arguments.node[0]: expected no secret in an argument: it would stand in the job file, and in ps on the clients, got --dsn and a value that is not shown; use credentials"),
    ],
)  # fmt: skip
def test_secret_in_clear_where_a_file_would_hold_it_is_refused(plugin, volume, line):
    """By the same rules by which an import or a lint rule knows it; the value is not shown."""
    with pytest.raises(errors.SpecError) as raised:
        storage.plan_document({"plugins": [NFS | plugin], "volumes": [MEDIA | volume]})

    assert line in [str(problem) for problem in raised.value.problems]
    assert "hunter2" not in str(raised.value)


OWN_DRIVER = {
    "name": "own",
    "provider": "own.example.com",
    "image": "registry.example.com/own:1",
    "capabilities": [{"access_mode": "single-node-writer"}],
}


@pytest.mark.parametrize(
    ("role", "settings", "config", "where"),
    [
        ({"arguments": ["--a", "--token=hunter2"]}, {}, {}, "driver.roles.node.arguments[1]"),
        ({"arguments": ["--token", "hunter2"]}, {}, {}, "driver.roles.node.arguments[1]"),
        ({"environment": {"DB_PASSWORD": "hunter2"}}, {}, {}, "driver.roles.node.environment.DB_PASSWORD"),
        ({"credentials_environment": {"DSN": "postgres://u:hunter2@h/db"}}, {}, {}, "driver.roles.node.credentials_environment.DSN"),
        ({}, {"token": {"text": "the token", "default": "hunter2"}}, {}, "driver.settings.token.default"),
        ({"arguments": ["--token={token}"]}, {"token": {"text": "the token"}}, {"token": "hunter2"}, "config.token"),
    ],
)  # fmt: skip
def test_secret_in_clear_in_an_own_driver_is_refused(role, settings, config, where):
    """It would stand in the job file as in a plugin's own keys."""
    driver = OWN_DRIVER | {"settings": settings, "roles": {"node": {"job_type": "system"} | role}}

    found = problems(driver=driver, aws_region=None, config=config)

    assert found == [f"plugins[0].{where}: expected {IN_JOB}"]


def test_own_driver_takes_a_secret_by_the_name_of_its_place():
    """A variable that Nomad fills in, a file of the task, a placeholder."""
    role = {
        "job_type": "system",
        "arguments": ["--token=${OWN_TOKEN}", "--password-file=/secrets/pw", "--token-ttl={ttl}", "--api-key={ttl}"],
        "environment": {"TOKEN_FILE": "/secrets/token"},
        "secret_environment": {"OWN_TOKEN": "token"},
    }
    settings = {"ttl": {"text": "seconds", "default": "60"}}
    driver = OWN_DRIVER | {"settings": settings, "roles": {"node": role}}

    assert problems(driver=driver, aws_region=None, credentials={"nomad_variable": "nomad/jobs/x"}) == []


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


@pytest.mark.parametrize("field", ["secret_environment", "secret_files"])
def test_item_of_an_own_driver_is_named_in_its_template(field):
    """A name of the right form works as before."""
    driver = FILE | {"roles": {"node": FILE["roles"]["node"] | {field: {"TOKEN": "api_Token1"}}}}

    job = jobs(driver=driver, aws_region=None, config={"driver": "a"}, **CREDENTIALS)["node"]

    assert any("{{ .api_Token1.Value" in template.data for template in job.templates)
