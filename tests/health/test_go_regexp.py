"""Regular expressions of Nomad's constraints are Go's: found as Go finds, or not checked where Go refuses them."""

import pytest

from nomad_csi.health import constraints


@pytest.mark.parametrize(
    ("expression", "text", "found"),
    [
        (r"^linux\z", "linux", True),
        (r"\Alin", "linux", True),
        ("linux$", "linux\n", False),
        ("(?m)linux$", "linux\nx", True),
        ("(?m)^x", "linux\nx", True),
        ("^x", "linux\nx", False),
        (r"^\pL+$", "añb", True),
        (r"^\pL+$", "a1", False),
        (r"\PL", "a1", True),
        (r"^\p{^Lu}$", "a", True),
        (r"\p{Greek}", "\N{GREEK SMALL LETTER ALPHA}", True),
        (r"[\pN_]", "_", True),
        ("(?U)a+b", "aab", True),
        (r"^\Qa.b\E$", "axb", False),
        (r"^\Qa.b\E$", "a.b", True),
        (r"\Qa+", "a+", True),
        ("^[[:alpha:]]+$", "abc", True),
        ("^[[:alpha:]]+$", ":ab]", False),
        ("[[:^alpha:]]", "abc", False),
        ("^[^[:space:]x]$", "y", True),
        (r"\s", "\v", False),
        (r"^\w$", "é", False),
        (r"\bé", "é", False),
        (r"a\Bb", "ab", True),
        ("a{,2}", "a{,2}", True),
        ("^a{2,3}?$", "aaa", True),
        ("^x{$", "x{", True),
        ("a.b", "a\nb", False),
        ("(?s)a.b", "a\nb", True),
        ("(?s-s)a.b", "a\nb", False),
        ("(?i)US-EAST", "us-east-1a", True),
        ("(?i:U)S", "uS", True),
        ("(?i:U)S", "us", False),
        ("(a(?i)b)c", "aBC", False),
        ("(?i)[^a]", "A", False),
        ("(?i)[X-b]", "x", True),
        ("^(?P<zone>[a-c])(?<n>|x)$", "b", True),
        ("^[]a]$", "]", True),
        ("^[a-]$", "-", True),
        ("[a&&b]", "&", True),
        (r"\x41\x{42}\t\.", "AB\t.", True),
        ("(?:^)*a|b", "b", True),
        ("", "", True),
        (r"(?i)\pL", "aé", True),
        ("(?i)é", "É", True),
        ("(?i)k", "\N{KELVIN SIGN}", True),
        ("a{02}", "aa", False),
        ("(" * 60 + ")" * 60, "", True),
    ],
)
def test_finds_what_go_finds(expression, text, found):
    """Each row was answered by Go 1.26, where Python alone answers otherwise or refuses many."""
    assert constraints.regexp_finds(expression, text) is found


@pytest.mark.parametrize(
    "expression",
    [
        "(?=a)",
        "(?<=a)b",
        "(?P=a)",
        r"\1",
        r"a\Z",
        r"\p{NoSuchScript}",
        "a**",
        "a++",
        "a{2}{3}",
        "a{1001}",
        "a{3,2}",
        "(?:a{100}){100}",
        "*a",
        "(?i)*",
        "a(",
        "a)",
        "[a",
        "[z-a]",
        r"[\z]",
        "[[:letter:]]",
        r"\x{110000}",
        r"\xg",
        "\\",
        "a{" + "9" * 5000 + "}",
        "a{2,999999999}",
        r"\C",
        "\N{LOW LINE}\ud800",
    ],
)
def test_does_not_judge_what_go_refuses(expression):
    """Nomad refuses a job with such a constraint, so there is no answer."""
    assert constraints.regexp_finds(expression, "aé") is None


def test_search_is_linear():
    """An expression that backtracking engines do not finish is answered."""
    assert constraints.regexp_finds("(a|aa)+$", "a" * 40 + "b") is False
