"""The program of every stack of a walk: it declares the volumes that ``wanted.json`` beside it lists."""

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
for each in wanted["volumes"]:
    options = pulumi.ResourceOptions(providers=[provider], retain_on_delete=each.get("retain"))
    getattr(components, each["kind"])(each["name"], each["args"], options)
