"""Changed inputs: of texts and of decoded JSON. The same seed gives the same input."""

import copy
import json

from tests import hostile

VALUES = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**70), 10**400, 0.5, 1e300),
    *("", "x", "\x1b[2J", "数据", "a" * 5000, "-", "../..", "2026-01-01T00:00:00Z", "${x", "\ue123", "\u2028"),
    *([], [None], [1], ["x"], [[]], [{}], {}, {"x": None}, {"x": 1}, {"": {"": []}}),
)
WHOLE = ("", " ", "null", "[", "{", "nonsense", "NaN", "1e999999", "-1e999999", '"\\ud800"', "[1]", "[null]", "0")
MANY = ("[" * 2000, "{" * 2000, "[{}," * 2000, '{"a":' * 2000, "(" * 2000, "${" * 2000, '"' * 2001, "\\" * 2001)


def text(value, chance):
    """Return *value* with some of its parts replaced, left out, repeated or put elsewhere."""
    for _ in range(1 + chance.randrange(4)):
        start = chance.randrange(len(value) + 1)
        end = min(len(value), start + chance.choice((0, 1, 1, 2, 8, 40, 400)))
        part = value[start:end]
        act = chance.randrange(7)
        new = (
            "",
            chance.choice(hostile.FRAGMENTS),
            part * chance.randrange(2, 5),
            chance.choice(hostile.FRAGMENTS) * chance.choice((1, 2, 300)),
            chr(
                chance.choice(
                    (0, 9, 10, 13, 27, 127, 0x85, 0x2028, 0xD800, 0xFEFF, 0x1F389, chance.randrange(0x110000))
                )
            ),
            chance.choice(MANY) if chance.random() < 0.1 else part[::-1],
            str(chance.choice(VALUES)),
        )[act]
        value = value[:start] + new + value[end:]
    if chance.random() < 0.1:
        value = value[: chance.randrange(len(value) + 1)]
    return value


def document(value, chance):
    """Return *value*, decoded JSON that is changed in place, with one value replaced, removed, repeated or deepened."""
    path = chance.choice(list(_places(value, ())))
    if not path:
        return copy.deepcopy(chance.choice(VALUES))
    parent = value
    for step in path[:-1]:
        parent = parent[step]
    act = chance.choice(("replace", "replace", "text", "text", "remove", "repeat", "deepen", "rename"))
    old = parent[path[-1]]
    if act == "remove":
        del parent[path[-1]]
    elif act == "repeat" and isinstance(parent, list):
        parent.append(old)
    elif act == "deepen":
        parent[path[-1]] = {"x": [old]}
    elif act == "rename" and isinstance(parent, dict):
        parent[text(str(path[-1]), chance)] = parent.pop(path[-1])
    elif act == "text" and isinstance(old, str):
        parent[path[-1]] = text(old, chance)
    else:
        parent[path[-1]] = copy.deepcopy(chance.choice(VALUES))
    return value


def json_text(value, chance):
    """Return the text of a changed *value*; now and then a text that is no JSON of Nomad's at all."""
    kind = chance.random()
    if kind < 0.03:
        return chance.choice(WHOLE + MANY)
    if kind < 0.2:
        return text(json.dumps(value), chance)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        value = document(value, chance)
        if not isinstance(value, dict | list):
            break
    return json.dumps(value)


def content(value, chance):
    """Return *value*, bytes, with some of its bytes changed."""
    return text(value.decode("latin-1"), chance).encode("latin-1", "replace")


def _places(value, path):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))
