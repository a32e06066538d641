"""``nomad-csi remove --delete-data``: the user's word, what became of each volume, and exit codes that tell."""

import dataclasses
import json
import types

import pytest

from nomad_csi import cli
from nomad_csi.cli.common import options
from nomad_csi.nomad import volumes
from nomad_csi.volumes import deletion, deletion_proof, deregistration


@pytest.fixture
def asked(monkeypatch):
    """Record what the library is asked, and say what it answers: ``asked.status = "kept"``."""

    class Library:
        status = "deleted"
        orders = ()
        options = None

        def delete(self, _client, orders, options):
            self.orders, self.options = tuple(orders), options
            return tuple(
                deletion_proof.DeletionOutcome(
                    namespace=order.namespace,
                    volume_id=order.volume_id,
                    status=self.status,
                    external_id="vol-1",
                    snapshot_id="snap-1",
                )
                for order in orders
            )

    found = Library()
    monkeypatch.setattr(deletion, "delete", found.delete)
    placed = types.SimpleNamespace(topologies=({"topology.ebs.csi.aws.com/zone": "eu-west-1a"},))
    monkeypatch.setattr(volumes, "by_key", lambda _client, keys: [(key, placed) for key in keys])
    return found


@pytest.fixture
def no_terminal(monkeypatch):
    """Nobody is there to type."""
    monkeypatch.setattr(options, "typed", lambda *_: "")


@pytest.mark.usefixtures("no_terminal")
def test_word_is_handed_on_as_it_was_given(asked, tmp_path, capsys):
    """For each volume its own; the storage and its last snapshot are shown."""
    tmp_path.joinpath("secrets.yaml").write_text("default/a: {key: canary-1}\ndefault/c: {key: canary-2}\n")
    for name in "ab":
        made = {"madeStorage": f"vol-{name}", "namespace": "default", "volumeId": name, "cluster": f"c-{name}"}
        state = {"deployment": {"resources": [{"type": "nomad-csi:index:CreatedVolume", "outputs": made}]}}
        tmp_path.joinpath(f"{name}.json").write_text(json.dumps(state))
    words = "default/a default/b --confirm default/a --aws-region us-east-1 --timeout 9s --snapshot-timeout 20s"
    more = (
        "--endpoint /csi.sock --owner shop/prod --accept unguarded --secrets secrets.yaml --state a.json --state b.json"
    )

    code = cli.main(["-C", str(tmp_path), "remove", "--delete-data", *f"{words} {more} --made-by ebs".split()])

    assert code == 0
    assert [(order.key, order.confirmation, order.plugin_id) for order in asked.orders] == [
        ("default/a", "default/a", "ebs"),
        ("default/b", "", "ebs"),
    ]
    assert asked.options.secrets == {"default/a": {"key": "canary-1"}}
    assert str(dataclasses.replace(asked.options, report=None, cancelled=None)) == (
        "DeletionOptions(wait_s=9.0, aws_region='us-east-1', endpoint='/csi.sock', with_snapshot=True, "
        "snapshot_wait_s=20.0, owner='shop/prod', created={'default/a': MadeStorage(external_id='vol-a', cluster='c-a'), "
        "'default/b': MadeStorage(external_id='vol-b', cluster='c-b')}, accepts_unguarded=True, "
        "accepts_unregistered=False, is_dry_run=False, report=None, cancelled=None)"
    )
    assert capsys.readouterr().out == (
        "volume     outcome  storage  last snapshot  remarks\n"
        "default/a  deleted  vol-1    snap-1         -\n"
        "default/b  deleted  vol-1    snap-1         -\n"
        "2 volumes: 2 deleted\n"
        "next: remove default/a, default/b from the stack or spec that declares it, and where Pulumi made the storage "
        "run `pulumi refresh`; else the next `pulumi up`, or `nomad-csi apply`, makes a new, empty volume\n"
    )


