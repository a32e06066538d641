"""Arguments by keyword or in a dictionary."""

import pulumi
import pytest

import nomad_csi
from nomad_csi import components
from tests.components import test_user_mocks

VOLUME = "aws:ebs/volume:Volume"


@pytest.mark.parametrize(
    ("component", "args"), test_user_mocks.DECLARED, ids=lambda value: getattr(value, "__name__", "")
)
def test_keywords_are_as_the_dictionary(component, args, new_cloud):
    """The same resources with the same inputs; what is None is not given."""
    by_dictionary, by_keyword = new_cloud(), new_cloud()
    options = pulumi.ResourceOptions(protect=False)

    for cloud, declare in (
        (by_dictionary, lambda: component("data", args, options) and None),
        (by_keyword, lambda: component("data", opts=options, adopt=None, **args) and None),
    ):
        pulumi.runtime.set_mocks(cloud.recorder, project="storage", stack="prod")
        cloud.settle(declare)

    def made(cloud):
        return sorted((item.token, item.name, str(item.inputs)) for item in cloud.recorder.made)

    assert made(by_keyword) == made(by_dictionary)
    assert len(made(by_keyword)) > 1


@pytest.mark.parametrize("component", components.COMPONENTS, ids=lambda made: made.__name__)
@pytest.mark.parametrize(
    ("args", "keywords", "got"),
    [
        (5, {}, "a value of type int"),
        (["plugin"], {}, "a value of type list"),
        (pulumi.ResourceOptions(), {}, "a value of type ResourceOptions"),
        ({"namespace": "default"}, {"namespace": "default"}, "both"),
    ],
    ids=["number", "list", "options", "both"],
)
def test_other_arguments_are_refused(cloud, component, args, keywords, got):
    """By the class of all errors in arguments."""
    with pytest.raises(nomad_csi.errors.SpecError, match=rf"args: expected the arguments by keyword .*, got {got}$"):
        cloud.settle(lambda: component("data", args, **keywords))


def test_unknown_keyword_is_told_as_an_unknown_key(cloud):
    """With what was meant."""
    with pytest.raises(nomad_csi.errors.SpecError, match=r"iop: .*did you mean iops"):
        cloud.settle(lambda: components.EbsVolume("data", **test_user_mocks.EBS, iop=4000))


def test_help_of_the_package_lists_the_classes():
    """Which are imported when they are used."""
    assert {"CsiPlugin", "EbsVolume", "storage_stack"} <= set(dir(nomad_csi))


def test_class_of_a_program_keeps_its_own_constructor(cloud):
    """It passes on what it likes."""

    class Database(components.EbsVolume):
        """A volume of ours."""

        def __init__(self, name, gib):
            super().__init__(name, plugin_id="ebs0", availability_zone="us-east-1a", size_gib=gib)

    cloud.settle(lambda: Database("data", gib=40) and None)

    assert cloud.inputs(VOLUME, "data")["size"] == 40
    assert Database.__doc__ == "A volume of ours."
