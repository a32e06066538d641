"""Layout: golden pairs of text before and after, and what layout never does."""

import hypothesis
import pytest
from hypothesis import strategies

from nomad_csi import errors
from nomad_csi.hcl import layout, tokens

many = hypothesis.settings.get_profile("hcl")

GOLDEN = {
    "one attribute": ("a=1", "a = 1\n"),
    "nothing": ("", ""),
    "equal signs of neighbours": ('id="a"\nexternal_id = "b"\n', 'id          = "a"\nexternal_id = "b"\n'),
    "a blank line ends a run": ("a=1\n\nlonger=2\n", "a = 1\n\nlonger = 2\n"),
    "a comment ends a run": ("a=1\n# why\nlonger=2\n", "a = 1\n# why\nlonger = 2\n"),
    "a block ends a run": ("a=1\nb {\n}\nlonger=2\n", "a = 1\nb {\n}\nlonger = 2\n"),
    "an opener ends a run": (
        'a=1\nlonger   =   [\n"x",\n]\nb=2\n',
        'a = 1\nlonger = [\n  "x",\n]\nb = 2\n',
    ),
    "a one-line list and map are in a run": (
        "a=[ 1,2 ,3 ]\nlonger={x=1,y=2}\n",
        "a      = [1, 2, 3]\nlonger = { x = 1, y = 2 }\n",
    ),
    "empty brackets": ("a={ }\nb=[ ]\nc { }\n", "a = {}\nb = []\nc {}\n"),
    "a one-line block": ("c{a=1}\n", "c { a = 1 }\n"),
    "quoted keys are in a run": (
        'segments={\n"a/b"="1"\nlonger_key="2"\n}\n',
        'segments = {\n  "a/b"      = "1"\n  longer_key = "2"\n}\n',
    ),
    "an emoji is one column, an escape as many as it has": (
        'm={\n"🎉"=1\n"\\u0024{"=2\n}\n',
        'm = {\n  "🎉"       = 1\n  "\\u0024{" = 2\n}\n',
    ),
    "blocks in blocks": (
        'job "x"   {\ngroup "g" {\ncount=1\n}\n}\n',
        'job "x" {\n  group "g" {\n    count = 1\n  }\n}\n',
    ),
    "a blank line in a block has no spaces": ("b {\na=1\n\nc=2\n}\n", "b {\n  a = 1\n\n  c = 2\n}\n"),
    "two brackets on a line are one level": (
        "a=[{\nb=1\n},{\nc=2\n}]\nd=[\n[\n1,\n]]\ne=1\n",
        "a = [{\n  b = 1\n  }, {\n  c = 2\n}]\nd = [\n  [\n    1,\n]]\ne = 1\n",
    ),
    "comments behind values": (
        "a=1 # one\nlonger=22// two\nc {# three\n}\n",
        "a      = 1  # one\nlonger = 22 // two\nc {         # three\n}\n",
    ),
    "comments of one line and in line": (
        "a=/* here */1\n/* two\n  lines */\nb=2\n",
        "a = /* here */ 1\n/* two\n  lines */\nb = 2\n",
    ),
    "references, indexes, calls, negative numbers": (
        "a=var . x\nb=l [ 0 ] [ 1 ]\nc=f ( 1,-2 )\nd=-1\n",
        "a = var.x\nb = l[0][1]\nc = f(1, -2)\nd = -1\n",
    ),
    "a heredoc stays as it is, and in its run": (
        "a=<<-EOF\n  x = 1\n\n\n    y  \n  EOF\nlonger=1\n",
        "a      = <<-EOF\n  x = 1\n\n\n    y  \n  EOF\nlonger = 1\n",
    ),
    "text in quotes stays as it is": ('a="${x}  =  [ # "\n', 'a = "${x}  =  [ # "\n'),
    "spare blank lines go": ("\n\na=1\n\n\n \nb=2\n\n\n", "a = 1\n\nb = 2\n"),
    "tabs, spaces and carriage returns at the end of lines go": ("a\t=\t1 \t\r\n# c \t\r\n", "a = 1\n# c\n"),
}


@pytest.mark.parametrize(("text", "laid_out"), GOLDEN.values(), ids=GOLDEN.keys())
def test_layout_of_golden_pairs(text, laid_out):
    """Each rule of ``nomad fmt`` by an example that its formatter leaves unchanged."""
    assert layout.layout(text) == laid_out


MARKS = [*"=,.:(){}[] \t\n", "\n\n", "\r\n"]
WORDS = [
    "a",
    "long_name",
    "1",
    "-1",
    '"k"',
    '"é🎉"',
    '"${x}"',
    "# c \n",
    "// d\n",
    "/* e */",
    "/* f\n */",
    "<<E\n x\nE\n",
    'id = "x"\n',
    'longer = "5\\" ${x} # /*"\n',
    '"k/l"="<<E"\r\n',
    '  a\t=  "*/" \n',
]
PIECES = strategies.sampled_from(MARKS + WORDS)
SOUP = strategies.lists(PIECES, max_size=40).map("".join)


@many
@hypothesis.given(SOUP)
def test_layout_changes_nothing_twice(text):
    """Even text that is no HCL: laying out is finished after one pass."""
    try:
        laid_out = layout.layout(text)
    except errors.SpecError:
        hypothesis.reject()

    assert layout.layout(laid_out) == laid_out


@many
@hypothesis.given(SOUP)
def test_layout_changes_white_space_only(text):
    """The tokens are the same before and after, but for blank lines."""
    try:
        laid_out = layout.layout(text)
    except errors.SpecError:
        hypothesis.reject()

    def visible(source):
        return [token.text.rstrip() for token in tokens.tokenize(source, "job", "") if token.kind != "newline"]

    assert visible(laid_out) == visible(text)
