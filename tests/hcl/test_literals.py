"""Literals: what either dialect makes of the same characters."""

import pytest

from nomad_csi import errors
from nomad_csi.hcl import literals, read


@pytest.mark.parametrize(
    ("literal", "volume_text", "job_text"),
    [
        (r'"a\nb\r\t\"\\"', 'a\nb\r\t"\\', 'a\nb\r\t"\\'),
        (r'"\u0024{x} \u0025{y} \U0001F389"', "${x} %{y} 🎉", "${x} %{y} 🎉"),
        ('"${attr.kernel.name}"', "${attr.kernel.name}", "${attr.kernel.name}"),
        ('"$${x} %%{y}"', "$${x} %%{y}", "${x} %{y}"),
        ('"$ $$ % %% {x}"', "$ $$ % %% {x}", "$ $$ % %% {x}"),
        (r'"cafe\u0301"', "cafe\u0301", "café"),
    ],
)
def test_literals_in_both_dialects(literal, volume_text, job_text):
    """HCL1 keeps templates and bytes as they are; HCL2 knows ``$${`` and normalises."""
    assert (literals.hcl1(literal), literals.hcl2(literal)) == (volume_text, job_text)


def test_hcl1_unescapes_nothing_inside_a_template():
    """Up to the closing brace HCL1 copies what it finds, quotes included."""
    assert literals.hcl1(r'"\n${ "a\n" {} }\n"') == '\n${ "a\\n" {} }\n'


ESCAPES = r"the escapes \n \r \t \" \\ \u0000 \U00000000 only"
CHARACTERS = r"the \u or \U escape of a Unicode character, not half a surrogate pair"


@pytest.mark.parametrize(
    ("literal", "allowed"),
    [
        *[(literal, ESCAPES) for literal in (r'"\x41"', r'"\/"', r'"\b"', r'"\u12"')],
        *[(literal, CHARACTERS) for literal in (r'"\ud83c\udf89"', r'"\UFFFFFFFF"')],
    ],
)
@pytest.mark.parametrize("decode", [literals.hcl1, literals.hcl2])
def test_rejects_what_the_dialects_do_not_share(decode, literal, allowed):
    """An escape that one of them refuses, or turns into U+FFFD, is refused in both."""
    with pytest.raises(literals.LiteralError) as refusal:
        decode(literal)

    assert str(refusal.value) == allowed


@pytest.mark.parametrize("literal", ['"a ${var.x}"', '"${local.x}"', '"${f(1)}"', '"%{ if x }"', '"${"'])
def test_hcl2_rejects_what_nomad_evaluates_at_once(literal):
    """Only a runtime variable may stay in a text: everything else would have a value already."""
    with pytest.raises(literals.NotEvaluatedError):
        literals.hcl2(literal)


@pytest.mark.parametrize("decode", [literals.hcl1, literals.hcl2])
def test_heredocs_keep_their_lines(decode):
    """Nothing is unescaped, and the last line keeps its end."""
    assert decode('<<EOF\n  a \\n "b"\n\nEOF') == '  a \\n "b"\n\n'
    assert decode("<<EOF\nEOF") == ""


def test_hcl2_takes_common_indentation_away():
    """Of ``<<-`` the lines lose what all of them have; blank ones do not count."""
    assert literals.hcl2("<<-EOF\n    a\n \n      b $${x}\n  EOF") == "a\n \n  b ${x}\n"


@pytest.mark.parametrize("token", ["<<-EOF\n  a\n  EOF", "<<-EOF\n  a\nEOF", "<<EOF\na\n  EOF", "<<EOF\na\n\tEOF"])
def test_hcl1_rejects_indented_heredocs(token):
    """HCL1 makes another text of them than HCL2 does."""
    with pytest.raises(literals.LiteralError, match="at the start of a line"):
        literals.hcl1(token)


def test_hcl2_puts_in_what_the_file_gives_a_value():
    """Variables and locals of the file itself are texts, written as HCL2 writes them."""
    scope = {"var.t": "a", "var.n": 2.5, "local.b": True, "local.c": False}

    assert literals.hcl2('"${var.t} ${ var.n } ${local.b} ${local.c}"', scope) == "a 2.5 true false"
    assert literals.hcl2("<<EOF\n${var.t} ${ var.n }\nEOF", scope) == "a 2.5\n"


@pytest.mark.parametrize("value", [None, [], {}])
def test_hcl2_rejects_a_variable_without_a_text(value):
    """A list has no text, and what the file does not say nobody knows."""
    with pytest.raises(literals.NotEvaluatedError):
        literals.hcl2('"a ${var.x}"', {"var.x": value})


@pytest.mark.parametrize("body", ["${f(x)}", "%{ if x }", "${f(1)}"])
def test_hcl2_rejects_evaluated_heredocs(body):
    """In a heredoc too, what Nomad evaluates at once has no text of its own."""
    with pytest.raises(literals.NotEvaluatedError):
        literals.hcl2(f"<<EOF\n{body}\nEOF")


def test_escape_of_half_a_character_in_a_job_file_is_a_problem_of_its_line():
    """In a literal; a heredoc has no escapes, so that there it is text, as in the JSON of a template."""
    with pytest.raises(errors.SpecError, match=r"not half a surrogate pair"):
        read.read_job('a = "\\ud800"\n')

    assert read.read_job('a = <<EOT\n"\\ud83c\\udf89"\nEOT\n')["a"] == '"\\ud83c\\udf89"\n'
