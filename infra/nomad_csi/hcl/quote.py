"""
Write values as HCL text with the same meaning in both dialects: literals, map keys, lists, maps.

Allowed content depends on the target, so there is one function for each: `string` for volume files, `job_string` for
job files, `config_string` for the ``config`` block of a task. An error never contains the value, which may be a secret.

Source: hashicorp/hcl ``hcl/strconv/quote.go`` (version 1, tag v1.0.1-nomad-1) and ``hclsyntax`` (v2.20.2-nomad-1),
both tried with every Unicode character, 2026-08.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from nomad_csi import errors
from nomad_csi.spec import names
from nomad_csi.text.foreign import is_unseen


def escape(character: str) -> str:
    """Return an escape of *character* for HCL1 and HCL2: ``escape("\u2028")`` is backslash, ``u2028``."""
    return f"\\u{ord(character):04x}" if character <= "\uffff" else f"\\U{ord(character):08x}"


# Literals, keys, lists and maps.


KEYWORDS = frozenset({"else", "endfor", "endif", "false", "for", "for_each", "if", "in", "null", "true"})
"""Words with a special meaning to some HCL parser, so that a map key with that name is quoted."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_VARIABLE = names.variable_pattern()
_SHORT_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PERHAPS_TO_ESCAPE = re.compile(r"[^ !#-\[\]-~]|[$%](?=\{)")
"""All but printable ASCII without quotation mark and backslash, and the start of a template."""

_BRACES = re.compile(r"[\s}]*\}")
"""
Text that Nomad's parser duplicates after a runtime variable: it reads ``"${A}}"`` as ``${A}}}``.

Tried on Nomad 2.0.6-dev, 2026-11.
"""

_NOT_ASCII = re.compile(r"[^ -~]")
_SURROGATE = re.compile("[\\ud800-\\udfff]")


def string(text: str) -> str:
    r"""
    Return *text* as a quoted literal: ``string('5" ${x}')`` is ``"5\" \u0024{x}"``.

    Uses only escapes of both dialects (``\n \r \t \" \\ \u \U``); visible characters stay raw. ``$${`` would double
    the dollar in HCL1, hence ``\u0024{``. Raises `errors.SpecError` for NUL and for half a surrogate pair.
    """
    _refuse_unwritable(text)
    return f'"{_escaped(text)}"'


def job_string(text: str) -> str:
    """
    Return *text* as a quoted literal for a job file.

    Raises the errors of `string`, and `errors.SpecError` for ``${`` and ``%{`` (in any notation, Nomad evaluates them
    again on the client) and for text that is not in Unicode's NFC form (Nomad normalises a job file to it).
    """
    _refuse_templates(text)
    _refuse_unnormalised(text)
    return string(text)


def config_string(text: str, also: Iterable[str] = ()) -> str:
    """
    Return *text* as a quoted literal for a task's ``config``, in which ``${NAME}`` of a runtime variable is evaluated.

    Names are those of `spec.names.NomadVariable` and of *also*, which the task's templates set. Raises
    `errors.SpecError` for anything else with ``${`` or ``%{``, ``$${NAME}`` included, which the client would read as
    an escape.
    """
    alive = names.variable_pattern(also) if also else _VARIABLE
    _refuse_templates(alive.sub(" ", text))
    _refuse_unnormalised(text)
    _refuse_unwritable(text)
    first, *behind = alive.split(text)
    parts = zip(alive.findall(text), behind, strict=True)
    return f'"{_escaped(first)}{"".join(variable + _behind(literal) for variable, literal in parts)}"'


def _behind(literal: str) -> str:
    """Return the *literal* for a position after a runtime variable, where Nomad would duplicate braces."""
    braces = _BRACES.match(literal)
    end = braces.end() if braces else 0
    return _escaped(literal[:end]).replace("}", r"\u007d") + _escaped(literal[end:])


