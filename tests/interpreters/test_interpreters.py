"""Every Python on this machine answers alike: quoting, masking, layout, scanning, reading, every regular expression."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import hostile
from tests.interpreters import product_patterns

INFRA = Path(__file__).parents[2] / "infra"
SEED = 3112
COUNT = int(os.environ.get("INTERPRETER_TEXTS", "8000"))
"""Some three CPU seconds of each Python; 20,000 with ``make test-all``."""

TEXTS_OF_A_PATTERN = 40

PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
FOLDERS = ("/usr/bin", "/usr/local/bin", str(Path.home() / ".pyenv/versions/*/bin"))

PIECES = [
    *(
        "password",
        "token",
        "X-Vault-Token",
        "--secret",
        "api_key",
        "credentials",
        "key",
        "<token>",
        "</token>",
        "Bearer ",
    ),
    *(
        "=",
        ": ",
        ":=",
        " => ",
        "%3D",
        '"',
        "'",
        '\\"',
        '\\\\\\"',
        "[",
        "]",
        "map[",
        "{",
        "}",
        "<",
        ">",
        " ",
        "\n",
        ",",
        ";",
    ),
    *(
        "hunter2",
        "hunter2-and-more",
        "hunter2%2dand%2dmore",
        'a\\"b\\\\c%41',
        "a&quot;b\\c%41",
        "first-line second-line",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEvQIBADANBgkqhki\n",
    ),
    *(
        "https://u:p@h/",
        "postgres://",
        "@",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJa.b.c",
    ),
    *(
        "...",
        "\\u00e9",
        "\\ud83d\\ude00",
        "%C3%A9",
        "\\xc3\\xa9",
        "&#65;",
        "''",
        "'\\''",
        "aHVudGVyMi1hbmQtbW9yZQ",
        "\\",
        "$${",
        "%{",
    ),
]


def pythons():
    """Return the name of each Python of `PYTHONS` and its path, but for this one; ``None`` for one that is not there."""
    own = Path(sys.executable).resolve()
    for name in PYTHONS:
        found = [path for folder in FOLDERS for path in Path("/").glob(f"{folder[1:]}/{name}")]
        if not found and (place := shutil.which(name)):
            found = [Path(place)]
        yield from ((name, str(path)) for path in found if path.resolve() != own)
        if not found:
            yield name, None


def corpus(count):
    """Return hostile texts: half for HCL, half for masking."""
    chance = random.Random(SEED)  # noqa: S311  # no secret
    masking = ["".join(chance.choices(PIECES, k=chance.randrange(1, 12))) for _ in range(count // 2)]
    return [*hostile.texts(count - len(masking), SEED), *masking]


def texts_for(pattern, flags, chance):
    """Return texts that *pattern* may match, some with something else in them."""
    tree = re._parser.parse(pattern, flags)
    pieces = [*re.findall(r"\w+|[^\w\s]|\s", pattern), *"aZ09_-.:/= \n\"'\\{}[]$%\u00e9"]
    texts = []
    for _ in range(TEXTS_OF_A_PATTERN):
        text = _sample(tree, {}, chance)
        for _ in range(chance.randrange(3)):
            place = chance.randrange(len(text) + 1)
            text = text[:place] + chance.choice(pieces) + text[place + chance.randrange(2) :]
        texts.append(text)
    return texts


def _sample(tree, groups, chance):
    """Return a text for a parsed pattern; conditions around a place are not looked at."""
    return "".join(_sample_one(str(operation), given, groups, chance) for operation, given in tree)


def _sample_one(operation, given, groups, chance):
    match operation:
        case "LITERAL":
            return chr(given)
        case "NOT_LITERAL":
            return chance.choice([each for each in "aZ9_ -\n" if each != chr(given)])
        case "ANY":
            return chance.choice("aZ9_ -\n")
        case "IN":
            return _of_class(given, chance)
        case "BRANCH":
            return _sample(chance.choice(given[1]), groups, chance)
        case "SUBPATTERN":
            groups[given[0]] = _sample(given[3], groups, chance)
            return groups[given[0]]
        case "GROUPREF":
            return groups.get(given, "")
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, inner = given
            times = chance.choice([least, min(most, least + 1), min(most, least + chance.randrange(1, 20))])
            return "".join(_sample(inner, groups, chance) for _ in range(times))
    return ""


def _of_class(items, chance):
    kind, given = chance.choice(items)
    match str(kind):
        case "LITERAL":
            return chr(given)
        case "RANGE":
            return chr(chance.randint(*given))
        case "CATEGORY":
            return chance.choice({"DIGIT": "09", "SPACE": " \t\n", "WORD": "aZ_\u00e9"}.get(str(given)[9:], "-.a"))
    return chance.choice("aZ9_ -\n\u00e9")


def run(python, given):
    """Return what *python* answers, without its own packages and the settings of this process."""
    done = subprocess.run(
        [python, "-I", "-B", "-S", str(Path(__file__).with_name("answers.py"))],
        input=json.dumps(given | {"infra": str(INFRA)}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def patterns():
    """Every pattern of the product: place, pattern and flags."""
    command = [sys.executable, "-W", "ignore", product_patterns.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def given(patterns):
    """What each Python is given."""
    chance = random.Random(SEED)  # noqa: S311  # no secret
    rows = [(pattern, flags, texts_for(pattern, flags, chance)) for _, pattern, flags in patterns]
    return {"texts": corpus(COUNT), "patterns": rows}


@pytest.fixture(scope="module")
def own(given):
    """What this Python answers."""
    return run(sys.executable, given)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "python"), list(pythons()), ids=str)
def test_python_answers_alike(given, own, name, python):
    """Byte for byte; CPython before 3.11.5 matches possessive quantifiers wrongly."""
    if python is None:
        pytest.skip(f"no {name} on this machine")

    other = run(python, given)

    differing = [
        text for text, *pair in zip(given["texts"], own["texts"], other["texts"], strict=True) if pair[0] != pair[1]
    ]
    assert [
        (
            text,
            run(sys.executable, given | {"texts": [text], "whole": 0}),
            run(python, given | {"texts": [text], "whole": 0}),
        )
        for text in differing[:3]
    ] == []
    assert [
        row[0]
        for row, *pair in zip(given["patterns"], own["patterns"], other["patterns"], strict=True)
        if pair[0] != pair[1]
    ] == []


def test_answers_tell_texts_apart(own):
    """The digests are of what was answered: few texts have the same."""
    assert len(set(own["texts"])) > 0.8 * COUNT
    assert len(set(own["patterns"])) > 0.9 * len(own["patterns"])


def _operations(tree):
    for operation, given in tree:
        yield str(operation)
        rest = [given]
        while rest:
            item = rest.pop()
            if isinstance(item, re._parser.SubPattern):
                yield from _operations(item)
            elif isinstance(item, (list, tuple)):
                rest.extend(item)


WRONG = {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}


def is_matched_wrongly(pattern, flags):
    """Return whether CPython before 3.11.5 may match *pattern* wrongly (CPython gh-106052)."""
    return not WRONG.isdisjoint(_operations(re._parser.parse(pattern, flags)))


def test_no_pattern_is_possessive_or_atomic(patterns):
    """
    Debian 12 has Python 3.11.2, which matches both wrongly over a group with a lookahead (CPython gh-106052).

    There ``(?:a++|b(?!c))*+`` matches ``bc``, so that ``${`` passed into HCL, and private keys were shown. Write one
    alternation whose branches begin differently, or a scanner: both are linear without.
    """
    assert [(module, pattern) for module, pattern, flags in patterns if is_matched_wrongly(pattern, flags)] == []
    assert {"nomad_csi.hcl.quote", "nomad_csi.text.redaction"} <= {module for module, *_ in patterns}
    assert len(patterns) > 150


def test_no_text_looks_like_such_a_pattern():
    """Also where a pattern is put together when it is needed: no text of a module has such a quantifier."""
    sign = re.compile(r"(?<!\\)[\])*+?}\w.][*+?}]\+(?!\+)|\(\?>")
    found = [
        (module.name, line)
        for folder in ("nomad_csi", "nomad_csi_sandbox")
        for module in (INFRA / folder).rglob("*.py")
        for line in module.read_text(encoding="utf-8").splitlines()
        if re.search(r"""\br[fb]?["']|re\.""", line) and sign.search(line)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("pattern", "is_wrong"), [("a++", True), ("(?:(?>a)|b)*", True), ("[*+]+", False), (r"\++", False)]
)
def test_such_patterns_are_noticed(pattern, is_wrong):
    """In a group, too."""
    assert is_matched_wrongly(pattern, 0) is is_wrong
