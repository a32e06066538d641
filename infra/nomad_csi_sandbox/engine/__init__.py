"""
An emulator of the Pulumi engine and its CLI: a test double and an offline demo, and no way to run a stack that matters.

It runs the same Pulumi program, in process, against the same provider plugins, and keeps state in the shape of
``pulumi stack export``. It refuses to run unless ``NOMAD_CSI_SANDBOX`` is set. Held to the real engine by
``tests/real/engines``, which compares states after each step.

Belongs here: what our programs use of the engine. Not here, and refused with a sentence: remote components, `Call`,
hooks, transforms, targets, policy packs, stack references, replacement of a provider.
"""
