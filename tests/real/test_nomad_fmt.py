"""Layout held to the real formatter: what we lay out, ``nomad fmt`` leaves alone."""

import shutil
import subprocess

import hypothesis
import pytest
from hypothesis import strategies

from nomad_csi.hcl import layout, quote

NOMAD = shutil.which("nomad")
pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.skipif(NOMAD is None, reason="no `nomad` on PATH to format with"),
]

SPACES = strategies.sampled_from(["", " ", "  ", "\t"])
COMMENTS = strategies.sampled_from(["", "", " # why é", "// which", " # "])
TEXTS = strategies.text(
    strategies.sampled_from('ab${%}"\\\n#é🎉ключ/.') | strategies.characters(codec="utf-8"), max_size=8
)
LITERALS = TEXTS.filter(lambda text: "\0" not in text).map(quote.string)
SCALARS = LITERALS | strategies.sampled_from(
    ["1", "-2.5", "true", "null", '"${CSI_ENDPOINT}"', "var.x", "x[0]", "f(1,2)"]
)
NAMES = strategies.sampled_from(["a", "id", "external_id", "stage_publish_base_dir", "x-y"])
KEYS = NAMES | LITERALS


@strategies.composite
def _list(draw, values):
    items = draw(strategies.lists(values, max_size=3))
    if draw(strategies.booleans()):
        return f"[{draw(SPACES)}{','.join(draw(SPACES) + item for item in items)}{draw(SPACES)}]"
    lines = [f"{draw(SPACES)}{item},{draw(COMMENTS)}\n" for item in items]
    return f"[{draw(SPACES)}\n{''.join(lines)}{draw(SPACES)}]"


@strategies.composite
def _map(draw, values):
    pairs = draw(strategies.lists(strategies.tuples(KEYS, values), max_size=3))
    elements = [f"{draw(SPACES)}{key}{draw(SPACES)}={draw(SPACES)}{value}" for key, value in pairs]
    if draw(strategies.booleans()):
        return f"{{{draw(SPACES)}{','.join(elements)}{draw(SPACES)}}}"
    lines = [f"{element}{draw(COMMENTS)}\n" for element in elements]
    return f"{{{draw(COMMENTS)}\n{''.join(lines)}{draw(SPACES)}}}"


VALUES = strategies.recursive(SCALARS, lambda inner: _list(inner) | _map(inner), max_leaves=8)


@strategies.composite
def _attributes(draw):
    """Attributes one below the other; each name has a number behind it, because a name may stand only once."""
    parts = draw(strategies.lists(strategies.tuples(NAMES, VALUES, COMMENTS), max_size=5))
    return "".join(
        f"{draw(SPACES)}{name}{index}{draw(SPACES)}={draw(SPACES)}{value}{comment}\n"
        for index, (name, value, comment) in enumerate(parts)
    )


@strategies.composite
def _block(draw, bodies):
    label = draw(strategies.sampled_from(["", ' "plugin"']))
    return f"{draw(SPACES)}{draw(NAMES)}{label} {{{draw(COMMENTS)}\n{draw(bodies)}{draw(SPACES)}}}{draw(COMMENTS)}\n"


OTHER_LINES = strategies.sampled_from(["\n", " \n", "# comment\n", "b {}\n", "/* two\n lines */\n"])
BODIES = strategies.recursive(
    _attributes(),
    lambda inner: strategies.lists(_block(inner) | OTHER_LINES, max_size=3).map("".join),
    max_leaves=6,
)
BLOCKS = strategies.lists(_block(BODIES), max_size=2).map("".join)
DOCUMENTS = strategies.tuples(OTHER_LINES, _attributes(), OTHER_LINES, BLOCKS).map("".join)


def _formatted(folder, texts):
    """Return what ``nomad fmt`` makes of *texts*, all in one call."""
    files = [folder / f"{index}.hcl" for index in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8", newline="")
    done = subprocess.run(
        [NOMAD, "fmt", "-list=false", *files], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [file.read_bytes().decode() for file in files]


@hypothesis.settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow],
)
@hypothesis.given(strategies.lists(DOCUMENTS, min_size=1, max_size=25))
def test_fmt_leaves_our_layout_alone(tmp_path, documents):
    """However a document was spaced: after our layout the real formatter changes nothing."""
    laid_out = [layout.layout(document) for document in documents]

    assert _formatted(tmp_path, laid_out) == laid_out


def test_fmt_would_change_what_is_not_laid_out(tmp_path):
    """The comparison can fail: the formatter does change text that has no layout."""
    assert _formatted(tmp_path, ["a=1\n"]) == ["a = 1\n"]
