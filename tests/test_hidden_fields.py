"""What no printed object shows: fields of secrets, wherever an object is logged or stands in a traceback."""

import dataclasses
import importlib
import inspect
import pkgutil

import nomad_csi

HIDDEN = {
    "Connection.http_auth",
    "Connection.proxy",
    "Connection.token",
    "DeletionOptions.secrets",
    "MountOptions.mount_flags",
    "NewSnapshot.secrets",
    "PluginDeleter.secrets",
    "PresenceQuestion.secrets",
    "Source.secrets",
    "VerifyJob.spec",
    "Volume.secrets",
    "VolumeRegistration.secrets",
}


def hidden_fields():
    """Return the fields of all dataclasses of the package that a printed object leaves out."""
    found = set()
    for module in pkgutil.walk_packages(nomad_csi.__path__, "nomad_csi."):
        if module.name.endswith("__main__"):
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(kind) and dataclasses.is_dataclass(kind) and kind.__module__ == module.name:
                found |= {f"{kind.__name__}.{field.name}" for field in dataclasses.fields(kind) if not field.repr}
    return found


def test_secrets_are_not_printed():
    """Nor is what may hold one: a proxy with a password, flags of a mount, the text of a spec."""
    assert hidden_fields() >= HIDDEN
