"""The page itself: whatever a cluster says stays text, nothing is loaded, and every colour can be read."""

import base64
import collections
import dataclasses
import hashlib
import html.parser
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from nomad_csi import findings
from nomad_csi.diagnosis import page
from nomad_csi.findings import causes, registry
from nomad_csi.hcl import environment
from nomad_csi.text import foreign
from tests import hostile

STYLE = (Path(environment.templates_folder()) / "_report.css").read_text(encoding="utf-8")
WORDS = {"code", "kind", "mode", "policy", "evidence", "role", "severity", "state", "found_by", "tier", "status"}
"""Fields that hold words of ours, not of a cluster."""

TEXTS = 3000
INJECTIONS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</td></table></details><form action=//evil>",
    "</style><style>*{display:none}",
    "</title><meta http-equiv=refresh content=0>",
    "<!-- -->",
    "&lt;b&gt; &amp; &#60;",
    "{{ 7 * 7 }}{% raw %}",
    "a\u202eb\u2066c\0\x1b[0m\ud800",
)


class Reader(html.parser.HTMLParser):
    """Elements of a page, its text, and what stands in the head of each row of the clients' tables."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.attributes = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        names = tuple(sorted(name for name, _ in attributes))
        self.elements.append((tag, names, dict(attributes).get("class", "")))
        self.attributes += attributes

    def handle_data(self, data):
        self.texts.append(data)

    def handle_decl(self, decl):
        assert decl == "doctype html"

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")


def changed(value, change):
    """Return *value*, data of a report, with *change* made to every text of the cluster's in it."""
    if isinstance(value, str):
        return change(value) if value else value
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **changed(fields, change))
    if isinstance(value, tuple | list):
        return type(value)(changed(item, change) for item in value)
    if isinstance(value, Mapping):
        return {
            name: {change(key): word for key, word in item.items()}
            if name == "statuses"
            else item
            if name in WORDS and isinstance(item, str)
            else changed(item, change)
            for name, item in value.items()
        }
    return value


def with_data(report, **sections):
    """Return *report* with these *sections* instead of its own."""
    return dataclasses.replace(report, data={**report.data, **sections})


def with_texts(report, texts):
    """Return *report* with one of *texts* instead of each text in it, the same one for the same."""
    known = {}

    def change(text):
        if text not in known:
            known[text] = f"x{next(texts)}{len(known)}"
        return known[text]

    return changed(report, change)


def elements(text):
    """Return how often each element is there, marks of code apart: text in back quotes is code."""
    return collections.Counter(item for item in Reader(text).elements if item[0] != "code")


@pytest.mark.parametrize("seed", range(3))
def test_hostile_text_stays_text(seed, hurt_report, rendered):
    """A thousand texts instead of every name, message and id: not one element or attribute more, and none less."""
    texts = hostile.texts(TEXTS, seed) if seed else hostile.unwritable_texts(TEXTS, seed)

    report = with_texts(hurt_report, texts)

    text = rendered(report)
    assert elements(text) == elements(rendered(hurt_report))
    assert text.encode()
    joined = "".join(Reader(text).texts)
    for client in report.data["clients"]:
        assert foreign.visible(client["name"]) in joined


@pytest.mark.parametrize("injection", INJECTIONS)
def test_injection_is_shown_as_it_stands(injection, hurt_report, rendered):
    """The usual ways in, in every place at once."""
    report = changed(hurt_report, lambda text: f"{text}{injection}")

    text = rendered(report)

    assert elements(text) == elements(rendered(hurt_report))
    assert foreign.visible(f"client-00000{injection}") in "".join(Reader(text).texts)
    assert json.loads(json.dumps(report.data))["clients"][0]["name"] == f"client-00000{injection}"


def test_page_names_nothing_outside_of_itself(hurt_report, rendered):
    """No script, no style but the one whose hash the policy names, no address but anchors and the empty icon."""
    text = rendered(hurt_report)
    found = Reader(text)
    [policy] = [value for name, value in found.attributes if name == "content" and "default-src" in value]
    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)

    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    tags = {tag for tag, _, _ in found.elements}
    assert tags.isdisjoint({"script", "iframe", "img", "form", "object", "embed", "base"})
    names = {name for name, _ in found.attributes}
    assert names.isdisjoint({"style", "src", "srcset"})
    assert not {name for name in names if name.startswith("on")}
    links = {value for name, value in found.attributes if name == "href"}
    assert {link for link in links if not link.startswith("#")} == {"data:,"}
    assert "url(" not in style
    assert "@import" not in style


