"""Reading: files as Python values, and every refusal with its place."""

import pytest

from nomad_csi import errors
from nomad_csi.hcl import read, tokens, values


def test_read_values_of_every_kind():
    """Each kind of value becomes the Python value of that kind."""
    text = 't = "x"\ni = -3\nf = 0.5\nyes = true\nno = false\nnone = null\nl = [1, ["a"],]\nm = { a = 1, "b/c" : {}, 4 = 5, for = 6 }\n'

    document = read.read_job(text)

    assert document == {
        "t": "x",
        "i": -3,
        "f": 0.5,
        "yes": True,
        "no": False,
        "none": None,
        "l": [1, ["a"]],
        "m": {"a": 1, "b/c": {}, "4": 5, "for": 6},
    }
    assert document["yes"] is True


def test_read_blocks_in_order_with_their_labels():
    """A block type is a list; labels stand beside the attributes."""
    document = read.read_job('b "x" y {\n  a = 1\n}\nb {}\nc { d { e = 2 } }\n')

    assert document == {"b": [{"a": 1, "__labels__": ["x", "y"]}, {}], "c": [{"d": [{"e": 2}]}]}


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n// comments\n/* here\n */", "\r\n"])
def test_read_nothing(text):
    """A file without content is an empty document."""
    assert read.read_volume(text) == {}


def test_read_comments_and_line_ends():
    """Comments of all three kinds and Windows line ends change nothing."""
    text = '# a\r\nid = "x" // b\r\n/* c\r\n*/\r\nname = "y # z"\r\n'

    assert read.read_volume(text) == {"id": "x", "name": "y # z"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = 1\na = 2", "line 2, column 1: expected each name once, got a again"),
        ("a {}\na = 2", "line 2, column 1: expected each name once, got a again"),
        ("a = 2\na {}", "line 2, column 1: expected each name once, got a again"),
        ('m = {\n  x = 1\n  "x" = 2\n}', "line 3, column 3: expected each key once, got 'x' again"),
        ("a = 01", "line 1, column 5: expected a number without leading zeros, which HCL1 reads as octal, got 01"),
        ("a = 0x1F", "line 1, column 5: expected a number of decimal digits, got 0x1F"),
        ("a = ", "line 1, column 5: expected what HCL allows there, got the end of the file"),
        ("b {\na = 1", "line 2, column 6: expected what HCL allows there, got the end of the file"),
        ("a = @", "line 1, column 5: expected what HCL allows there, got '@'"),
        ("a = [1 2]", "line 1, column 8: expected what HCL allows there, got '2'"),
        (
            'a = "x',
            "line 1, column 7: expected a quote that closes the one at line 1, column 5, got the end of the file",
        ),
        ('a = "x\ny"', "line 1, column 7: expected a quote that closes the one at line 1, column 5, got '\\n'"),
        ("a = <<EOF\nx\n", "line 1, column 5: expected what HCL allows there, got '<'"),
        ("a = 1\n}", "line 2, column 1: expected what HCL allows there, got '}'"),
        ("a = /* b", "line 1, column 5: expected what HCL allows there, got '/'"),
        ("a = " + "[" * 3000 + "]" * 3000, "expected a file with a few levels of brackets, got hundreds of levels"),
        ('a = 1\nb = "x\0"', "line 2, column 7: expected text without NUL, got NUL"),
        ('{"a": 1 "b"}', "line 1, column 9: expected JSON, got expecting ',' delimiter"),
        ('{"a": 1, "a": 2}', "expected each key once, got 'a' again"),
        ("[1]", "expected a JSON object, got a list"),
        (
            '{"a": ' + "[" * 9000 + "]" * 9000 + "}",
            "expected a file with a few levels of brackets, got hundreds of levels",
        ),
    ],
)
@pytest.mark.parametrize("reader", [read.read_job, read.read_volume])
def test_rejects_what_would_be_lost_or_is_no_hcl(reader, text, problem):
    """What Nomad would drop, merge or refuse is named with its place, in both kinds of file."""
    with pytest.raises(errors.SpecError) as refusal:
        reader(text, "data.hcl")

    assert str(refusal.value) == f"data.hcl: 1 problem\n  {problem}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            'segments {\n  "a/b" = "c"\n}',
            "line 2, column 3: expected what HCL allows there, got '\"'; "
            'write a quoted name inside a map: segments = { "name" = "value" }',
        ),
        ("a\n= 1", "line 2, column 1: expected what HCL allows there, got '='"),
    ],
)
def test_rejects_in_a_job_file_what_hcl2_refuses(text, problem):
    """Forms of HCL1, and what the file alone does not say."""
    with pytest.raises(errors.SpecError) as refusal:
        read.read_job(text, "data.nomad.hcl")

    assert str(refusal.value) == f"data.nomad.hcl: 1 problem\n  {problem}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = null", "line 1, column 5: expected a text in quotes, a number, true, false, a list or a map, got null"),
        ("a = x", "line 1, column 5: expected a text in quotes, a number, true, false, a list or a map, got x"),
        ("m = { a : 1 }", "line 1, column 9: expected what HCL allows there, got ':'"),
        ("a = <<E\nb\nE \n", "line 1, column 5: expected what HCL allows there, got '<'"),
        (
            "\ufeffa = 1",
            "line 1, column 1: expected text without a byte order mark, which Nomad refuses here, got one",
        ),
        (
            'a = "${x"\nm = {\n  b = "}"\n}',
            "line 1, column 6: expected a } for each ${, or Nomad reads the next lines as part of the value",
        ),
        (
            'm = {\n  "a/b" = 1\n  "a/b" = 2\n}',
            "line 3, column 3: expected each key once, got 'a/b' again; write a topology block for each topology",
        ),
        (
            'a = "${}"\nb = x',
            "line 2, column 5: expected a text in quotes, a number, true, false, a list or a map, got x",
        ),
    ],
)
def test_rejects_in_a_volume_file_what_hcl1_refuses(text, problem):
    """Forms of HCL2, and the open template that swallows what follows."""
    with pytest.raises(errors.SpecError) as refusal:
        read.read_volume(text, "data.volume.hcl")

    assert str(refusal.value) == f"data.volume.hcl: 1 problem\n  {problem}"


