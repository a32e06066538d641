"""
What an older release left behind, read from a folder of recordings, with the ids of another account and cluster put in.

Ids of AWS and uuids are tokens: whatever text they stand in, each is replaced by the one that stands for it now.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

DATA_DIR = "/tmp/nomad-csi-sandbox"
"""The clients' data directory in the recordings."""

PROJECT = "/project"
"""The project's folder in the recordings."""

TOKEN = re.compile(
    r"\b(?:vol|fs|fsap|fsmt|sg|sgr|subnet|vpc|eni|i|policy)-[0-9a-f]{8,17}\b"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
)
_SIGNED = re.compile(
    r"(# Rendered by nomad-csi\. Change the spec and render again\. Content )[0-9a-f]{16}\n(.*)", re.DOTALL
)
"""A rendered file. Source: ``nomad_csi/render/disk.py`` (``signed``) at e27e896."""


@dataclass
class Substitution:
    """What stands for what: texts, and tokens within texts."""

    texts: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def learn(self, old, new):
        """Have each token of the JSON value *old* stand for the one at the same place of *new*."""
        if isinstance(old, dict) and isinstance(new, dict):
            for key in old.keys() & new.keys():
                self.learn(old[key], new[key])
        elif isinstance(old, list) and isinstance(new, list):
            for one, other in zip(old, new, strict=False):
                self.learn(one, other)
        elif isinstance(old, str) and isinstance(new, str):
            before, now = TOKEN.findall(old), TOKEN.findall(new)
            if len(before) == len(now):
                self.tokens |= dict(zip(before, now, strict=True))

    def apply(self, value):
        """Return the JSON *value* with everything replaced, and rendered files in it signed again."""
        if isinstance(value, dict):
            made = {self.apply(key): self.apply(item) for key, item in value.items()}
            return made | ({"sha256": _sha256(made["content"])} if {"sha256", "content"} <= made.keys() else {})
        if isinstance(value, list):
            return [self.apply(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text):
        for old, new in self.texts.items():
            text = text.replace(old, new)
        return signed(TOKEN.sub(lambda found: self.tokens.get(found[0], found[0]), text))


def signed(text):
    """Return *text* with the digest of its content in the first line, where it is a rendered file."""
    return _SIGNED.sub(lambda found: f"{found[1]}{_sha256(found[2])[:16]}\n{found[2]}", text)


def _sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def read(folder: Path, name: str):
    """Return the JSON value recorded as *name* in *folder*."""
    return json.loads((folder / name).read_text(encoding="utf-8"))
