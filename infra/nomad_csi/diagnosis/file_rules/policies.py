"""Check what is no job or volume: an IAM policy for the EBS driver, and a spec with secrets in clear text."""

import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nomad_csi.diagnosis.file_rules.subjects import finding_at_line
from nomad_csi.findings import Finding
from nomad_csi.hcl import values
from nomad_csi.spec import encrypted
from nomad_csi.text import secrets

PROBE = "ec2:DescribeAvailabilityZones"
ATTACH = ("ec2:AttachVolume", "ec2:DescribeInstances", "ec2:DescribeVolumes", "ec2:DetachVolume")
LIMITS = ("ec2:DescribeInstanceTypes", "ec2:DescribeVolumesModifications")
_ON_VOLUMES = ("ec2:AttachVolume", "ec2:DetachVolume", "ec2:DeleteVolume")
_OF_EBS = frozenset({"ec2:AttachVolume", "ec2:DetachVolume", "ec2:CreateVolume", "ec2:DeleteVolume"})


def check(policy: values.Map) -> Iterator[Finding]:
    """Yield the findings for *policy*; none where it does not concern volumes."""
    statements = [item for item in _list(policy.get("Statement")) if isinstance(item, values.Map)]
    allowing = [item for item in statements if item.get("Effect") == "Allow"]
    patterns = [pattern.lower() for item in allowing for pattern in _texts(item.get("Action"))]
    if not any(_allows(patterns, action) for action in _OF_EBS):
        return
    line = policy.at("Statement")
    if not _allows(patterns, PROBE):
        yield finding_at_line("policy-without-probe", line, f"no {PROBE}")
    for code, actions in (("policy-without-attach", ATTACH), ("policy-without-limits", LIMITS)):
        missing = [action for action in actions if not _allows(patterns, action)]
        if missing:
            evidence = f"no {', '.join(missing)}"
            yield finding_at_line(code, line, evidence, f"allow {', '.join(missing)}")
    for item in allowing:
        yield from _any_volume(item)


def _any_volume(statement: values.Map) -> Iterator[Finding]:
    given = [pattern.lower() for pattern in _texts(statement.get("Action"))]
    actions = [action for action in _ON_VOLUMES if _allows(given, action)]
    resources = _texts(statement.get("Resource"))
    every = [item for item in resources if item == "*" or item.endswith(("volume/*", ":*"))]
    if actions and every and "Condition" not in statement:
        yield finding_at_line("policy-any-volume", statement.line, f"{', '.join(actions)} on {every[0]}")


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _texts(value: Any) -> list[str]:
    """Return the strings of a policy's value, which may be a list or a single string."""
    return [item for item in _list(value) if isinstance(item, str)]


def _allows(patterns: list[str], action: str) -> bool:
    return any(fnmatch.fnmatchcase(action.lower(), pattern) for pattern in patterns)


# Secrets in clear text in a spec, also where no rendered file would show them.


_ADVICE = (
    "remove it, rotate it, and pass it with --secrets or NOMAD_CSI_SECRETS; in a stack's config, encrypt it with "
    "`pulumi config set --secret --path`"
)


def check_spec(document: Any, lines_of: Callable[[Iterable[str]], Mapping[str, int]]) -> Iterator[Finding]:
    """
    Yield a finding for each secret in clear text in a spec *document*; *lines_of* returns the lines of paths in it.

    Secrets are the values under ``secrets`` of a volume, a class or a member of a set, and values in a secret's form.
    """
    paths = tuple(dict.fromkeys(_secret_paths(document, "")))
    for path, line in (lines_of(paths) if paths else {}).items():
        yield finding_at_line("secret-in-file", line, f"a plain-text value at {path}", _ADVICE)


def _secret_paths(value: Any, path: str, *, is_secret: bool = False) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            below = f"{path}.{key}".lstrip(".")
            yield from _secret_paths(item, below, is_secret=is_secret or (key == "secrets" and _is_volume(path)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _secret_paths(item, f"{path}[{index}]", is_secret=is_secret)
    elif not isinstance(value, str) or isinstance(value, encrypted.Encrypted):
        return
    elif (is_secret and value) or secrets.text_has_secret(value):
        yield path


def _is_volume(path: str) -> bool:
    """Return whether *path* is that of a volume or of a part of one."""
    return path.startswith(("volumes[", "classes."))