def attribute_string(text: str) -> str:
    """Return *text*, a client attribute such as ``${attr.cpu.arch}``, as a literal in which it is evaluated."""
    if not names.ATTRIBUTE.fullmatch(text):
        raise _refusal("one runtime variable of the client such as ${attr.cpu.arch}", "something else")
    return f'"{text}"'


def heredoc(text: str) -> str:
    """
    Return *text* as a heredoc of a job file: its unchanged lines between markers. A newline is added at its end.

    Raises the errors of `job_string`, and `errors.SpecError` for control characters other than newline and tab, which
    cannot be escaped in a heredoc.
    """
    _refuse_templates(text)
    _refuse_unnormalised(text)
    _refuse_unwritable(text)
    if any(is_unseen(character) and character not in "\n\t" for character in text):
        raise _refusal("text without invisible characters other than newline and tab", "one of them")
    mark = "EOT"
    while mark in text:
        mark += "1"
    return f"<<{mark}\n{text}\n{mark}"


def comment(text: str) -> str:
    r"""
    Return *text* as a comment, one ``#`` for each line; invisible characters are written as escapes (``\u202e``).

    HCL1 also refuses U+E123 and NUL in a comment.
    """
    return "\n".join([f"# {_NOT_ASCII.sub(_excerpt, line)}".rstrip() for line in text.splitlines()])


def identifier(name: str) -> str:
    """Return *name* unchanged if it is a valid attribute name; raises `errors.SpecError` otherwise."""
    if not _IDENTIFIER.fullmatch(name):
        raise _refusal("a name of letters, digits, _ and - that begins with a letter or _", f"{len(name)} characters")
    return name


def key(text: str) -> str:
    """Return *text* as the key of a map: ``zone`` unchanged, ``"a/b"`` and words like ``for`` quoted."""
    return text if _IDENTIFIER.fullmatch(text) and text not in KEYWORDS else string(text)


def string_list(texts: Iterable[str]) -> str:
    """Return *texts* on one line: ``["noatime", "ro"]``."""
    return f"[{', '.join(string(text) for text in texts)}]"


def string_map(texts: Mapping[str, str]) -> str:
    """Return *texts* with one line for each key, sorted; ``{}`` when there are none. `layout` indents and aligns it."""
    if not texts:
        return "{}"
    return "\n".join(["{", *(f"{key(name)} = {string(texts[name])}" for name in sorted(texts)), "}"])


def boolean(value: bool) -> str:
    """Return ``true`` or ``false``. Only for job files: in a map of a volume file, Nomad would store "1"."""
    return "true" if value else "false"


def _escaped(text: str) -> str:
    return _PERHAPS_TO_ESCAPE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    """Return the escape of a character that HCL1 refuses raw, that starts a template, or that is invisible."""
    character = match[0]
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if character in "$%" or is_unseen(character):
        return escape(character)
    return character


def _excerpt(match: re.Match[str]) -> str:
    return escape(match[0]) if is_unseen(match[0]) else match[0]


def _refuse_unwritable(text: str) -> None:
    if "\0" in text:
        raise _refusal("text without NUL", f"NUL at character {text.index(chr(0)) + 1}")
    lone = _SURROGATE.search(text)
    if lone:
        raise _refusal("Unicode text", f"half a surrogate pair at character {lone.start() + 1}", "decode it as UTF-8")


def _refuse_templates(text: str) -> None:
    if match := names.TEMPLATE_START.search(text):
        allowed = "text without ${ or %{, which Nomad would evaluate again on the client"
        raise _refusal(allowed, f"one of them at character {match.start() + 1}", "write the value itself")


def _refuse_unnormalised(text: str) -> None:
    if not unicodedata.is_normalized("NFC", text):
        allowed = "text in Unicode's NFC form, as Nomad makes it of a job file"
        raise _refusal(allowed, "another form", "normalise it")


def _refusal(allowed: str, got: str, fix: str = "") -> errors.SpecError:
    return errors.SpecError((errors.Problem(path="", got=got, allowed=allowed, fix=fix),), source="a value for HCL")
