"""``nomad-csi remove --delete-data``: the user's word, what became of each volume, and exit codes that tell."""

import types

import pytest

from nomad_csi import cli
from nomad_csi.cli.common import options
from nomad_csi.nomad import volumes
from nomad_csi.volumes import deletion, deletion_proof


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
    monkeypatch.setattr(volumes, "found", lambda _client, keys: [(key, placed) for key in keys])
    return found


@pytest.fixture
def no_terminal(monkeypatch):
    """Nobody is there to type."""
    monkeypatch.setattr(options, "typed", lambda *_: "")


@pytest.mark.usefixtures("no_terminal")
def test_word_is_handed_on_as_it_was_given(asked, capsys):
    """For each volume its own; the storage and its last snapshot are shown."""
    code = cli.main(
        ["remove", "--delete-data", "default/a", "default/b", "--confirm", "default/a", "--aws-region", "us-east-1"]
    )

    assert code == 0
    assert [(order.key, order.confirmation) for order in asked.orders] == [
        ("default/a", "default/a"),
        ("default/b", ""),
    ]
    assert (asked.options.aws_region, asked.options.with_snapshot) == ("us-east-1", True)
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
