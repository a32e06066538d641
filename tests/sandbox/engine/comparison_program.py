"""The program that the emulator engine and the real one both run, step by step; see ``tests/real``."""

import asyncio
import signal

import pulumi
import toy

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the real language host's SIGINT prints tracebacks otherwise

config = pulumi.Config()
step = config.require_int("step")
storage = config.require_object("storage")


def options(**given):
    return pulumi.ResourceOptions(**given)


async def ready(*resources):
    await asyncio.sleep(0)
    return list(resources)


def fill_yard():
    """Declare what each step asks for."""
    explicit = toy.Toy("explicit", prefix="x-", token=pulumi.Output.secret("t" if step < 4 else "u"))
    one = toy.Box("one", value="v1" if step < 2 else "v2", zone="a" if step < 3 else "b", storage=storage)
    toy.Thing("two", value=one.thing.serial)
    toy.Thing("far", value="v", opts=options(provider=explicit, depends_on=[one]))
    toy.Thing("late", value="w", opts=options(depends_on=pulumi.Output.from_input(ready(one.thing))))
    if step < 2:
        toy.Box("leaves", value=1)
    else:
        toy.Box("comes", value=[1, 2.5, {"deep": None, "flag": False}])
    chain()
    secrets()
    names()
    failures()
    later()
    greeting = pulumi.runtime.invoke("toy:index:lookup", {"name": "yard"}).value
    pulumi.export("greeting", greeting["greeting"])
    pulumi.export("serial", one.thing.serial)
    pulumi.export("secret", pulumi.Output.secret("open sesame"))


def chain():
    root = toy.Thing("root", zone="a" if step < 3 else "b", deleteFirst=True)
    middle = toy.Thing("middle", serialOf=root.serial, deleteFirst=True)
    toy.Thing("leaf", value=middle.serial)
    toy.Thing("byoption", zone=str(step >= 13), opts=options(delete_before_replace=True))
    toy.Thing("strict", value=str(step >= 13), opts=options(replace_on_changes=["value"]))


def secrets():
    toy.Thing("hidden", secrets=pulumi.Output.secret({"user": "u", "word": "w1" if step < 4 else "w2"}))
    toy.Thing("marked", value="m", opts=options(additional_secret_outputs=["echo"]))
    toy.Thing("guarded", value=1 if step < 4 else 2, opts=options(ignore_changes=["value"]))
    if step != 11:
        toy.Thing("kept", value="k", opts=options(protect=4 <= step < 12))


def names():
    if step < 5:
        toy.Thing("before", value="n", opts=options(retain_on_delete=True))
        toy.Box("oldbox", value="n")
    elif step < 6:
        toy.Thing("after", value="n", opts=options(retain_on_delete=True, aliases=[pulumi.Alias(name="before")]))
        toy.Box("newbox", value="n", opts=options(aliases=[pulumi.Alias(name="oldbox")]))


def failures():
    if step in (7, 8, 9):
        toy.Thing("fragile", value=step == 9)
    if step == 10:
        toy.Thing("refused", value="refuse")


def later():
    if step < 12:
        toy.Thing("watched", value="w", refreshFirst=True)
    else:
        watched = toy.Thing("watched", value="w", refreshFirst=True)
        toy.Thing("onlooker", value=watched.serial)
    if step >= 14:
        toy.Thing("foreign", value="mine", opts=options(import_="thing-foreign-1"))
        found = toy.Thing("found", opts=options(id="thing-found-1"))
        toy.Thing("patient", value=found.echo, opts=options(custom_timeouts=pulumi.CustomTimeouts(create="5m")))


fill_yard()
