"""From plugin jobs to a plugin of a spec: what is carried over, and what is said of the rest."""

import pytest

from nomad_csi.plan import storage

JOB = """job "j" {{
  {job}
  group "g" {{
    {group}
    task "t" {{
      {task}
      driver = "{driver}"
      config {{
        {config}
        args = [{args}]
      }}
      csi_plugin {{
        id   = "{id}"
        type = "{type}"
        {plugin}
      }}
    }}
  }}
}}
"""
BLANK = {"job": "", "group": "", "task": "", "driver": "docker", "config": "", "args": "", "plugin": ""}
UNSAID = {"priority": 50, "health_timeout_s": 30, "resources": {"memory_mib": 300}}
"""Nomad's defaults, as far as a spec has others."""

EBS_IMAGE = 'image = "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0"'
EFS_IMAGE = 'image = "public.ecr.aws/efs-csi-driver/amazon/aws-efs-csi-driver:v3.4.1"'


def ebs(kind="node", **parts):
    return JOB.format(**BLANK | {"id": "aws-ebs0", "type": kind, "config": EBS_IMAGE} | parts)


def efs(**parts):
    return JOB.format(**BLANK | {"id": "aws-efs0", "type": "node", "config": EFS_IMAGE} | parts)


def plugin_of(adoption):
    [plugin] = adoption.document["plugins"]
    return plugin


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ebs(job='priority = 90\n  namespace = "storage"\n  node_pool = "disks"\n  region = "eu"'), {"priority": 90, "namespace": "storage", "node_pool": "disks", "nomad_region": "eu"}),
        (ebs(job='namespace = "default"\n  node_pool = "default"'), {}),
        (ebs(args='"node", "-v=5"'), {"log_verbosity": 5}),
        (ebs(args='"node", "--v=4", "--legacy-xfs=true", "--reserved-volume-attachments", "2"'), {"log_verbosity": 4, "extra_arguments": {"node": ["--legacy-xfs=true", "--reserved-volume-attachments=2"]}}),
        (ebs(task='env {\n AWS_REGION = "eu-west-1"\n GODEBUG = "fips140=on"\n }'), {"aws_region": "eu-west-1", "environment": {"GODEBUG": "fips140=on"}}),
        (ebs(task="resources {\n cpu = 50\n memory_max = 512\n }"), {"resources": {"cpu_mhz": 50, "memory_mib": 300, "memory_max_mib": 512}}),
        (ebs(group='constraint {\n attribute = "${meta.csi}"\n value = "yes"\n }\n constraint {\n attribute = "${attr.nomad.version}"\n version = ">= 2"\n }'), {"constraints": [{"attribute": "${meta.csi}", "value": "yes"}, {"attribute": "${attr.nomad.version}", "operator": "version", "value": ">= 2"}]}),
        (ebs(group='constraint {\n attribute = "${meta.old}"\n operator = "is_not_set"\n }'), {"constraints": [{"attribute": "${meta.old}", "operator": "is_not_set"}]}),
        *[(ebs(group=f'constraint {{\n attribute = "${{meta.csi}}"\n operator = "{operator}"\n value = "yes"\n }}'), {"constraints": [{"attribute": "${meta.csi}", "value": "yes"} | more]}) for operator, more in [("==", {}), ("is", {}), ("not", {"operator": "!="})]],
        (ebs(job='constraint {\n attribute = "${attr.platform.aws.placement.availability-zone}"\n value = "us-east-1a"\n }'), {"availability_zone": "us-east-1a"}),
        (ebs(group='restart {\n attempts = 5\n interval = "10m"\n delay = "1m30s"\n mode = "delay"\n }'), {"restart": {"attempts": 5, "interval_s": 600, "delay_s": 90}}),
        (ebs(job='update {\n max_parallel = 2\n auto_revert = true\n min_healthy_time = "20s"\n }'), {"update": {"max_parallel": 2, "auto_revert": True, "min_healthy_time_s": 20}}),
        (ebs(job='update {\n max_parallel = 2\n min_healthy_time = "200ms"\n }'), {"update": {"max_parallel": 2, "min_healthy_time_s": 1}}),
        (ebs(plugin='health_timeout = "2m"'), {"health_timeout_s": 120}),
        (ebs(plugin='health_timeout = "60s"'), {"health_timeout_s": 60}),
        (ebs(job="priority = 80", task="resources {\n memory = 256\n }"), {"priority": None, "resources": {"cpu_mhz": 100, "memory_mib": 256}}),
        (ebs(config=EBS_IMAGE + '\n network_mode = "host"'), {"host_network": True}),
        (ebs(config='image = "mirror.example:5000/ecr/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0"'), {"image_registry": "mirror.example:5000/ecr"}),
        (ebs(config='image = "mirror.example/ebs:v1.16.0"'), {"image": "mirror.example/ebs:v1.16.0"}),
        (ebs(config='image = "amazon/aws-ebs-csi-driver:latest"'), {}),
        (ebs(config=f'image = "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0@sha256:{"a" * 64}"'), {"image_digest": f"sha256:{'a' * 64}"}),
        (ebs(driver="podman"), {"task_driver": {"name": "podman"}}),
        (ebs(driver="raw_exec", config='command = "/opt/aws-ebs-csi-driver"', plugin='stage_publish_base_dir = "/opt/nomad/client/csi/node/aws-ebs0"'), {"task_driver": {"name": "raw_exec", "command": "/opt/aws-ebs-csi-driver", "client_data_dir": "/opt/nomad"}}),
        (ebs("controller", group="count = 3"), {"controller": {"count": 3}}),
        (ebs("controller", group="count = 2"), {}),
        (ebs("controller", args='"controller", "--extra-tags="'), {"controller": {"count": 1}}),
        (ebs("controller", args='"controller", "--extra-tags=a=1,b=2"'), {"extra_tags": {"a": "1", "b": "2"}, "controller": {"count": 1}}),
        (efs(args='"--endpoint=unix://csi/csi.sock", "--logtostderr"'), {"extra_arguments": {"node": ["--logtostderr"]}}),
    ],
)  # fmt: skip
def test_what_a_job_says_is_carried_over(adopted, text, expected):
    """Each value, also Nomad's defaults, has its place in the spec; what is the driver's usual stands nowhere."""
    found = dict(plugin_of(adopted({"j": text})))

    assert found.pop("id") in {"aws-ebs0", "aws-efs0"}
    assert found.pop("driver") in {"aws-ebs", "aws-efs"}
    assert list(found.pop("job_ids").values()) == ["j"]
    assert found == {name: value for name, value in (UNSAID | expected).items() if value is not None}


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        (ebs(args='"--logtostderr"'), "left out", "--logtostderr, which has no effect in AWS EBS"),
        (ebs(args='"--kubeconfig=x"'), "left out", "--kubeconfig: it names a Kubernetes API, which nothing on Nomad has"),
        (ebs(args='"--extra-tags=a=1"'), "left out", "--extra-tags, which AWS EBS does not accept here"),
        (ebs(args='"nodes"'), "left out", "the argument 'nodes', which AWS EBS does not accept"),
        (ebs(args='"--metadata-sources=kubernetes"'), "changed", "arguments: --metadata-sources=kubernetes becomes --metadata-sources=imds"),
        (ebs(task='env {\n A = "${meta.a}"\n }'), "wrong", "env.A, a spec has no key for it"),
        (ebs(task='env {\n CSI_ENDPOINT = "x"\n }'), "left out", "env.CSI_ENDPOINT"),
        (ebs("controller", task='env {\n AWS_ACCESS_KEY_ID = "${meta.a}"\n }'), "left out", "env.AWS_ACCESS_KEY_ID looks like a secret: put it into a Nomad variable or Vault, and name that in credentials"),
        (ebs(plugin='health_timeout = "soon"'), "wrong", "health_timeout_s of plugin aws-ebs0: expected greater than or equal to 5, got 0"),
        (ebs(task="artifact {\n source = 1\n }"), "left out", "artifact"),
        (ebs(job="meta {\n a = 1\n }"), "left out", "meta"),
        (ebs(group='network {\n port "x" {}\n }'), "left out", "network"),
        (ebs(task="resources {\n cores = 2\n }"), "left out", "resources.cores"),
        (ebs(config=EBS_IMAGE + "\n tty = true"), "left out", "config.tty"),
        (ebs(group='task "x" {\n driver = "docker"\n }'), "left out", "task.x"),
        (ebs(group='constraint {\n operator = "distinct_property"\n attribute = "${meta.rack}"\n }'), "wrong", "constraint.${meta.rack} distinct_property, a spec has no key for it"),
        (ebs(job="update {\n canary = 1\n }"), "left out", "update.canary"),
        (ebs(driver="nspawn"), "wrong", "driver: nspawn becomes docker, a spec has no key for it"),
        (ebs(driver="raw_exec", config='command = "x"'), "missing", "task_driver.client_data_dir of plugin aws-ebs0: expected the clients' data directory for raw_exec, got nothing; it is data_dir in the agent's configuration; no API reports it"),
        (ebs(group='restart {\n mode = "fail"\n }'), "changed", "restart.mode: fail becomes delay"),
        (ebs(config='image = "amazon/aws-ebs-csi-driver:latest"'), "changed", "config.image: amazon/aws-ebs-csi-driver:latest becomes public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0"),
        (JOB.format(**BLANK | {"id": "aws-efs0", "type": "monolith", "config": EFS_IMAGE}), "changed", "csi_plugin.type: monolith becomes node"),
    ],
)  # fmt: skip
def test_what_is_not_carried_over_is_said(adopted, said, text, kind, told):
    """Nothing is dropped in silence."""
    assert (kind, told) in said(adopted({"j": text}))


