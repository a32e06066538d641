"""
A warning where the policy of a plugin lacks the customer key of one of its volumes: EC2 could never attach that.

It holds for plugins and volumes of one program, in any order. The policy of another plugin is not known here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from nomad_csi.components import identity


def note_plugin(name: str, key_arns: pulumi.Input[Sequence[str]]) -> None:
    """Check the volumes declared so far, and those to come, against the *key_arns* in the policy of plugin *name*."""
    scope = identity.scope()
    scope.plugin_keys[name] = key_arns
    for volume, plugin_id, key_arn in scope.volume_keys:
        _check(volume, plugin_id, key_arn, name, key_arns)


def note_volume(component: pulumi.Resource, args: Mapping[str, Any]) -> None:
    """Check the volume *component* with the arguments *args* against the plugins declared so far, and those to come."""
    if args.get("kms_key_arn") is None:
        return
    scope, noted = identity.scope(), (component, args["plugin_id"], args["kms_key_arn"])
    scope.volume_keys.append(noted)
    for name, key_arns in scope.plugin_keys.items():
        _check(*noted, name, key_arns)


def _check(
    volume: pulumi.Resource,
    plugin_id: pulumi.Input[str],
    key_arn: pulumi.Input[str],
    name: str,
    key_arns: pulumi.Input[Sequence[str]],
) -> None:
    def warn(known: Sequence[Any]) -> None:
        if known[0] == name and known[1] not in known[2]:
            pulumi.log.warn(
                f"the policy of plugin {name} lacks the key of this volume, {known[1]}: EC2 will not attach it; add "
                f"the key to iam.kms_key_arns of {name}",
                volume,
            )

    pulumi.Output.all(plugin_id, key_arn, key_arns).apply(warn)
