"""Texts of Nomad, AWS and plugins, fit to be shown."""

from nomad_csi.text import redaction, visible

LIMIT = 600
"""Characters kept: enough for AWS's ``AccessDenied`` with user, action and resource."""

WINDOW = 8_192
"""Characters at each end in which secrets are looked for."""

_GAP = " ... "


def clean(text: str) -> str:
    """
    Return a foreign *text* as one line, without control characters and secrets, cut.

    ``clean("token=abc  rest")`` is ``"token=[secret] rest"``.
    """
    line = " ".join(redaction.redact(_window(text)).split())
    return shortened("".join(character for character in line if character.isprintable()), LIMIT)


def _window(text: str) -> str:
    """Return beginning and end of a *text* that is far too long, cut between words; what is shown is less."""
    if len(text) <= 2 * WINDOW:
        return text
    end = text[-WINDOW:]
    return f"{visible.cut(text, WINDOW)} {end.partition(' ')[2] or end}"


def shortened(text: str, limit: int) -> str:
    """Return *text* in at most *limit* characters. The middle goes: a chain of errors ends with the cause."""
    if len(text) <= limit:
        return text
    head = limit // 3
    tail = limit - head - len(_GAP)
    return f"{text[:head].rstrip()}{_GAP}{text[-tail:].lstrip()}"