def test_jobs_that_differ_in_what_a_plugin_has_once(adopted, said):
    """The node's value is taken, and said."""
    texts = {
        "c": ebs("controller", job="priority = 60", task="resources {\n cpu = 50\n }").replace('job "j"', 'job "c"'),
        "n": ebs(job="priority = 70").replace('job "j"', 'job "n"'),
    }

    adoption = adopted(texts)

    assert plugin_of(adoption) == {
        "id": "aws-ebs0",
        "driver": "aws-ebs",
        "job_ids": {"controller": "c", "node": "n"},
        "priority": 70,
        "health_timeout_s": 30,
        "controller": {"count": 1, "resources": {"cpu_mhz": 50, "memory_mib": 300}},
        "node": {"resources": {"memory_mib": 300}},
    }
    assert ("changed", "priority: 60 becomes 70") in said(adoption)


def test_what_a_spec_refuses_is_said(adopted, said):
    """A complete file with a value that no spec takes is not done."""
    text = efs(task='env {\n AWS_REGION = "us-east-1"\n }')
    volume = (
        'id = "v"\nplugin_id = "aws-efs0"\nexternal_id = "fs-0123456789abcdef0"\ncapability {\n'
        ' access_mode = "multi-node-reader-only"\n attachment_mode = "file-system"\n}\n'
    )

    adoption = adopted({"j": text, "v": volume})

    [wrong] = [told for kind, told in said(adoption) if kind == "wrong"]
    assert wrong.startswith("capabilities[0] of volume v: expected one of ")
    [line] = [(remark.file, remark.line) for remark in adoption.remarks if remark.kind == "wrong"]
    assert line == ("v", 4)
    assert not adoption.is_complete


