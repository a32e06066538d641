"""
Names of storage that a plugin makes: a readable part, and a nonce that no other volume has. Pure.

CSI's ``CreateVolume`` is idempotent by name: two volumes of one name are one storage, in whatever namespace, stack or
cluster they are. A nonce keeps them apart. The alphabet and the length are what every driver of the catalogue takes:
GCE PD has the narrowest rule, ``[a-z]([-a-z0-9]*[a-z0-9])?`` and 63 characters (Compute Engine API reference,
``disks.insert``, 2026-11); DigitalOcean takes 64 of the same alphabet (API reference, ``POST /v2/volumes``, 2026-11).
"""

import re

MAXIMUM_LENGTH = 63
NONCE = re.compile(r"[0-9a-f]{12}")
_SUFFIX = re.compile(rf"(.+)-{NONCE.pattern}")


def made_name(name: str, nonce: str) -> str:
    """Return the name to make storage by: ``made_name("Web[0]", "5e884898da28")`` is ``web-0-5e884898da28``."""
    return f"{_readable(name)}-{nonce}"


def readable_part(stored: str) -> str:
    """Return *stored* without the nonce."""
    found = _SUFFIX.fullmatch(stored)
    return found[1] if found else stored


def _readable(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    safe = plain if plain[:1].isalpha() else f"v-{plain}".rstrip("-")
    return safe[: MAXIMUM_LENGTH - 13].rstrip("-")
