"""Quoting: what a value reads as again, and what is refused."""

import unicodedata

import hypothesis
import pytest
from hypothesis import strategies

from nomad_csi import errors
from nomad_csi.hcl import quote, read
from nomad_csi.spec import names

FRAGMENTS = [*'$%{}"\\\n\r\t#=,', "//", "/*", "*/", "<<EOF\n", "${", "%{", "$${"]
CHARACTERS = strategies.characters(codec="utf-8", exclude_characters="\0")
HOSTILE = strategies.lists(strategies.sampled_from(FRAGMENTS) | CHARACTERS, max_size=12).map("".join)
many = hypothesis.settings.get_profile("hcl")


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("", '""'),
        ("vol-1", '"vol-1"'),
        ('say "x" \\', r'"say \"x\" \\"'),
        ("a\nb\rc\td", r'"a\nb\rc\td"'),
        ("${x} %{ if } $${y}", r'"\u0024{x} \u0025{ if } $\u0024{y}"'),
        ("5$ 5% {x}", '"5$ 5% {x}"'),
        ("café 🎉 ключ", '"café 🎉 ключ"'),
        ("\x01\x7f\x85", r'"\u0001\u007f\u0085"'),
        ("\u2028\u2029\ufeff\u200b\u202e", r'"\u2028\u2029\ufeff\u200b\u202e"'),
        ("\ue123\uffff\U000e0001", r'"\ue123\uffff\U000e0001"'),
        ("e\u0301", '"e\u0301"'),
    ],
)
def test_string_escapes_only_what_both_dialects_escape(text, literal):
    """What a reader can see stays raw; templates, controls and invisible characters become escapes."""
    assert quote.string(text) == literal


@many
@hypothesis.given(strategies.text(CHARACTERS))
def test_literals_hold_nothing_invisible(text):
    """A reviewer sees every character that the file holds."""
    literal = quote.string(text)

    assert not {unicodedata.category(character) for character in literal} & {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pass\0word", "expected text without NUL, got NUL at character 5"),
        ("a\ud83c", "expected Unicode text, got half a surrogate pair at character 2; decode it as UTF-8"),
    ],
)
def test_rejects_what_no_file_can_hold(text, message):
    """NUL and half a surrogate pair are refused, without showing a value that may be secret."""
    with pytest.raises(errors.SpecError) as refusal:
        quote.string(text)

    assert str(refusal.value) == f"a value for HCL: 1 problem\n  {message}"


@pytest.mark.parametrize("text", ["${attr.cpu.arch}", "a %{ if }", "$${x}", "%%{x}", "${"])
@pytest.mark.parametrize("quoting", [quote.job_string, quote.config_string])
def test_rejects_templates_in_a_job(quoting, text):
    """Nomad evaluates stored text again on the client, so no spelling of ``${`` is a literal one."""
    with pytest.raises(errors.SpecError, match=r"expected text without \$\{ or %\{"):
        quoting(text)


@pytest.mark.parametrize("quoting", [quote.job_string, quote.config_string])
def test_rejects_unnormalised_text_in_a_job(quoting):
    """A job file is normalised to NFC, so another form would not arrive."""
    with pytest.raises(errors.SpecError, match="expected text in Unicode's NFC form"):
        quoting("cafe\u0301")


@pytest.mark.parametrize("variable", names.NomadVariable)
def test_config_string_keeps_each_allowed_variable(variable):
    """A variable of the list stays alive, and the text around it is quoted."""
    text = f'--name="a\n{{x}}"=${{{variable.value}}}/%'

    literal = quote.config_string(text)

    assert literal == f'"--name=\\"a\\n{{x}}\\"=${{{variable.value}}}/%"'
    assert read.read_job(f"v = {literal}\n") == {"v": text}


@pytest.mark.parametrize(
    "text",
    ["${NOT_A_VARIABLE}", "$${CSI_ENDPOINT}", "${ CSI_ENDPOINT }", "${CSI_ENDPOINT", "${CSI_ENDPOINT}${env.X}", "${}"],
)
def test_config_string_rejects_other_templates(text):
    """An unknown variable fails the task on the client, and ``$${`` is an escape there."""
    with pytest.raises(errors.SpecError, match="evaluate again on the client"):
        quote.config_string(text)


def test_config_string_quotes_the_halves_of_no_template_around_a_variable():
    """``%`` in front of it and ``{`` behind it: the variable stands between them."""
    text = "%${CSI_ENDPOINT}{x}"

    assert read.read_job(f"v = {quote.config_string(text)}\n") == {"v": text}


