"""What controllers said of registered volumes (``ValidateVolumeCapabilities``), and which were not asked for. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from nomad_csi import findings
from nomad_csi.csi.records import validation
from nomad_csi.nomad.records import volumes
from nomad_csi.text import foreign, listing, secrets

Key = validation.Key

NEEDS_SECRETS = "needs secrets"
NO_TIME = "the time limit for all volumes was reached"

_ASKS_FOR_SECRETS = re.compile(r"\bsecrets?\b", re.IGNORECASE)

_ADVICE = {
    NEEDS_SECRETS: "run `nomad-csi probe SOCKET --plugin ID --secrets FILE` on the controller's client",
    NO_TIME: "raise --timeout-s",
}


def judge(needs: Sequence[volumes.Volume], answers: Mapping[Key, validation.Validated]) -> tuple[findings.Finding, ...]:
    """Return what a controller says against the registered volumes *needs*."""
    return tuple(
        _finding(item, answer) for item in needs if (answer := answers.get(key_of(item))) and not answer.confirmed
    )


def judge_without_secrets(
    plugin_id: str,
    needs: Sequence[volumes.Volume],
    answers: Mapping[Key, validation.Validated],
    skipped: Mapping[Key, str],
) -> tuple[findings.Finding, ...]:
    """
    Return what a controller that got no secrets says against *needs*, and one finding for each reason of silence.

    *skipped* are volumes that it was not asked for, and why.
    """
    unsaid = {key: why for key, answer in answers.items() if (why := _silence(answer))}
    told = {key: answer for key, answer in answers.items() if key not in unsaid}
    return (*judge(needs, told), *_not_validated(plugin_id, len(needs), {**skipped, **unsaid}))


def may_be_asked(volume: volumes.Volume, with_secrets: Collection[Key]) -> str:
    """Return why a job may not ask for the volume; empty: it may. What is named like a secret stays here."""
    names = (*volume.context, *volume.parameters)
    if key_of(volume) in with_secrets or any(map(secrets.has_secret_word, names)):
        return NEEDS_SECRETS
    return ""


def key_of(volume: volumes.Volume) -> Key:
    """Return namespace and id."""
    return volume.namespace, volume.volume_id


def _silence(answer: validation.Validated) -> str:
    """Return why an answer says nothing of the volume; empty: it does."""
    if answer.confirmed:
        return ""
    if answer.code == validation.LATE.code:
        return NO_TIME
    wants = answer.code == "UNAUTHENTICATED" or _ASKS_FOR_SECRETS.search(answer.message)
    return NEEDS_SECRETS if answer.code and wants else ""


def _finding(volume: volumes.Volume, answer: validation.Validated) -> findings.Finding:
    uses = ", ".join(f"{item.access_mode} {item.attachment_mode}" for item in volume.capabilities)
    missing = answer.code == "NOT_FOUND"
    is_refused = answer.code and not missing
    return findings.finding(
        "volume-unknown" if missing else "volume-unconfirmed",
        f"volume {volume.namespace}/{volume.volume_id}",
        severity="error",
        expected=f"a plugin that knows {volume.external_id} and confirms {uses}",
        found=foreign.clean(f"{answer.code or 'not confirmed'}: {answer.message or 'without output'}"),
        advice="run the command again; if the controller needs secrets, name them with --secrets" if is_refused else "",
    )


def _not_validated(plugin_id: str, count: int, skipped: Mapping[Key, str]) -> Iterator[findings.Finding]:
    by_reason: dict[str, list[str]] = {}
    for (namespace, volume_id), why in skipped.items():
        by_reason.setdefault(why, []).append(f"{namespace}/{volume_id}")
    for why, names in by_reason.items():
        named = listing.shortened(sorted(names))
        yield findings.finding(
            "volume-not-validated",
            f"plugin {plugin_id}",
            expected="an answer of its controller for each volume",
            found=f"{len(names)} of {count} not validated ({named}): {foreign.clean(why)}",
            advice=_ADVICE.get(why, ""),
        )
