"""Rules of ACL policies for tests, and the environment of a sandbox with a token."""

import json

from nomad_csi.nomad import sandbox_mark


def of_sandbox(mark, token):
    """Return the variables by which a provider knows that it is in the sandbox *mark*, whose Nomad has this *token*."""
    return {
        sandbox_mark.ENVIRONMENT: mark,
        sandbox_mark.TOKEN_HASH: sandbox_mark.token_hash(token),
        "NOMAD_TOKEN": token,
    }


def rules(namespaces, *, plugin="read", node="read"):
    """
    Return rules: ``rules({"default": {"capabilities": [...], "variables": [...]}})``.

    ``policy`` of a namespace stands for what Nomad says; ``variables`` are the capabilities on ``nomad-csi/*`` there.
    """
    blocks = []
    for name, found in namespaces.items():
        lines = [f'  policy = "{found["policy"]}"'] if "policy" in found else []
        lines += [f"  capabilities = {json.dumps(sorted(found['capabilities']))}"] if "capabilities" in found else []
        if found.get("variables"):
            listed = json.dumps(sorted(found["variables"]))
            lines.append(f'  variables {{\n    path "nomad-csi/*" {{\n      capabilities = {listed}\n    }}\n  }}')
        blocks.append("\n".join([f'namespace "{name}" {{', *lines, "}"]))
    levels = {"plugin": plugin, "node": node}
    blocks += [f'{kind} {{\n  policy = "{level}"\n}}' for kind, level in levels.items() if level]
    return "\n".join(blocks)


def writer(*variables, others=()):
    """Return rules of one that may do all in ``default`` and *others*, and with the variables of ``default`` this."""
    every = {"policy": "write", "capabilities": ["csi-register-plugin"]}
    return rules({"default": every | {"variables": variables}, **dict.fromkeys(others, every)})