PORTWORX = 'image = "docker.io/portworx/oci-monitor:2.13.1"'


@pytest.mark.parametrize(
    ("job", "group", "expected"),
    [
        ('type = "system"', "", None),
        ('type = "batch"', "", None),
        ('type = "service"', "count = 4", {"job_type": "service", "count": 4}),
        ("", "count = 3", {"job_type": "service"}),
    ],
)
def test_type_of_a_monolith_is_kept(adopted, said, job, group, expected):
    """A job's type does not change in Nomad, so the spec has the one that runs."""
    text = JOB.format(**BLANK | {"id": "px", "type": "monolith", "config": PORTWORX, "job": job, "group": group})

    adoption = adopted({"j": text})

    assert plugin_of(adoption).get("monolith") == expected
    assert [told for _, told in said(adoption) if told.startswith(("type:", "count:"))] == []


def test_task_driver_of_a_monolith_is_that_of_the_plugin(adopted):
    """It has no other role that could name it; a job of another type becomes it, too."""
    text = JOB.format(**BLANK | {"id": "px", "type": "node", "config": PORTWORX, "driver": "podman"})

    plugin = plugin_of(adopted({"j": text}))

    assert (plugin["task_driver"], plugin["job_ids"]) == ({"name": "podman"}, {"monolith": "j"})


