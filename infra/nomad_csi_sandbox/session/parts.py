"""Which part of a sandbox is real and which is emulated, and what each of them is."""

import os
import shutil

from nomad_csi import errors

TITLE = "This is a sandbox on 127.0.0.1"

DESCRIPTIONS = {
    ("engine", "real"): "Pulumi's own engine, `pulumi` on PATH",
    ("engine", "emulator"): "a small engine that runs the same program against the same providers; not Pulumi's own",
    ("nomad", "real"): "HashiCorp's own agent with one client, `nomad` on PATH",
    ("nomad", "emulator"): "a small agent with two clients that runs the plugins as processes; it mounts nothing",
    ("aws", "moto"): "moto's server, behind an aws provider of the sandbox; no account",
    (
        "plugins",
        "emulator",
    ): "a small CSI plugin that answers as the named driver does; it attaches, and mounts nothing",
}


def decide(*, engine: str = "", nomad: str = "") -> dict[str, str]:
    """
    Return what each part is: real where it is at hand, else an emulator. *engine* and *nomad* override.

    Nomad's client mounts and makes cgroups, so that it is at hand for root only.
    """
    engine_at_hand = _on_path("pulumi") and _on_path("pulumi-language-python")
    nomad_at_hand = _on_path("nomad") and os.geteuid() == 0
    if engine == "real" and not engine_at_hand:
        raise errors.RefusedError("pulumi and pulumi-language-python are not on PATH; use --engine emulator")
    if nomad == "real" and not nomad_at_hand:
        raise errors.RefusedError("nomad is not on PATH, or this is not root; use --nomad emulator")
    return {
        "engine": engine or ("real" if engine_at_hand else "emulator"),
        "nomad": nomad or ("real" if nomad_at_hand else "emulator"),
        "aws": "moto",
        "plugins": "emulator",
    }


def _on_path(program: str) -> bool:
    return shutil.which(program) is not None


def summary(parts: dict[str, str]) -> str:
    """Return all parts on one line: ``engine emulator, nomad real, aws moto, plugins emulator``."""
    return ", ".join(f"{name} {kind}" for name, kind in parts.items())


def describe(parts: dict[str, str]) -> str:
    """Return a line for each part."""
    width = max(map(len, parts))
    lines = [f"  {name:{width}}  {kind:8}  {DESCRIPTIONS[name, kind]}" for name, kind in parts.items()]
    return "\n".join([f"{TITLE}. What is real in it, and what is emulated:", *lines])
