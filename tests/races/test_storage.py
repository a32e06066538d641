"""Two stacks register one storage by two ids at the same moment: one of them has it, the other is refused."""

import contextlib

import pytest

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import desired, registration_ownership, volume_registration
from tests.races.conftest import TOKEN, inputs

SINGLE_WRITER = {"accessMode": "single-node-writer", "attachmentMode": "file-system"}
WAYS = ("resource", "command")


def wanted(volume_id, owner):
    """Return a volume of one writer on the one file system."""
    return inputs(owner) | {"volumeId": volume_id, "name": volume_id, "capabilities": [SINGLE_WRITER]}


def bring(client, way, news):
    """Register *news*, by the resource or by the command; return why not, empty where it was done."""
    if way == "resource":
        try:
            volume_registration.VolumeRegistrationResource().create(resource.Context(connect=lambda: client), news)
        except errors.RefusedError as error:
            return str(error)
        return ""
    document = desired.parse_inputs(news)
    requester = registration_ownership.Requester(owner=news["owner"])
    [outcome] = applied.apply(client, applied.of_files([document]), requester=requester)
    return "" if outcome.is_done else outcome.reason


@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("second", WAYS)
@pytest.mark.parametrize("is_after", [False, True], ids=["before it is sent", "before it is answered"])
def test_one_of_two_has_the_storage(table, monkeypatch, first, second, is_after):
    """Both compared before either registered; the one that Nomad stored later is taken back, with its owner record."""
    with contextlib.ExitStack() as stack:
        one, other = (
            stack.enter_context(nomad.Nomad(nomad.Connection(address=table.url, token=TOKEN))) for _ in range(2)
        )
        register, told = volumes.register, {}

        def register_both(client, documents, **given):
            monkeypatch.setattr(volumes, "register", register)
            if is_after:
                answer = register(client, documents, **given)
            compare_nothing = monkeypatch.context()
            with compare_nothing as patched:
                patched.setattr(registration, "sharing_refusal", sees_none)
                told["other"] = bring(other, second, wanted("second", "shop/two"))
            return answer if is_after else register(client, documents, **given)

        sharing_refusal, compared = registration.sharing_refusal, []

        def sees_none(*users):
            """Compare as before the first one was registered, once."""
            compared.append(users)
            return "" if len(compared) == 1 else sharing_refusal(*users)

        monkeypatch.setattr(volumes, "register", register_both)
        told["one"] = bring(one, first, wanted("first", "shop/one"))

        left = [item.volume_id for item in volumes.list_volumes(one, "*")]
        owners = registration_ownership.owner_records_of(one).read([("default", "first"), ("default", "second")]).owners

    assert left == (["first"] if is_after else ["second"])
    assert [name for name, why in told.items() if why] == (["other"] if is_after else ["one"])
    refusal = told["other"] or told["one"]
    assert "registered at the same moment as another one, and deregistered again" in refusal
    assert f"is registered as default/{left[0]} already" in refusal
    assert [key[1] for key in owners] == left
