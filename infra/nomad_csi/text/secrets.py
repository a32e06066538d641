"""
Detect secrets by the name or the form of a value: one table for specs, hand-written files and texts of other programs.

The names are those of drivers, mount programs and AWS; a secret with neither such a name nor such a form is not found.
Sources: mount.cifs(8) (``pass=``, ``password=``, ``credentials=FILE``), mount.ceph(8), the AWS documentation of access
keys, RFC 3986 (``user:password@``), RFC 6750 (``Bearer``), RFC 7468 (PEM), RFC 7519 (tokens that begin with ``eyJ``),
Azure Storage's connection strings (``AccountKey=``), nvme-connect(1) (``dhchap``), Docker's ``config.json`` (``auth``),
ceph-csi's ``docs/`` (``userID``), csi-driver-smb's ``docs/`` (``username``, ``domain``); 2026-11.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_NAME = re.compile(
    r"secret|passwd|password|passphrase|token|signature|credential|authorization|dhchap"
    r"|(?:api|access|account|admin|user|private|encryption)[ _-]?key|(?:^|[^a-z0-9])(?:pass|pwd|pw|psk|auth)$",
    re.IGNORECASE,
)
"""A word anywhere in a name, or its last part."""

_POINTS = re.compile(
    r"(?:file|path|dir|folder|name|namespace|arn|url|uri|endpoint|ttl|identity|audience|version|ref)$", re.IGNORECASE
)
"""Suffixes of names for the location or the kind of a secret."""

_OPEN = re.compile(r"(?:user|id|region|domain|bucket|host|server|pool)$", re.IGNORECASE)
"""More suffixes of names for what drivers take among the secrets, and is none."""

PRIVATE_KEY = re.compile(
    r"-----BEGIN (?P<label>[A-Z0-9 ]{0,40}PRIVATE KEY)-----.*?(?:-----END (?P=label)-----|\Z)", re.DOTALL
)
"""A private key, or as many lines of one as there are."""


@dataclass(frozen=True)
class Form:
    """A form that a value has only as a secret."""

    pattern: re.Pattern[str]
    """Its group ``secret`` is what is hidden. No part is repeated without a bound inside of another repetition."""

    in_spec: bool = True
    """Whether a spec with it is refused; otherwise it is only hidden in texts, where a wrong guess costs less."""


ADDRESS = Form(re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@\"']*:(?!\$\{|\{\{)(?P<secret>[^\s/\"']+)(?=@)"))
"""Passwords in addresses."""

FORMS = (
    ADDRESS,
    Form(re.compile(r"(?P<secret>A[KS]IA[0-9A-Z]{16})")),
    Form(re.compile(r"(?P<secret>do[opr]_v1_[0-9a-f]{16,128})")),
    Form(re.compile(r"(?P<secret>\bhv[bsr]\.[A-Za-z0-9_-]{16,400})")),
    Form(re.compile(r"://(?=[^\s/:@\"']{0,99}[0-9])(?P<secret>[\w.~%+-]{20,400})@"), in_spec=False),
    Form(
        re.compile(r"(?<![\w.-])key[\"']?\s*[:=]\s*[\"']?(?P<secret>[\w+/]{16,}={0,2}|[\w+/]+={1,2})(?![\w+/=:.-])"),
        in_spec=False,
    ),
    Form(
        re.compile(
            r"(?<![\w+/=])(?=[a-z0-9+/]{0,39}[A-Z])(?=[A-Za-z+/]{0,39}\d)(?=[A-Z0-9+/]{0,39}[a-z])"
            r"(?P<secret>[A-Za-z0-9+/]{40})(?![\w+/=])"
        ),
        in_spec=False,
    ),
    Form(re.compile(r"(?<![\w+/=])(?P<secret>(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[\w+/=%-]+)"), in_spec=False),
    Form(re.compile(r"(?<![\w-])(?P<secret>eyJ[\w-]+\.[\w-]+\.[\w-]*)"), in_spec=False),
    Form(re.compile(r"\b[Bb]earer\s+(?=[A-Za-z._~+/-]{0,99}[0-9])(?P<secret>[\w.~+/-]{6,}=*)"), in_spec=False),
)
"""
Passwords in addresses; key ids of AWS; tokens of DigitalOcean and of Vault; a token instead of a user; Ceph's ``key``;
secret access keys and session tokens of AWS; tokens in JSON; bearer tokens.
"""

_IN_TASK = re.compile(r"\$\{NOMAD_[A-Z]+_DIR\}/")
"""Start of the path of a file that Nomad writes into the task's directory."""

_FILLED_IN = re.compile(r"\$\{[^}]*\}|\{\{.*\}\}", re.DOTALL)


def has_secret_word(name: str) -> bool:
    """Return whether *name* contains a word for secrets, such as ``secretFile``, which names the location of one."""
    return _NAME.search(name) is not None


def names_secret(name: str) -> bool:
    """Return whether a value under *name* is a secret: under ``apiKey``, not under ``api_key_file``."""
    return has_secret_word(name) and _POINTS.search(name) is None


def is_open(name: str) -> bool:
    """Return whether a CSI secret of this *name* is none, such as ``username``: its value may be the id of a volume."""
    return not has_secret_word(name) and (_POINTS.search(name) or _OPEN.search(name)) is not None


def is_secret(name: str, value: str) -> bool:
    """Return whether *value* under *name* is a secret in clear: ``token``, ``abc``, not ``token``, ``${TOKEN}``."""
    if not value.strip() or _FILLED_IN.fullmatch(value.strip()):
        return False
    is_path = _IN_TASK.match(value) or ("credential" in name.lower() and value.startswith("/"))
    return text_has_secret(value) or (names_secret(name) and not is_path)


def text_has_secret(text: str) -> bool:
    """Return whether something in *text* has the form of a secret."""
    return any(pattern.search(text) for pattern in (PRIVATE_KEY, *(form.pattern for form in FORMS if form.in_spec)))


def flag_has_secret(flag: str) -> bool:
    """Return whether a mount *flag* gives a secret: ``username=u,password=p``."""
    parts = (part.partition("=") for part in flag.split(","))
    return text_has_secret(flag) or any(is_secret(name.strip(), value) for name, _, value in parts)


def argument_has_secret(argument: str) -> bool:
    """Return whether *argument* gives a secret: ``--token=abc`` or ``password=abc``, not ``--token=${DO_TOKEN}``."""
    name, _, value = argument.lstrip("-").partition("=")
    return is_secret(name, value) or flag_has_secret(value) or text_has_secret(argument)


def hidden(arguments: Sequence[str]) -> list[bool]:
    """Return for each of *arguments* whether it gives a secret, also as the next word of an option: ``--token abc``."""
    gives_secret = [argument_has_secret(argument) for argument in arguments]
    for index, (option, value) in enumerate(itertools.pairwise(arguments), start=1):
        is_option = option.startswith("-") and not value.startswith("-")
        gives_secret[index] |= is_option and "=" not in option and is_secret(option.lstrip("-"), value)
    return gives_secret


def keys_of(entries: Mapping[str, object]) -> list[str]:
    """Return the names in *entries* whose values contain a secret, sorted."""
    return sorted(name for name, value in entries.items() if isinstance(value, str) and is_secret(name, value))
