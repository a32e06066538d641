"""
The periodic job that verifies a spec. Pure.

It contains the spec without secrets, and runs ``nomad-csi verify`` on one client at each scheduled time.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nomad_csi.plan import probe_job, task_secrets
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
"""Sequences that Nomad or a template would evaluate, with their JSON escapes."""

_ESCAPED = "[\x7f-\ud7ff\ue000-\uffff]"
"""Characters that may be invisible, or that Nomad may normalize. Others need surrogate pairs, which YAML misreads."""


@dataclass(frozen=True, kw_only=True)
class VerifyJob(probe_job.ProgramJob):
    """A periodic job that verifies a spec. Its environment: the variables of `nomad.Connection`, without a token."""

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
        files = sorted(name for name in FILES if name in self.environment)
        found = {self.environment[name]: True for name in files}
        folder = self.metrics_file.rpartition("/")[0]
        return found | ({folder: False} if folder else {})

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
    text = re.sub(_ESCAPED, lambda found: f"\\u{ord(found[0]):04x}", raw)
    for found, written in _EVALUATED.items():
        text = text.replace(found, written)
    return text


def _drop_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: dict.fromkeys(item, encrypted.PLACEHOLDER)
            if key == _SECRETS and isinstance(item, Mapping)
            else _drop_secrets(item)
            for key, item in value.items()
        }
    return [_drop_secrets(item) for item in value] if isinstance(value, list) else value