@pytest.mark.parametrize("job_id", ["j", "plugin-aws-ebs0-nodes-2", "plugin-aws-ebs0-node", "Plugin-aws-ebs0-nodes"])
def test_the_usual_job_ids_stand_nowhere(adopted, job_id):
    """Of two jobs the spec names the one whose id is not the usual one."""
    texts = {
        "c": ebs("controller").replace('job "j"', 'job "plugin-aws-ebs0-controller"'),
        "n": ebs().replace('job "j"', f'job "{job_id}"'),
    }

    assert plugin_of(adopted(texts))["job_ids"] == {"node": job_id}


@pytest.mark.parametrize(
    ("texts", "job_id"),
    [
        ({"j": ebs().replace("  }\n}\n", "  }\n" + efs().partition("\n")[2].replace('group "g"', 'group "h"'))}, "j"),
        ({"j": ebs().replace('job "j"', 'job "a/b"')}, "a/b"),
    ],
)
def test_a_job_that_cannot_be_taken_over_keeps_no_id(adopted, said, texts, job_id):
    """It runs several plugins, or no spec takes its id: it has to be stopped first, which is said with the new id."""
    adoption = adopted(texts)

    assert all("job_ids" not in plugin for plugin in adoption.document["plugins"])
    text = f"job id: {job_id} becomes plugin-aws-ebs0-nodes"
    assert ("changed", text) in said(adoption)


def test_controller_and_node_may_have_task_drivers_of_their_own(adopted):
    """A controller under exec beside nodes in containers."""
    texts = {"c": ebs("controller", driver="exec", config='command = "/opt/aws-ebs-csi-driver"'), "n": ebs()}

    found = plugin_of(adopted(texts))

    task_driver = {"name": "exec", "command": "/opt/aws-ebs-csi-driver"}
    assert found["controller"] == {"task_driver": task_driver, "count": 1}
    assert "task_driver" not in found


@pytest.mark.parametrize(
    ("zone", "region"), [("eu-west-1b", "eu-west-1"), ("us-west-2-lax-1a", "us-west-2"), ("eusc-de-east-1a", "eusc-de-east-1")]
)  # fmt: skip
def test_the_region_is_that_of_the_zones_of_its_volumes(adopted, zone, region):
    """What volume files say helps their plugin; a Local Zone is one of a region, too."""
    volume = (
        'id = "v"\nplugin_id = "aws-ebs0"\nexternal_id = "vol-0123456789abcdef0"\ncapability {\n'
        ' access_mode = "single-node-writer"\n attachment_mode = "file-system"\n}\n'
        'topology_request {\n required {\n  topology {\n   segments { "topology.ebs.csi.aws.com/zone" = "ZONE" }\n  }\n }\n}\n'
    ).replace("ZONE", zone)

    adoption = adopted({"n": ebs(), "v": volume})

    assert plugin_of(adoption)["aws_region"] == region
    assert adoption.document["volumes"][0]["existing"] == {
        "external_id": "vol-0123456789abcdef0",
        "availability_zone": zone,
    }
    assert adoption.is_complete


