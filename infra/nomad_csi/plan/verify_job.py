"""
The job that verifies a spec again and again: what it is made of. Pure.

It carries the spec with it, without secrets, and runs ``nomad-csi verify`` on one client at each of its times.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nomad_csi.plan import task_secrets
from nomad_csi.spec import encrypted
from nomad_csi.spec import model as spec

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
"""What Nomad or a template would evaluate, as JSON writes it too."""

_ESCAPED = re.compile("[\x7f-\ud7ff\ue000-\uffff]")
"""What may not be seen, or stand in another form in Nomad. Beyond, JSON has pairs, which YAML takes for two."""


@dataclass(frozen=True, kw_only=True)
class VerifyJob:
    """A periodic job that verifies."""

    spec: str = field(repr=False)
    """The spec as JSON: `as_data`."""

    external_ids: str = ""
    """Output of the stack as JSON: `as_data`; empty: none."""

    job_id: str = JOB_ID
    namespace: str = "default"
    region: str = ""
    """Empty: the region of the agent that is asked."""

    datacenters: Sequence[str] = ("*",)
    node_pool: str = "all"
    client: str = ""
    """Name of the only client that may run it; empty: any."""

    cron: str = CRON
    command: str = "nomad-csi"
    """The program, on the clients or in the image: a path, or a name that the client's agent finds."""

    image: str = ""
    """Image with that program, for Docker; empty: ``raw_exec``, the client's own."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Where Nomad is, by the variables of `nomad.Connection`. No token."""

    token_variable: str = ""
    """Path of the Nomad variable with the token; empty: the task's own identity is one."""

    options: Sequence[str] = ()
    """More words for the command, such as ``--stable-s`` and ``30``."""

    metrics_file: str = ""
    """Path on the client, where metrics are written to; empty: nowhere."""

    @property
    def task_driver(self) -> str:
        """``docker`` or ``raw_exec``."""
        return "docker" if self.image else "raw_exec"

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the program gets."""
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
        What Docker shows the container at the same place: certificates, the folder of metrics.

        Path on the client -> whether it is for reading only.
        """
        files = sorted(name for name in FILES if name in self.environment)
        found = {self.environment[name]: True for name in files}
        folder = self.metrics_file.rpartition("/")[0]
        return found | ({folder: False} if folder else {})

    @property
    def credentials(self) -> str:
        """Data of the template that fills in the token; empty where the identity is the token."""
        if not self.token_variable:
            return ""
        source = spec.CredentialsSpec(nomad_variable=self.token_variable)
        return task_secrets.from_items(source, {"NOMAD_TOKEN": TOKEN_ITEM}, self.job_id)


def as_data(document: Any) -> str:
    """Return *document* as JSON that neither Nomad nor a template evaluates, with placeholders for its secrets."""
    raw = json.dumps(_without_secrets(document), indent=2, default=str, ensure_ascii=False)
    text = _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", raw)
    for found, written in _EVALUATED.items():
        text = text.replace(found, written)
    return text


def _without_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: dict.fromkeys(item, encrypted.PLACEHOLDER)
            if key == _SECRETS and isinstance(item, Mapping)
            else _without_secrets(item)
            for key, item in value.items()
        }
    return [_without_secrets(item) for item in value] if isinstance(value, list) else value
