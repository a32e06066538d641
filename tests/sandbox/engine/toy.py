"""The Python classes of the toy provider, copied into the project of each test."""

import pulumi


class Thing(pulumi.CustomResource):
    """A file in the world of the test."""

    def __init__(self, name, opts=None, **properties):
        outputs = {"serial": None, "echo": None}
        super().__init__("toy:index:Thing", name, {**outputs, **properties}, opts)

    @property
    def serial(self):
        return pulumi.get(self, "serial")

    @property
    def echo(self):
        return pulumi.get(self, "echo")


class Box(pulumi.ComponentResource):
    """A component that holds one thing of its own name."""

    def __init__(self, name, opts=None, **properties):
        super().__init__("toy:index:Box", name, {}, opts)
        self.thing = Thing(name, opts=pulumi.ResourceOptions(parent=self), **properties)
        self.register_outputs({"serial": self.thing.serial})


class Toy(pulumi.ProviderResource):
    """An explicit provider."""

    def __init__(self, name, opts=None, **properties):
        super().__init__("toy", name, properties, opts)
