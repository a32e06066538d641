"""The program of every stack of a walk: it declares the volumes that ``wanted.json`` beside it lists."""

import json
import signal
from pathlib import Path

import pulumi

from nomad_csi import components
from nomad_csi.components import resources

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the real language host's SIGINT prints tracebacks otherwise


class Wrapper(pulumi.ComponentResource):
    """What a resource is moved into."""

    def __init__(self, name, opts):
        super().__init__("walk:index:Wrapper", name, {}, opts)


def alias(was):
    """Return the alias of a resource that had another name, or another parent."""
    urn = f"urn:pulumi:{pulumi.get_stack()}::{pulumi.get_project()}::walk:index:Wrapper::{was['wrapper']}"
    return pulumi.Alias(name=was["name"], parent=urn if was["wrapper"] else pulumi.ROOT_STACK_RESOURCE)


wanted = json.loads(Path(__file__).with_name("wanted.json").read_text(encoding="utf-8"))
provider = resources.Provider("nomad", address=wanted["address"])
for each in wanted["volumes"]:
    options = pulumi.ResourceOptions(providers=[provider], aliases=[alias(was) for was in each["aliases"]])
    if each["wrapper"]:
        options.parent = Wrapper(each["wrapper"], pulumi.ResourceOptions(providers=[provider]))
    options.retain_on_delete = each.get("retain")
    getattr(components, each["kind"])(each["name"], each["args"], options)