@pytest.mark.parametrize("text", ["a {" * 5_000, 'a = "${' + '"${' * 3_000])
def test_rejects_a_job_file_of_hundreds_of_levels(text):
    """Blocks, templates within templates: neither ends the process."""
    with pytest.raises(errors.SpecError, match="expected a file with a few levels of brackets"):
        read.read_job(text)


def test_levels_of_brackets_have_a_limit():
    """A hundred are read; brackets in texts are no levels."""
    assert read.read_job("a = " + "[" * 100 + "]" * 100 + '\nb = "' + "[" * 200 + '"')

    with pytest.raises(errors.SpecError, match="got hundreds of levels"):
        read.read_job("a = " + "[" * 101 + "]" * 101)


def test_size_of_a_file_has_a_limit(tmp_path):
    """A MiB is read; more is refused with its size before it is read."""
    file = tmp_path / "x.hcl"
    file.write_bytes(b"#" * 2**20)
    assert len(tokens.read(file)) == 2**20
    file.write_bytes(b"#" * (2**20 + 2**17))

    with pytest.raises(errors.SpecError) as refusal:
        tokens.read(file)

    assert str(refusal.value) == f"{file}: 1 problem\n  expected a file of at most 1 MiB, got 1.1 MiB"


def test_read_forms_that_only_hcl1_has():
    """Quoted names, attributes on one line or on several, commas, dots in names, blocks in a map."""
    text = (
        '"id" = "x"\nsegments {\n  "a/b" = "c"\n}\ncapability { a = "1" b = "2" }\n'
        "m = { c.d = 1, e = 0.5 }\nn = {\n  f { g = 0 }\n}\nparameters { csi.example.com = 4 }\n"
        "o\n=\n5\n"
    )

    found = read.reading(text, "data.volume.hcl", "volume")

    assert found.content == {
        "id": "x",
        "segments": [{"a/b": "c"}],
        "capability": [{"a": "1", "b": "2"}],
        "m": {"c.d": 1, "e": 0.5},
        "n": {"f": [{"g": 0}]},
        "parameters": [{"csi.example.com": 4}],
        "o": 5,
    }


