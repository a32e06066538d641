"""
The program of every stack of a walk: it declares the volumes that ``wanted.json`` beside it lists, one after another.

The engine gets what is declared at once in any order. So each volume is declared when the one before it is registered.
"""

import json
import signal
from pathlib import Path

import pulumi

from nomad_csi import components
from nomad_csi.components import resources

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the real language host's SIGINT prints tracebacks otherwise

wanted = json.loads(Path(__file__).with_name("wanted.json").read_text(encoding="utf-8"))
provider = resources.Provider("nomad", address=wanted["address"])


def declare(volumes):
    """Declare the first of *volumes*, and then the others."""
    for each in volumes[:1]:
        options = pulumi.ResourceOptions(providers=[provider], retain_on_delete=each.get("retain"))
        made = getattr(components, each["kind"])(each["name"], each["args"], options)
        getattr(made, "registration_id", made.urn).apply(lambda _: declare(volumes[1:]))


declare(wanted["volumes"])
