"""Options that say how long something may take: in seconds, and one word for each meaning in all commands."""

from typing import Any

from nomad_csi.cli.common import command, usage

MEANINGS = {
    "timeout": "the whole command may wait",
    "step-timeout": "each step may take",
    "probe-timeout": "one plugin may take for its answers over its socket",
    "snapshot-timeout": "the last snapshot of a volume may take",
    "stable": "an instance must stay unchanged to count as stable",
    "every": "lie between two verification runs",
}
"""Names of options, without ``-s``, and what they say of so many seconds."""


def seconds(
    name: str, more: str = "", *, default: float | None = None, told: str = "", **settings: Any
) -> command.Declare[Any]:
    """
    Return the decorator that adds the option ``--NAME-s`` with one of `MEANINGS`.

    Args:
        name: which of them.
        more: how the sentence goes on, such as `` for all clients``.
        default: seconds where it is not given; ``None``: its absence is seen.
        told: the default in words, where its number says too little.
        settings: of a `command.Option`.

    """
    usual = told or (f"{default:g}" if default else "0, it does not wait")
    text = f"seconds that {MEANINGS[name]}{more} (default: {usual})"
    return command.option(f"--{name}-s S", text, type=positive, default=default, **settings)


@command.Typed
def positive(given: str) -> float:
    """Return *given* as a positive number of seconds. Raises `click.BadParameter`."""
    try:
        value = float(given)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise usage.wrong("a number of seconds above 0", given)
    return value
