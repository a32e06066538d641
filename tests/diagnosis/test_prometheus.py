"""Metrics follow the rules of Prometheus' text format, and say of a round what its report says."""

import re

import pytest

from nomad_csi.diagnosis import prometheus, verification_report
from nomad_csi.findings import finding

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
SAMPLE = re.compile(rf'({NAME})(?:\{{((?:[^"}}]|"(?:[^"\\]|\\.)*")*)\}})? (\S+)')
UNESCAPED = {"\\\\": "\\", "\\n": "\n", '\\"': '"'}


def parsed(text):
    """Return ``{(name, labels): value}``; fails where *text* breaks a rule of the format."""
    assert text.endswith("\n")
    samples, helps, types, closed, name = {}, set(), {}, set(), None
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            assert name not in helps, "a metric has one HELP line"
            helps.add(name)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, "a metric has one TYPE line"
            assert not any(key[0] == name for key in samples), "TYPE goes before the samples"
            types[name] = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert match[1] == name, "all lines of a metric are one group"
            assert match[1] not in closed
            labels = match[2] or ""
            assert ",".join(found[0] for found in LABEL.finditer(labels)) == labels, line
            told = {key: re.sub(r'\\[\\n"]', lambda m: UNESCAPED[m[0]], value) for key, value in LABEL.findall(labels)}
            key = (match[1], tuple(sorted(told.items())))
            assert key not in samples, "a series stands once"
            samples[key] = float(match[3])
        closed |= helps - {name}
    names = {key[0] for key in samples}
    assert names == helps == set(types)
    assert set(types.values()) == {"gauge"}
    return samples


def value(samples, name, **labels):
    return samples[name, tuple(sorted(labels.items()))]


def test_metrics_of_a_round_follow_the_rules(whole):
    """All of them; test_verification_report.py has their values."""
    assert {name for name, _ in parsed(prometheus.text(whole, seconds=0.25, last_answer_s=1))} == set(prometheus._HELP)


def test_without_an_answer_nothing_is_claimed():
    """No series of plugins and volumes: an alert on them cannot see an old value."""
    text = prometheus.text(None, seconds=30, last_answer_s=1_795_000_000)

    assert {name: found for (name, _), found in parsed(text).items()} == {
        "nomad_csi_verify_answered": 0,
        "nomad_csi_verify_duration_seconds": 30,
        "nomad_csi_verify_last_answer_timestamp_seconds": 1_795_000_000,
    }


@pytest.mark.parametrize("volume_id", ['a"b', "a\\b", "a\nb", 'a\\"\n}', "a\\nb", "ä🎉", 'x",y="z'])
def test_labels_say_what_they_were_given(volume_id):
    """Quotes, backslashes and line ends are escaped, all else stands as it is; a warning leaves a volume well."""
    late = finding("client-not-counted", "plugin p", found="down")
    held = verification_report.VolumeStatus(
        namespace="default", volume_id=volume_id, plugin_id="p", external_id="", findings=(late,)
    )
    found = verification_report.VerificationReport(plugins=(), volumes=(held,))

    samples = parsed(prometheus.text(found, seconds=1, last_answer_s=1))

    assert value(samples, "nomad_csi_volume_ok", namespace="default", volume_id=volume_id, plugin_id="p") == 1


@pytest.mark.parametrize("last_answer_s", [0.0, 1_795_000_000.0, 1_795_000_000.125])
def test_last_answer_is_found_again(last_answer_s):
    """Who writes the file anew takes it over."""
    text = prometheus.text(None, seconds=1, last_answer_s=last_answer_s)

    assert prometheus.last_answer_s(text) == last_answer_s


@pytest.mark.parametrize("text", ["", "# HELP a b", "nomad_csi_verify_last_answer_timestamp_seconds soon\n", "\0\1"])
def test_file_of_somebody_else_says_nothing(text):
    """Whatever stands there, it is no reason to fail."""
    assert prometheus.last_answer_s(text) == 0
