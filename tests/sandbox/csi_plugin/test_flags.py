import pytest

from nomad_csi_sandbox.csi_plugin import flags

KINDS = {"name": "text", "on": "bool", "wait": "duration", "rate": "float", "v": "count", "size": "int"}


@pytest.mark.parametrize("parse", [flags.pflag, flags.standard])
def test_values_are_read_in_both_spellings(parse):
    """With an equals sign, or as the next word; a bool never takes the next word."""
    found = parse(["--name=a=b", "--wait", "1m30s", "--on", "--rate=1.5", "-v=3", "--size=-1"], KINDS)

    assert found == {"name": "a=b", "wait": "1m30s", "on": "true", "rate": "1.5", "v": "3", "size": "-1"}


def test_pflag_reads_short_v_in_every_form():
    """`-v2`, `-v=2` and `-v 2` mean the same."""
    assert [flags.pflag(words, KINDS) for words in (["-v2"], ["-v=2"], ["-v", "2"])] == [{"v": "2"}] * 3


@pytest.mark.parametrize("parse", [flags.pflag, flags.standard])
def test_two_dashes_end_the_flags(parse):
    """What follows is not read."""
    assert parse(["--on", "--", "--nonsense"], KINDS) == {"on": "true"}


def test_standard_stops_where_pflag_goes_on():
    """The difference that hides an EFS plugin's socket."""
    words = ["node", "--on"]

    assert (flags.standard(words, KINDS), flags.pflag(words, KINDS)) == ({}, {"on": "true"})


@pytest.mark.parametrize("word", ["--wait=5", "--on=maybe", "--rate=x", "-v=-1", "--size=1.5"])
@pytest.mark.parametrize("parse", [flags.pflag, flags.standard])
def test_rejects_values_of_another_kind(parse, word):
    """A value that Go could not read is refused."""
    with pytest.raises(flags.FlagError, match="invalid argument"):
        parse([word], KINDS)
