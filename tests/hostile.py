"""Hostile text by the thousand: the same on every run, and quick to make, unlike the examples of hypothesis."""

import itertools
import random
import unicodedata

FRAGMENTS = [
    *"$%{}\"\\'`#=,:;()[]<>&|!?*/-~^@ \t\n\r",
    *(
        "${",
        "%{",
        "$${",
        "%%{",
        "${}",
        "${x}",
        '${"',
        "%{ if true }",
        "${file(",
        "$\\{",
        "\\u0024{",
        "\\x24{",
        "{{",
        "}}",
    ),
    *('"\n', '\\"', "\\\\", "\\n", "\\u", "\\U0001F389", "\\", '" }', '"\nid = "injected', "\n}\njob ", '"]', '", "'),
    *(
        "//",
        "/*",
        "*/",
        "<<EOF\n",
        "\nEOF\n",
        "<<-EOT",
        "EOT",
        "\r\n",
        "\n\n",
        "null",
        "true",
        "0x1",
        "1e9",
        "for",
        "in",
    ),
    *("\ufeff", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1b[0m", "\x7f", "\u200b", "\u200d", "\u202e", "\u2066"),
    *(
        "e\u0301",
        "\u0301",
        "\u1e9b\u0323",
        "\u212b",
        "\ufb01",
        "\u1100\u1161",
        "क्ष",
        "🎉",
        "👩\u200d👩",
        "🇩🇪",
        "ключ",
        "中",
    ),
    *("\ue123", "\uffff", "\ufdd0", "\U000e0001", "\U0010ffff", "\U0001fae8", "\u0cf3", "\U00031350"),
]
UNWRITABLE = ["\0", "\ud800", "\udfff", "\udc80", "\ud83c"]


def texts(count, seed):
    """Yield *count* texts that a file can hold."""
    chance = random.Random(seed)  # noqa: S311  # tests are to be repeated
    for _ in range(count):
        yield "".join(_piece(chance) for _ in range(chance.randrange(14)))


def unwritable_texts(count, seed):
    """Yield *count* texts with NUL or half a surrogate pair somewhere."""
    chance = random.Random(seed)  # noqa: S311  # tests are to be repeated
    for text in texts(count, seed + 1):
        at = chance.randrange(len(text) + 1)
        yield text[:at] + chance.choice(UNWRITABLE) + text[at:]


def job_texts(count, seed):
    """Yield *count* texts that a job file may hold: normalised, and without ``${`` and ``%{``."""
    made = (unicodedata.normalize("NFC", text) for text in texts(10 * count, seed))
    yield from itertools.islice((text for text in made if "${" not in text and "%{" not in text), count)


def _piece(chance):
    kind = chance.randrange(8)
    if kind < 5:
        return chance.choice(FRAGMENTS)
    character = chr(chance.randrange((0x80, 0x800, 0x110000)[kind - 5]))
    # Nomad's newer Unicode may normalise a character that this Python's does not have yet ("Cn") in another way.
    return "x" if character == "\0" or unicodedata.category(character) in {"Cs", "Cn"} else character