def test_read_json_as_hcl_reads_it():
    """Escapes of JSON, nesting, and the halves of a surrogate pair, which Nomad's own reader dies of."""
    text = '{\n "a": "\\/\\u00e9",\n "b": [1, {"c": null}],\n "d": "\\ud83c\\udf89"\n}\n'

    found = read.reading(text, "x.json", "volume")

    assert found.content == {"a": "/é", "b": [1, {"c": None}], "d": "🎉"}
    assert read.read_volume('\n {"a": "x\ty", "b": NaN}') == {"a": "x\ty", "b": "NaN"}


def test_read_knows_lines():
    """Each entry has its line, an item of a list that of the list; JSON has none."""
    job = read.read_job('# one\njob "x" {\n  l = [\n    "a",\n    "b",\n  ]\n  m = {\n    k = 1\n  }\n}\n')
    json_file = read.read_volume('{\n "a": {\n  "b": [\n   1\n  ]\n }\n}')

    block = values.block(job, "job")
    assert (job.at("missing"), job.at("job"), block.line, block.at("l"), block["m"].at("k")) == (1, 2, 2, 3, 8)
    assert block.at("missing") == 2
    assert (json_file.line, json_file.at("a"), json_file["a"].at("b")) == (0, 0, 0)


def test_read_variables_that_the_file_gives_a_value():
    """Defaults and locals are put in; a text that is one variable keeps its type; a heredoc takes them too."""
    text = """
variable "tag" {
  type        = string
  description = <<-EOT
    never - read: }
  EOT
  default     = "v1"
  validation {
    condition     = length(
      var.tag) > 0
    error_message = "x"
  }
}
variables {
  count = 2
}
locals {
  image = "plugin:${var.tag}"
  both  = "${local.image}!"
}
job "x" {
  a = local.both
  b = "${var.count}"
  c = "n=${var.count}"
  d = <<EOF
${local.image} $${x}
EOF
  e = [var.tag]
}
"""
    [job] = read.read_job(text)["job"]

    assert job == {
        "__labels__": ["x"],
        "a": "plugin:v1!",
        "b": 2,
        "c": "n=2",
        "d": "plugin:v1 ${x}\n",
        "e": ["v1"],
    }


@pytest.mark.parametrize(
    "name", ["attr.kernel.name", "node.unique.id", "device.attr.x", 'meta["a b"]', 'env["HOME"]', "NOMAD_ALLOC_ID"]
)
def test_read_names_that_the_client_fills_in(name):
    """What only the client knows stays, with or without quotes."""
    assert read.read_job(f'a = {name}\nb = "x ${{{name}}}"\n') == {"a": f"${{{name}}}", "b": f"x ${{{name}}}"}


@pytest.mark.parametrize(
    "expression",
    [
        "var.x",
        "x",
        "node",
        "f(1)",
        *(f"1 {sign} 2" for sign in ("+", "-", "*", "/", "%", "<", ">=", "==", "!=", "&&", "||")),
        "[1].0",
        "!true",
        "-x",
        "x ? 1 : 2",
        "[for i in l : i]",
        "{ for k, v in m : k => v }",
        "{ (x) = 1 }",
        '"${var.x}"',
        '"%{x}"',
    ],
)
def test_what_has_to_be_evaluated_is_unknown(expression):
    """The other values of the file are read; a whole job, which is sent to Nomad, is refused."""
    found = read.reading(f"a = {expression}\nb = [\n{expression}, 2]\nc = 1\n", "x", "job")

    assert found.content["c"] == 1
    shown = expression.strip('"')
    assert [(item.line, item.expression) for item in found.unknown] == [(1, shown), (3, shown)]
    for name in ("a", "b"):
        with pytest.raises(values.UnevaluatedError):
            found.content[name]
    fix = "give its variables with --var or --var-file, or give the output of `nomad job run -output FILE`"
    with pytest.raises(values.UnevaluatedError) as unknown:
        found.content.items()
    assert str(unknown.value) == f"x:1: the value of {shown} is not known; {fix}"
    with pytest.raises(errors.SpecError) as refusal:
        read.read_job(f'a = {expression}\nb = "hunter2 ${{var.x}}"\n', "x")
    allowed = "expected a text, a number, true, false, null, a list or a map, got"
    assert str(refusal.value) == f"x: 2 problems\n  line 1: {allowed} {shown}\n  line 2: {allowed} ${{var.x}}"