SECRETS = ["hunter2", "AKIAHUNTER2HUNTER222"]


@pytest.mark.parametrize("driver_image", [EBS_IMAGE, 'image = "registry.example/unknown:v1"'])
def test_secrets_go_nowhere(adopted, driver_image):
    """Neither into the spec nor into a remark; their names do."""
    text = ebs(
        id="x",
        config=driver_image,
        args='"--token=hunter2", "--password", "hunter2", "AKIAHUNTER2HUNTER222"',
        task='env {\n AWS_SECRET_ACCESS_KEY = "hunter2"\n API_TOKEN = "hunter2"\n }',
        plugin='health_timeout = "30s"',
    ).replace("config {", 'config {\n auth {\n username = "u"\n password = "hunter2"\n }')

    adoption = adopted({"j": text}, aws_region="us-east-1")

    told = f"{adoption.document}\n" + "\n".join(map(str, adoption.remarks))
    assert not [secret for secret in SECRETS if secret in told]
    assert all(name in told for name in ("--token", "--password", "AWS_SECRET_ACCESS_KEY", "API_TOKEN", "auth"))


def test_a_driver_of_ones_own_needs_its_name_and_a_node_plugin(adopted, said):
    """What only the operator knows is asked for."""
    text = JOB.format(**BLANK | {"id": "x", "type": "controller", "config": 'image = "a/b:1"'})

    missing = [told for kind, told in said(adopted({"j": text})) if kind == "missing"]
    named = said(adopted({"j": text.replace("args = []", 'args = ["--csi-name=x.example"]')}))

    assert missing == [
        "driver.provider of plugin x: expected a value, got nothing; add provider; `nomad plugin status x` shows it"
    ]
    assert ("wrong", "driver of plugin x: expected a node or monolith role: one must mount, got a mapping") in named


def test_a_version_whose_arguments_are_not_known_is_described_by_its_own(adopted, said):
    """The driver's name, modes and zones are those of the catalogue; the jobs are as they were, and can be planned."""
    args = '"node", "--endpoint=unix://csi/csi.sock", "--of-tomorrow", "--v=4"'
    adoption = adopted(
        {"j": ebs(config='image = "mirror.example/aws-ebs-csi-driver:v9.0.0"\n privileged = true', args=args)}
    )

    plugin = plugin_of(adoption)
    driver = plugin["driver"]
    [job] = storage.plan_document(adoption.document).plugins[0].jobs

    assert {name: driver[name] for name in ("name", "provider", "image", "topology_key")} == {
        "name": "aws-ebs0",
        "provider": "ebs.csi.aws.com",
        "image": "mirror.example/aws-ebs-csi-driver:v9.0.0",
        "topology_key": "topology.ebs.csi.aws.com/zone",
    }
    assert driver["capabilities"][0] == {"access_mode": "single-node-writer"}
    assert job.arguments == ("node", "--endpoint=unix://csi/csi.sock", "--of-tomorrow", "--v=4")
    assert (job.image, job.privileged) == ("mirror.example/aws-ebs-csi-driver:v9.0.0", True)
    assert ("note", UNKNOWN_VERSION) in said(adoption)
    assert adoption.is_complete


UNKNOWN_VERSION = (
    "the catalogue does not know the arguments of mirror.example/aws-ebs-csi-driver:v9.0.0 that aws-ebs0 runs: its jobs "
    "are described in the spec, unchecked"
)