def palette(scheme):
    """Return the colours of ``light`` or ``dark`` by name, as the style has them."""
    light, dark = re.findall(r":root\{(.*?)\}", STYLE, re.DOTALL)
    return dict(re.findall(r"--([a-z-]+):(#[0-9a-f]{6})", {"light": light, "dark": dark}[scheme]))


def luminance(colour):
    """Return the relative luminance of ``#rrggbb``. Source: WCAG 2.2, definition of relative luminance."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(scheme):
    """4.5 to 1 at least, on the page, on cards, and of words on their own ground."""
    colours = palette(scheme)
    words = ("good", "warn", "bad", "unsure")
    pairs = [(word, ground) for word in ("ink", "soft", "link", *words) for ground in ("page", "card")]
    pairs += [(word, f"{word}-on") for word in words]

    assert len(colours) == 14
    found = {pair: round(contrast(*(colours[name] for name in pair)), 2) for pair in pairs}
    assert {pair: value for pair, value in found.items() if value < 4.5} == {}


def test_many_findings_and_rows_are_folded(hurt_report, rendered):
    """The first of a code are shown and the rest can be opened; so it is with rows that are not well."""
    [finding, *_] = hurt_report.findings
    [volume, *_] = hurt_report.data["volumes"]
    many = with_data(hurt_report, volumes=[volume | {"volume_id": f"v{n}", "status": "missing"} for n in range(1200)])

    text = rendered(dataclasses.replace(many, findings=(finding,) * 12))

    assert "<summary>7 more</summary>" in text
    assert "<summary>1,150 more with a problem</summary>" in text
    assert "all 1,200</span>" in text


@pytest.mark.parametrize(
    ("title", "region", "heading"),
    [("Shop", "us", "Shop"), ("", "us", "Storage of us"), ("", "global", "Storage of nomad:4646")],
)
def test_page_is_called_as_its_operator_calls_the_cluster(hurt_report, rendered, title, region, heading):
    """Else by the region, if that has a name of its own."""
    cluster = hurt_report.data["cluster"] | {"region": region, "address": "http://nomad:4646"}

    text = rendered(dataclasses.replace(with_data(hurt_report, cluster=cluster), title=title))

    assert f": {heading}</title>" in text
    assert f"<h1>{heading} <span" in text


def test_consequences_stand_below_their_cause(hurt_report, rendered):
    """One card, and no advice of theirs."""
    links = causes.of_plugin("aws-ebs0")
    found = [
        findings.finding("job-missing", "job default/a", found="it is stopped", links=links),
        findings.finding("plugin-missing", "plugin aws-ebs0", found="none", links=links),
    ]

    text = rendered(dataclasses.replace(hurt_report, findings=causes.assign(found)))

    assert text.count('<span class="b bad">error</span> job-missing') == 1
    following = text.partition("What follows from it:")[2]
    assert '<span class="b bad">error</span> plugin-missing <strong>plugin aws-ebs0</strong>' in following
    assert "nomad-csi explain job-missing" in text


def test_claim_without_its_node_plugin_is_not_green(hurt_report):
    """Nor is one on a draining client; one on another client is."""
    held = next(each for each in hurt_report.data["claims"] if each["claims"][0]["status"] == "live")
    [claim] = held["claims"]
    client, subject = claim["node_name"], f"volume {held['namespace']}/{held['volume_id']}"
    gone = findings.finding("claim-without-node-plugin", f"plugin p on {client}", found="none", about=(subject,))
    drain = findings.finding("claim-node-draining", f"client {client}", found="draining", about=(subject,))
    other = findings.finding("claim-node-draining", f"client other-{client}", found="draining", about=(subject,))

    lost = findings.finding("claim-without-controller", subject, found="none healthy")

    rows = [page._claim(held, claim, found) for found in ([other], [drain], [drain, gone], [lost])]
    places = [("a", "i", "ready"), ("", "i", ""), ("", "", "down")]
    at = [
        page._claim(held, claim | {"node_name": name, "node_id": node_id, "node_status": state}, ())
        for name, node_id, state in places
    ]

    assert [(row["kind"], row["status"]) for row in rows] == [
        ("good", "live"),
        ("warn", "live, claim-node-draining"),
        ("bad", "live, claim-node-draining, claim-without-node-plugin"),
        ("bad", "live, claim-without-controller"),
    ]
    assert [row["client"] for row in at] == ["a", "i", "- (down)"]


def test_a_single_warning_is_not_folded(hurt_report, rendered):
    """Several are: they are not urgent."""
    lone = findings.finding("client-not-counted", "plugin a", found="none")

    text = rendered(dataclasses.replace(hurt_report, findings=(lone,)))

    assert "1 in all" not in text
    assert text.index("<strong>plugin a</strong>") < text.index("<strong>Fix</strong>")
    assert registry.codes()["plugin-missing"].fix not in text


TABLES = {
    "instances": ["Role", "Zone", "", "Checked by", ""],
    "clients": ["", "Zone", "Node pool", "Datacenter", "Nomad", ""],
    "volumes": ["", "Plugin", "Zone", "Size", "Claims", "Attached to", "External id", "Checked by"],
    "claims": ["", "Mode", "Job", "Client", "Since", "Allocation"],
}


@pytest.mark.parametrize("kind", TABLES)
def test_cells_on_a_phone_have_the_labels_of_their_columns(hurt_report, rendered, kind):
    """A narrow screen shows a row as a list; a status and a detail say by themselves what they are."""
    head = re.search(rf"<table class={kind}>.*?<thead><tr>(.*?)<tbody>", rendered(hurt_report), re.DOTALL)[1]
    columns = re.findall(r"<th scope=col[^>]*>([^<\n]+)", head)[1:]
    labels = dict(re.findall(rf'\.{kind} td:nth-of-type\((\d)\)::before{{content:"([^"]+) "}}', STYLE))

    assert [labels.get(str(number + 1), "") for number in range(len(columns))] == TABLES[kind]
    assert [name for name in TABLES[kind] if name] == [name for name in columns if name in TABLES[kind]]


@pytest.mark.parametrize(
    ("kind", "statuses"),
    [
        ("good", "healthy,ok,live,ready,verified"),
        ("warn", "starting,restarted,outdated,draining,ineligible,ended,warning,unverified"),
        ("unsure", "not checked,not verified,initializing"),
        ("bad", "missing,hung,error,down,failed"),
    ],
)
def test_statuses_have_their_colours(kind, statuses):
    """One that is not known is bad."""
    assert {page.kind_of(status) for status in statuses.split(",")} == {kind}


def test_rows_and_sums_are_as_severe_as_they_are_known(hurt_report):
    """A deviation that the policy allows is a warning; storage that is not known twice is not counted twice."""
    plugins = [("healthy", True), ("partial", True), ("partial", False), ("not checked", None)]
    sizes = [("vol-1", 2**30), ("vol-1", 2**30), ("vol-2", 2**31), ("vol-3", 0), ("", 2**32)]
    data = hurt_report.data | {
        "totals": {"clients": None, "plugins": 4, "volumes": 5, "claims": 3},
        "claims": [],
        "plugins": [{"plugin_id": "p", "status": status, "ok": ok} for status, ok in plugins],
        "volumes": [
            {"namespace": "a", "volume_id": "b", "external_id": key, "size_bytes": size, "status": "ok", "zones": []}
            for key, size in sizes
        ],
    }

    shown = page.render_page(dataclasses.replace(hurt_report, data=data))

    assert [row["kind"] for row, _ in shown["plugins"]] == ["good", "warn", "bad", "unsure"]
    assert shown["tiles"][0] == {"label": "plugins", "count": 4, "remark": "3 not healthy", "kind": "bad"}
    assert shown["tiles"][1] == {"label": "clients", "count": "?", "remark": "not read", "kind": "unsure"}
    assert [tile["remark"] for tile in shown["tiles"][2:]] == ["all ok; 3GiB, 1 of unknown size", "all live"]
    assert page.render_page(hurt_report)["tiles"][1]["remark"] == "3 not healthy"
    assert [row["size"] for row in shown["volumes"]["groups"][""]] == ["1GiB", "1GiB", "2GiB", "-", "4GiB"]