def test_a_dynamic_block_is_unknown_with_its_label():
    """It may be any number of blocks, beside those that are written out."""
    found = read.reading('a {}\ndynamic "a" {\n  content { b = var.x }\n}\nc = 1\n', "x", "job")

    assert [item.expression for item in found.unknown] == ['dynamic "a"']
    assert found.content["c"] == 1
    with pytest.raises(values.UnevaluatedError):
        values.blocks(found.content, "a")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("string", "01", "01"),
        ("any", "01", "01"),
        ("number", "3", 3),
        ("bool", "true", True),
        ("list(string)", '["a", "b"]', ["a", "b"]),
        ("map(number)", '{"a": 1}', {"a": 1}),
    ],
)
def test_variables_that_are_given_have_their_type(kind, text, value):
    """As ``nomad job run -var``: a text for type string, JSON else."""
    given = read.Given(texts={"x": text})

    found = read.reading(f'variable "x" {{\n  type = {kind}\n}}\na = var.x\n', "x", "job", given)

    assert found.content["a"] == value


@pytest.mark.parametrize(("kind", "text"), [("number", "three"), ("list(string)", "]")])
def test_value_that_is_given_for_another_type_than_text_is_json(kind, text):
    """The variable is named."""
    with pytest.raises(errors.SpecError) as refusal:
        read.reading(f'variable "x" {{\n  type = {kind}\n}}\n', "x", "job", read.Given(texts={"x": text}))

    message = f"var.x: expected a value of type {kind}, as in JSON, got {text!r}"
    assert str(refusal.value) == f"the variables given: 1 problem\n  {message}"


def test_two_volumes_in_one_file_are_one_problem():
    """Whatever else stands in it twice."""
    with pytest.raises(errors.SpecError, match="expected each name once, got id again; write a file for each volume"):
        read.reading('id = "a"\ntype = "csi"\nid = "b"\ntype = "csi"\n', "x", "volume")


def test_variables_by_the_order_of_nomad(tmp_path):
    """An option wins over a file, the last file over the others and the environment, and any over the default."""
    file = tmp_path / "x.hcl"
    file.write_text('b = "file"\nc = "file"\n')
    first = tmp_path / "first.hcl"
    first.write_text('b = "first"\ne = "first"\n')
    environment = {f"NOMAD_VAR_{name}": "environment" for name in "abf"}
    given = read.given_variables(environment, [first, file], ["c=option"])
    text = "".join(f'variable "{name}" {{\n  default = "default"\n}}\n{name} = var.{name}\n' for name in "abcd")
    text += 'variables {\n  e = "default"\n  f = "default"\n}\ne = var.e\nf = var.f\n'

    found = read.reading(text, "x", "job", given).content

    assert [found[name] for name in "abcdef"] == ["environment", "file", "option", "default", "first", "environment"]


@pytest.mark.parametrize("option", ["=x", "x", ""])
def test_option_without_a_name_or_a_value_is_refused(option):
    """Before any file is read."""
    with pytest.raises(errors.SpecError) as refusal:
        read.given_variables({}, [], [option])

    assert str(refusal.value) == f"the command line: 1 problem\n  --var: expected NAME=VALUE, got {option!r}"


def test_a_local_whose_list_holds_an_unknown_is_unknown():
    """The list is not used with a part of its items."""
    found = read.reading(
        'locals {\n  l = [f(1), 2]\n}\na = local.l\nb = "${f(\n1)}" == 1\nc = "x%{if y}"\n', "x", "job"
    )

    expected = [(2, "f(1)"), (4, "local.l"), (5, "${f("), (7, "%{if y}")]
    assert [(item.line, item.expression) for item in found.unknown] == expected


def test_rejects_with_all_problems_of_a_file():
    """Each duplicate is reported, so that one correction is enough."""
    with pytest.raises(errors.SpecError) as refusal:
        read.read_job("a = 1\na = 2\nc = 01\n")

    assert [problem.path for problem in refusal.value.problems] == ["line 2, column 1", "line 3, column 5"]


@pytest.mark.parametrize("problem_of", [read.read_job, read.read_volume])
def test_rejects_without_showing_a_text(problem_of):
    """A text that cannot be decoded may be a secret."""
    with pytest.raises(errors.SpecError) as refusal:
        problem_of('password = "hunter2\\q"\n')

    assert "hunter2" not in str(refusal.value)
