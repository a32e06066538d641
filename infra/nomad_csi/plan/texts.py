"""Check text that is written into a job file: one rule for each way in which a job file holds it."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal

from nomad_csi.errors import Problem
from nomad_csi.spec import names
from nomad_csi.text.foreign import is_unseen

Kind = Literal["text", "argument", "template", "name"]
"""
``text``: a quoted literal; ``argument``: the same with runtime variables; ``template``: the data of a template, in a
heredoc; ``name``: the name of an environment variable.
"""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_UNWRITABLE = re.compile("[\\0\\ud800-\\udfff]")


def job_text(
    value: str, path: str, *, kind: Kind = "text", variables: Iterable[str] = (), shown: bool = True
) -> Iterator[Problem]:
    """
    Yield why *value*, at *path*, cannot be written into a job file.

    *variables* are those that an argument may have besides Nomad's own; *shown*: whether problems include the value.
    """
    got = repr(value) if shown else "[not shown]"
    if kind == "name" and not _NAME.fullmatch(value):
        allowed = "a name of letters, digits, _ and - that begins with a letter or _"
        yield Problem(path=path, got=got, allowed=allowed)
    if names.TEMPLATE_START.search(names.variable_pattern(variables).sub(" ", value) if kind == "argument" else value):
        allowed = "text without ${ or %{: Nomad would evaluate it, twice"
        yield Problem(path=path, got=got, allowed=allowed, fix="write the value itself")
    if not unicodedata.is_normalized("NFC", value):
        allowed = "text in Unicode's NFC form, because job files are normalised to it"
        yield Problem(path=path, got=got, allowed=allowed, fix="normalise it")
    if _UNWRITABLE.search(value):
        yield Problem(path=path, got=got, allowed="Unicode text without NUL")
    elif kind == "template" and any(is_unseen(character) and character not in "\n\t" for character in value):
        allowed = "text without invisible characters other than newline and tab"
        yield Problem(path=path, got=got, allowed=allowed, fix="remove them")
