"""A program that declares what ``things.json`` beside it lists, for both engines; see ``tests/real/engines``."""

import json
import signal
from pathlib import Path

import pulumi
import toy

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the real language host's SIGINT prints tracebacks otherwise

things = {}
for name, wanted in json.loads(Path(__file__).with_name("things.json").read_text(encoding="utf-8")).items():
    options = pulumi.ResourceOptions(**wanted.pop("options", {}))
    inputs = {key: things[value[1:]].serial if str(value).startswith("@") else value for key, value in wanted.items()}
    things[name] = toy.Thing(name, opts=options, **inputs)