@pytest.mark.parametrize("text", ["a\nEOT\nb", "\ta\n\tb", "EOT", "  EOT\nEOT1\nEOT11", 'x = "EOT"\n}'])
def test_heredoc_is_not_ended_by_its_text(text):
    """Lines that look like its mark are text, and what stands behind it is read."""
    document = read.read_job(f'first = {quote.heredoc(text)}\nlast = "kept"\n')

    assert document == {"first": f"{text}\n", "last": "kept"}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("server", "server"),
        ("node_attach-driver2", "node_attach-driver2"),
        ("topology.ebs.csi.aws.com/zone", '"topology.ebs.csi.aws.com/zone"'),
        *[
            (word, f'"{word}"')
            for word in ["else", "endfor", "endif", "false", "for", "for_each", "if", "in", "null", "true"]
        ],
        ("2x", '"2x"'),
        ("", '""'),
        ("ключ", '"ключ"'),
        ("k ${z}", r'"k \u0024{z}"'),
    ],
)
def test_key_quotes_what_is_no_plain_word(text, written):
    """A word stands bare; anything else, and every keyword, is quoted."""
    assert quote.key(text) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("one\ntwo", "# one\n# two"),
        ("a\r\n\nb\u2028c\x0bd", "# a\n#\n# b\n# c\n# d"),
        ('x */ "${y}" \\', '# x */ "${y}" \\'),
        ("café 🎉", "# café 🎉"),
        ("\0 \ue123 \u202e \ud800", r"# \u0000 \ue123 \u202e \ud800"),
        ("", ""),
    ],
)
def test_comment_is_one_of_each_line_and_hides_nothing(text, written):
    """A secret's key or an image's name cannot leave the comment, and is read as it is."""
    assert quote.comment(text) == written


@many
@hypothesis.given(HOSTILE, HOSTILE)
def test_comment_changes_nothing_else(above, behind):
    """Whatever a comment says, both dialects read the attribute below it, and only that."""
    text = f'{quote.comment(above)}\nid = "kept"\n{quote.comment(behind)}\n'

    assert read.read_volume(text) == {"id": "kept"}
    assert read.read_job(text) == {"id": "kept"}


@pytest.mark.parametrize("name", ["", "2X", "a b", "a=1\nb", "ключ", "A\n"])
def test_rejects_what_is_no_identifier(name):
    """A name cannot be quoted there, so what is none is refused."""
    with pytest.raises(errors.SpecError, match="expected a name of letters"):
        quote.identifier(name)


def test_string_map_sorts_its_keys():
    """Two runs write the same text, whatever the order of the keys was."""
    assert quote.string_map({"b": "1", "a/c": "2"}) == '{\n"a/c" = "2"\nb = "1"\n}'
    assert quote.string_map({}) == "{}"


@pytest.mark.parametrize(
    ("text", "also", "literal"),
    [
        ("${NOMAD_ALLOC_ID}", (), '"${NOMAD_ALLOC_ID}"'),
        ("a${NOMAD_ALLOC_ID}}b}", (), r'"a${NOMAD_ALLOC_ID}\u007db}"'),
        ("${NOMAD_ALLOC_ID} } }c}", (), r'"${NOMAD_ALLOC_ID} \u007d \u007dc}"'),
        ("}${NOMAD_ALLOC_ID}-${NOMAD_ALLOC_ID}", (), '"}${NOMAD_ALLOC_ID}-${NOMAD_ALLOC_ID}"'),
        ('"${TOKEN}"', ("TOKEN",), r'"\"${TOKEN}\""'),
    ],
)
def test_runtime_variables_stay_alive_and_braces_behind_them_are_escaped(text, also, literal):
    """Nomad's parser writes braces behind a variable twice; elsewhere they stay as they are."""
    assert quote.config_string(text, also) == literal


def test_attribute_of_a_client_stays_alive():
    """One variable and nothing beside it."""
    assert quote.attribute_string("${attr.cpu.arch}") == '"${attr.cpu.arch}"'


TEMPLATE = "text without ${ or %{, which Nomad would evaluate again on the client"
SEEN = "text without invisible characters other than newline and tab"
ATTRIBUTE = "one runtime variable of the client such as ${attr.cpu.arch}"
NFC = "text in Unicode's NFC form, as Nomad makes it of a job file"
NAME = "a name of letters, digits, _ and - that begins with a letter or _"


@pytest.mark.parametrize(
    ("function", "value", "got", "allowed", "fix"),
    [
        (quote.job_string, "ab${x}", "one of them at character 3", TEMPLATE, "write the value itself"),
        (quote.config_string, "${TOKEN}", "one of them at character 1", TEMPLATE, "write the value itself"),
        (quote.heredoc, "%{x}", "one of them at character 1", TEMPLATE, "write the value itself"),
        (quote.job_string, "e\u0301", "another form", NFC, "normalise it"),
        (quote.string, "a\0b\0", "NUL at character 2", "text without NUL", ""),
        (quote.string, "a\ud800", "half a surrogate pair at character 2", "Unicode text", "decode it as UTF-8"),
        (quote.heredoc, "a\rb", "one of them", SEEN, ""),
        (quote.heredoc, "aX\x01", "one of them", SEEN, ""),
        (quote.attribute_string, "x${attr.cpu.arch}", "something else", ATTRIBUTE, ""),
        (quote.identifier, "a b", "3 characters", NAME, ""),
    ],
)
def test_refusal_says_where_and_what_to_do_and_shows_no_text(function, value, got, allowed, fix):
    """The text may be a secret."""
    with pytest.raises(errors.SpecError) as caught:
        function(value)

    assert caught.value.problems == (errors.Problem(path="", got=got, allowed=allowed, fix=fix),)