def test_settings_of_a_driver_are_its_config(adopted):
    """Portworx's flags and their values stand in words of their own; what its row does not render comes behind."""
    text = JOB.format(
        **BLANK
        | {
            "id": "px",
            "type": "monolith",
            "config": 'image = "portworx/oci-monitor:2.13.1"\n privileged = true',
            "args": '"-c", "cluster-1", "-a", "-b", "-k", "consul://10.0.0.1:8500", "--endpoint", "0.0.0.0:9015", "-x", "nomad"',
        }
    )

    found = plugin_of(adopted({"j": text}))

    assert found["config"] == {"cluster_id": "cluster-1", "kvdb": "consul://10.0.0.1:8500"}
    assert found["extra_arguments"] == {"monolith": ["-x", "nomad"]}
    assert "image" not in found


def test_a_driver_with_a_configuration_file_asks_for_it(adopted, said):
    """The template that holds it may hold secrets: nothing of it is shown."""
    text = JOB.format(
        **BLANK
        | {
            "id": "kowlan",
            "type": "controller",
            "group": "count = 2",
            "config": 'image = "democraticcsi/democratic-csi:v1.9.4"',
            "args": '"--csi-name=org.democratic-csi.nfs", "--csi-mode=controller", "--log-level=debug", "--logtostderr", '
            '"--driver-config-file=${NOMAD_TASK_DIR}/driver.yaml"',
            "task": 'template {\n destination = "x"\n data = "password: hunter2"\n }',
        }
    )

    adoption = adopted({"j": text})

    assert plugin_of(adoption) == {
        "id": "kowlan",
        "driver": "democratic-csi",
        "job_ids": {"controller": "j"},
        "log_level": "debug",
        "priority": 50,
        "health_timeout_s": 30,
        "resources": {"memory_mib": 300},
    }
    assert "hunter2" not in str(adoption)
    assert [told for kind, told in said(adoption) if kind == "missing"] == [
        "config.driver of plugin kowlan: expected a value: democratic-csi does not start without, got nothing",
    ]
    assert ("note", "differences of the rendered jobs of kowlan are listed once it can be planned") in said(adoption)


def test_values_of_the_environment_are_what_nomad_makes_of_them(adopted):
    """A driver that compares with ``true`` sees ``true``."""
    env = "env {\n A = true\n B = 1000.0\n C = 1.5\n D = 2\n }"

    plugin = plugin_of(adopted({"j": ebs(task=env)}))

    assert plugin["environment"] == {"A": "true", "B": "1000", "C": "1.5", "D": "2"}


def test_a_process_that_is_both_becomes_two_jobs(adopted, said):
    """Its job would have the id of one of them, so it gives none."""
    adoption = adopted({"j": ebs("monolith", args='"all", "--v=4"', job='type = "system"')})

    plugin = plugin_of(adoption)
    assert "job_ids" not in plugin
    assert plugin["log_verbosity"] == 4
    assert [text for kind, text in said(adoption) if kind == "changed" and "stop and purge j" in text]
    assert ("changed", "arguments: all becomes node") in said(adoption)


def test_of_an_unknown_driver_what_is_not_kept_is_wrong(adopted, said):
    """Nothing is known of its image, so whatever it needs must come along: the command is the first argument."""
    config = 'image = "registry.example/x:1"\n command = "/bin/node"\n cap_add = ["SYS_ADMIN"]\n force_pull = true'
    text = JOB.format(
        **BLANK | {"id": "x", "type": "node", "config": config, "args": '"--a"', "job": 'type = "system"'}
    )
    text = text.replace('driver = "docker"', 'driver = "docker"\n user = "0"\n kill_timeout = "30s"')

    adoption = adopted({"j": text})

    role = plugin_of(adoption)["driver"]["roles"]["node"]
    assert (role["arguments"], role["kill_timeout_s"]) == (["/bin/node", "--a"], 30)
    wrong = [text for kind, text in said(adoption) if kind == "wrong"]
    assert wrong == [
        "user, a spec has no key for it",
        "config.cap_add, a spec has no key for it",
    ]
    assert ("left out", "config.force_pull") in said(adoption)
