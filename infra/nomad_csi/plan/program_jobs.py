"""
Jobs that run the program of this package: the probe of plugins on their own clients, and the periodic verification.

The probe runs ``nomad-csi csi probe --folder`` once on every client: only root on the client can open the plugins'
sockets. The periodic job contains the spec without secrets, and runs ``nomad-csi verify`` on one client at each
scheduled time. Pure.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nomad_csi.plan import task_secrets
from nomad_csi.spec import encrypted
from nomad_csi.spec import model as spec


@dataclass(frozen=True, kw_only=True)
class ProgramJob:
    """A job that runs the program of this package."""

    job_id: str
    namespace: str = "default"
    region: str = ""
    """Empty: the region of the agent that receives the request."""

    datacenters: Sequence[str] = ("*",)
    node_pool: str = "all"
    command: str = "nomad-csi"
    """The program, on the clients or in the image: a path, or a name in the ``PATH`` of the client's agent."""

    image: str = ""
    """Docker image with the program; empty: the client's own program, with ``raw_exec``."""

    @property
    def task_driver(self) -> str:
        """``docker`` or ``raw_exec``."""
        return "docker" if self.image else "raw_exec"


# The probe.


PLUGINS_FOLDER = "${NOMAD_ALLOC_DIR}/../../../client/csi/plugins"
"""
The client's folder of sockets, relative to a task that sees the client's files (``DATA_DIR/alloc/ID/alloc``).

Source: hashicorp/nomad, ``command/agent/agent.go`` (``finalizeClientConfig``): state and allocations are in the
data directory unless ``state_dir`` or ``alloc_dir`` is set; tried on Nomad 2.0.6-dev, 2026-11.
"""

MOUNTED = "/csi-plugins"
"""Mount point of the folder in a container."""

TASK = "probe"
PREFIX = "nomad-csi-probe"
WAIT_S = 60.0
"""Default deadline in seconds for the clients to run the probe and report."""


@dataclass(frozen=True, kw_only=True)
class ProbeJob(ProgramJob):
    """One run of the probe, on every matching client."""

    job_id: str = PREFIX
    node_ids: Sequence[str] = ()
    """Only these clients; empty: all of the datacenters and the pool."""

    state_dir: str = ""
    """The clients' ``state_dir``; empty: ``DATA_DIR/client``, which only ``raw_exec`` can find."""

    timeout_s: float = 5.0
    """Timeout in seconds of all requests to one plugin."""

    @property
    def folder(self) -> str:
        """Folder of the sockets, as the task sees it."""
        if self.image:
            return MOUNTED
        return f"{self.state_dir.rstrip('/')}/csi/plugins" if self.state_dir else PLUGINS_FOLDER

    @property
    def sockets(self) -> str:
        """The folder on the client that Docker mounts as `MOUNTED`."""
        return f"{self.state_dir.rstrip('/')}/csi/plugins"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of the program."""
        return ("csi", "probe", "--folder", self.folder, "--probe-timeout", f"{self.timeout_s:g}s", "--json")

    @property
    def clients(self) -> str:
        """The `node_ids` as one regular expression for Nomad."""
        return f"^({'|'.join(self.node_ids)})$"


def probe_of(asked: spec.OnNodesSpec, *, namespace: str, region: str) -> ProbeJob:
    """Return the probe that a plugin of the spec has *asked* for."""
    return ProbeJob(
        namespace=namespace,
        region=region,
        command=asked.command,
        image=asked.image or "",
        state_dir=asked.state_dir or "",
    )


# The periodic verification.


JOB_ID = "nomad-csi-verify"
CRON = "*/5 * * * *"
"""Every five minutes, in UTC."""

SPEC_FILE = "storage.json"
EXTERNAL_IDS_FILE = "outputs.json"
FILES = ("NOMAD_CACERT", "NOMAD_CLIENT_CERT", "NOMAD_CLIENT_KEY")
"""Variables of `VerifyJob.environment` that name a file on the client."""

TOKEN_ITEM = "token"  # noqa: S105  # the name of an item
"""Item of the Nomad variable that holds the token."""

_SECRETS = "secrets"
_EVALUATED = {"${": "\\u0024{", "%{": "\\u0025{", "{{": "{\\u007b", "}}": "}\\u007d"}
"""Sequences that Nomad or a template would evaluate, with their JSON escapes."""

_ESCAPED = "[\x7f-\ud7ff\ue000-\uffff]"
"""Characters that may be invisible, or that Nomad may normalize. Others need surrogate pairs, which YAML misreads."""


@dataclass(frozen=True, kw_only=True)
class VerifyJob(ProgramJob):
    """A periodic job that verifies a spec."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables of `nomad.Connection`, without a token."""

    spec: str = field(repr=False)
    """The spec as JSON (`as_data`)."""

    external_ids: str = ""
    """Output of the stack as JSON (`as_data`); empty: none."""

    job_id: str = JOB_ID
    client: str = ""
    """Name of the client to run on; empty: any."""

    cron: str = CRON
    token_variable: str = ""
    """Path of the Nomad variable that holds the token; empty: the task's workload identity is the token."""

    options: Sequence[str] = ()
    """Further arguments of the command, such as ``--stable`` and ``30s``."""

    metrics_file: str = ""
    """Path of the metrics file on the client; empty: no metrics."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of the program."""
        ids = ("--stack-output", f"${{NOMAD_TASK_DIR}}/{EXTERNAL_IDS_FILE}") if self.external_ids else ()
        metrics = ("--prometheus", self.metrics_file) if self.metrics_file else ()
        return ("verify", f"${{NOMAD_TASK_DIR}}/{SPEC_FILE}", *ids, *self.options, *metrics)

    @property
    def files(self) -> Mapping[str, str]:
        """Files in the task's directory, by name."""
        return {SPEC_FILE: self.spec} | ({EXTERNAL_IDS_FILE: self.external_ids} if self.external_ids else {})

    @property
    def mounts(self) -> Mapping[str, bool]:
        """
        Bind mounts of the container, each at its path on the client: certificates, the folder of metrics.

        Maps the path on the client to whether the mount is read-only.
        """
        mounted = {self.environment[name]: True for name in FILES if name in self.environment}
        folder = self.metrics_file.rpartition("/")[0]
        return mounted | ({folder: False} if folder else {})

    @property
    def credentials(self) -> str:
        """Template data that renders the token; empty where the workload identity is the token."""
        if not self.token_variable:
            return ""
        source = spec.CredentialsSpec(nomad_variable=self.token_variable)
        return task_secrets.template_data(source, {"NOMAD_TOKEN": TOKEN_ITEM}, self.job_id)


def as_data(document: Any) -> str:
    """Return *document* as JSON that neither Nomad nor a template evaluates, with placeholders for secrets."""
    raw = json.dumps(_drop_secrets(document), indent=2, default=str, ensure_ascii=False)
    text = re.sub(_ESCAPED, lambda match: f"\\u{ord(match[0]):04x}", raw)
    for evaluated, written in _EVALUATED.items():
        text = text.replace(evaluated, written)
    return text


def _drop_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _drop_secrets_under(key, item) for key, item in value.items()}
    return [_drop_secrets(item) for item in value] if isinstance(value, list) else value


def _drop_secrets_under(key: str, item: Any) -> Any:
    if key == "plugins":
        return item  # `secrets` of a described driver are the names of the keys that it takes
    if key == _SECRETS and isinstance(item, Mapping):
        return dict.fromkeys(item, encrypted.PLACEHOLDER)
    return _drop_secrets(item)