def test_word_is_typed_at_a_terminal(asked, monkeypatch):
    """As it was typed, right or wrong: the library judges."""
    prompts = []

    def typed(question, prompt):
        prompts.append((question, prompt))
        return "default/typo"

    monkeypatch.setattr(options, "typed", typed)

    cli.main(["remove", "--delete-data", "default/a"])

    assert [order.confirmation for order in asked.orders] == ["default/typo"]
    [(question, prompt)] = prompts
    assert question.startswith("this deregisters default/a and then deletes its storage with all data on it.")
    assert prompt == "type default/a to delete its data"


@pytest.mark.usefixtures("no_terminal")
def test_rejects_deletion_without_the_word(empty_agent, capsys):
    """The library itself says no."""
    code = cli.main(["remove", "--delete-data", "default/a", "--address", empty_agent()])

    assert code == 1
    assert capsys.readouterr().err.startswith("refused: deletion of the data of default/a was not confirmed; ")


@pytest.mark.parametrize(("words", "would"), [([], ""), (["--dry-run"], "would be ")])
def test_storage_that_a_record_keeps_is_given_up(empty_agent, monkeypatch, capsys, words, would):
    """For the owner that is named."""
    asked = []

    def give_up(_client, key, storage, requester, *, is_dry_run):
        asked.append((key, storage, requester.owner, is_dry_run))
        return "vol-1"

    monkeypatch.setattr(deregistration, "give_up_storage", give_up)
    words = ["remove", "a", "--forget", "vol", "--owner", "shop/prod", *words, "--address", empty_agent()]

    assert cli.main(words) == 0
    assert cli.main([*words, "--json"]) == 0

    text, _, data = capsys.readouterr().out.partition("\n")
    assert text == (f"default/a: storage vol-1 {would}given up; it stays where it is, and the id may get other storage")
    assert json.loads(data) == {"schema_version": 1, "volume": "default/a", "given_up": "vol-1"}
    assert asked == [(("default", "a"), "vol", "shop/prod", bool(would))] * 2


def test_what_became_of_each_volume_and_how_it_is_used_again(empty_agent, monkeypatch, capsys):
    """A volume that was not there is a negative result; without a region nothing is known of EC2."""
    rows = [
        ("a", "deregistered", "vol-0123456789abcdef0", False),
        ("b", "deregistered", "vol-2", True),
        ("c", "gone", "", False),
        ("d", "deregistered", "", False),
        ("e", "free", "vol-3", False),
    ]
    found = [
        deregistration.DeregistrationOutcome(
            namespace="default", volume_id=name, status=status, external_id=storage, is_created=is_created
        )
        for name, status, storage, is_created in rows
    ]
    asked = []
    monkeypatch.setattr(
        deregistration, "deregister", lambda _client, keys, options, **_: asked.append((keys, options)) or found
    )
    words = ["remove", "a", "b", "c", "--timeout", "9s", "--owner", "shop/prod", "--no-aws", "--address", empty_agent()]

    assert cli.main(words) == 1
    out = capsys.readouterr().out.splitlines()
    assert cli.main([*words, "--force", "--yes", "--json"]) == 1

    assert out[-3:] == [
        "5 volumes: 3 deregistered, 1 gone, 1 free; not known whether they are detached in EC2: AWS was not queried (--no-aws)",
        'default/a: storage vol-0123456789abcdef0 stays; to register it again: existing: {external_id: "vol-0123456789abcdef0"}',
        "default/b: storage vol-2 stays; `nomad-csi apply` registers it again, `nomad-csi remove --delete-data` deletes it",
    ]
    found = json.loads(capsys.readouterr().out)
    assert [(item["volume_id"], item["status"]) for item in found["volumes"]] == [row[:2] for row in rows]
    assert (found["asked_ec2"], "jobs" in found) == (False, False)
    assert [(options.wait_s, options.is_forced, options.requester.owner) for _, options in asked] == [
        (9.0, False, "shop/prod"),
        (9.0, True, "shop/prod"),
    ]
