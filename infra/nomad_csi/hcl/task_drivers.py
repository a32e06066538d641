"""
Keys of the ``config`` block of a task driver, and the runtime variables that its strings may reference.

Nomad's own validation checks neither; the task fails on the client. The keys are in ``task_drivers.yaml``.
Source of the names: hashicorp/nomad, ``client/taskenv/env.go``, 2026-08-21.
"""

import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources

from nomad_csi.hcl import values
from nomad_csi.spec import yaml_text

_FROM_CLIENT = re.compile(
    r"CSI_ENDPOINT"
    r"|NOMAD_(?:ALLOC_DIR|TASK_DIR|SECRETS_DIR|MEMORY_LIMIT|MEMORY_MAX_LIMIT|CPU_LIMIT|CPU_CORES|ALLOC_ID|SHORT_ALLOC_ID"
    r"|ALLOC_NAME|TASK_NAME|GROUP_NAME|JOB_ID|JOB_NAME|JOB_PARENT_ID|ALLOC_INDEX|DC|PARENT_CGROUP|NAMESPACE|REGION"
    r"|UNIX_ADDR|TOKEN)"
    r"|NOMAD_(?:ADDR|HOST_ADDR|IP|HOST_IP|PORT|ALLOC_PORT|HOST_PORT|META|UPSTREAM_\w+)_\w+"
    r"|node\.(?:unique\.id|unique\.name|datacenter|region|class|pool)"
    r"|(?:attr|meta|device\.attr)\.[\w.\-/]+"
    r"|(?:attr|meta|env|node)\[\"[^\"]*\"\]"
    r"|env\.\w+"
)
_ASKED = re.compile(r"(?<!\$)\$\{([^}]*)\}?|(?<!%)%\{([^}]*)\}?")


@functools.cache
def config_keys() -> Mapping[str, Sequence[str]]:
    """Return the keys by task driver; other task drivers are unknown."""
    text = resources.files(__package__).joinpath("task_drivers.yaml").read_text(encoding="utf-8")
    return yaml_text.load(text)  # type: ignore[no-any-return]


def unknown_keys(driver: str, config: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each unknown key of *config*, with the likely one as a fix, or an empty string."""
    known = config_keys().get(driver, ())
    for key in config if known else ():
        if key not in (*known, values.LABELS):
            close = difflib.get_close_matches(key, known, n=1)
            yield key, f"did you mean {close[0]}" if close else ""


def strange_questions(text: str, known: frozenset[str]) -> list[str]:
    """
    Return the unknown runtime variables in *text* of a config block, each as written.

    *known* are the names of the task's environment variables.
    """
    found = []
    for match in _ASKED.finditer(text):
        name = (match[1] or "").strip()
        if match[1] is None or not (name in known or _FROM_CLIENT.fullmatch(name)):
            found.append(match[0])
    return found
