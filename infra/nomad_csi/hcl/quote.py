"""
Write values as HCL text with the same meaning in both dialects: literals, map keys, lists, maps.

Allowed content depends on the target, so there is one function for each: `string` for volume files, `job_string` for
job files, `config_string` for the ``config`` block of a task. An error never contains the value, which may be a secret.

Source: hashicorp/hcl ``hcl/strconv/quote.go`` (version 1, tag v1.0.1-nomad-1) and ``hclsyntax`` (v2.20.2-nomad-1),
both tried with every Unicode character, 2026-08.
"""

import functools
import itertools
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from nomad_csi import errors
from nomad_csi.spec import names
from nomad_csi.text import normal_form

# Visible characters: the same for every version of Python, although each has tables of another Unicode version.
#
# Characters unassigned in Unicode 14.0 (Python 3.11) count as invisible; otherwise the same spec would render
# differently on another version of Python.


_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})

_ASSIGNED_LATER = """
    58b-58c 5c8-5c9 88f-897 b53-b54 c5c cdc cf3 ece 1acf-1af0 1b4e-1b4f 1b7f 1c89-1c8a 208f 209d-209f 20c1-20c4
    2427-2429 2b96 2e60-2e63 2ffc-2fff 31e4-31ef a7cb-a7cf a7d2 a7d4 a7da-a7f1 ab6c-ab6d fbc3-fbd2 fd90-fd91 fdc8-fdce
    105c0-105f3 107bb-107bf 10940-10959 10d40-10d8f 10ec2-10eff 1123f-11241 11380-113e2 116d0-116e3 11b00-11bf9
    11db0-11df1 11f00-11f5a 1246f 12475-1247f 12550-12686 1342f-143fa 16100-16139 16d40-16d79 16ea0-16ed3 16ff2-16ff6
    187f8-187ff 18cd6-18cff 18d09-191d2 1b123-1b132 1b155 1b168 1cc00-1cefd 1d127-1d128 1d1eb-1d1ff 1d250-1d2d3 1d6a6
    1db00-1db1c 1df1f-1dfff 1e030-1e08f 1e4d0-1e6ff 1f1ae 1f6d8-1f6dc 1f774-1f77f 1f7d9-1f7db 1f7f1-1f7ff 1f8b2-1f8d8
    1fa54-1fa57 1fa75-1fa77 1fa87-1fa8f 1faad-1faaf 1fabb-1fabf 1fac6-1facf 1fada-1fadf 1fae8-1faef 1faf7-1fafa
    1fbcb-1fbef 1fbfa 2b739-2b73f 2b81e 2cea2-2cead 2ebf0-2ee5d 31350-3fc3f
"""
"""
Characters assigned in Unicode 15.0 to 17.0, including gaps that are assigned in none.

Source: ``unicodedata.category`` of Python 3.11, 3.12 and 3.13 (14.0, 15.0, 15.1) and ``regex`` 2026.11.15 (17.0),
compared for every code point, 2026-11.
"""


def _character_class(ranges: str) -> str:
    ends = (item.partition("-")[::2] for item in ranges.split())
    return "".join(f"\\U{first:0>8}-\\U{last or first:0>8}" for first, last in ends)


_LATER = re.compile(f"[{_character_class(_ASSIGNED_LATER)}]")


@functools.lru_cache(4096)
def is_unseen(character: str) -> bool:
    """Return whether *character* is invisible: control, format, private, line separator, or not in Unicode 14.0."""
    return unicodedata.category(character) in _UNSEEN or _LATER.match(character) is not None


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
_LARGEST = 2**63


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
    mark = next(mark for mark in _marks() if mark not in text)
    return f"<<{mark}\n{text}\n{mark}"


def _marks() -> Iterator[str]:
    yield "EOT"
    yield from (f"EOT{number}" for number in itertools.count(1))


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


def number(value: float) -> str:
    """Return *value* as an HCL number; raises `errors.SpecError` for a value that no HCL parser accepts."""
    if isinstance(value, bool) or not math.isfinite(value) or abs(value) >= _LARGEST:
        raise _refusal("a number between -2**63 and 2**63", repr(value))
    return repr(value)


def boolean(value: bool) -> str:
    """Return ``true`` or ``false``. Only for job files: in a map of a volume file, Nomad would store "1"."""
    return "true" if value else "false"


def _escaped(text: str) -> str:
    return _PERHAPS_TO_ESCAPE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    """Return the escape of a character that HCL1 refuses raw, that starts a template, or that is invisible."""
    character = found[0]
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if character in "$%" or is_unseen(character):
        return escape(character)
    return character


def _excerpt(found: re.Match[str]) -> str:
    return escape(found[0]) if is_unseen(found[0]) else found[0]


def _refuse_unwritable(text: str) -> None:
    if "\0" in text:
        raise _refusal("text without NUL", f"NUL at character {text.index(chr(0)) + 1}")
    lone = _SURROGATE.search(text)
    if lone:
        raise _refusal("Unicode text", f"half a surrogate pair at character {lone.start() + 1}", "decode it as UTF-8")


def _refuse_templates(text: str) -> None:
    found = names.TEMPLATE_START.search(text)
    if found:
        allowed = "text without ${ or %{, which Nomad would evaluate again on the client"
        raise _refusal(allowed, f"one of them at character {found.start() + 1}", "write the value itself")


def _refuse_unnormalised(text: str) -> None:
    if not normal_form.is_normalised(text):
        allowed = "text in Unicode's NFC form, as Nomad makes it of a job file"
        raise _refusal(allowed, "another form", normal_form.FIX)


def _refusal(allowed: str, got: str, fix: str = "") -> errors.SpecError:
    return errors.SpecError((errors.Problem(path="", got=got, allowed=allowed, fix=fix),), source="a value for HCL")
