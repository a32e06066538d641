"""The program of one resource: it declares what ``wanted.json`` beside it lists, with the SDK's and our own classes."""

import json
import signal
from pathlib import Path

import pulumi
import pulumi_aws as aws

from nomad_csi.components import identity, resources

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the real language host's SIGINT prints tracebacks otherwise

CLASSES = {
    "VolumeRegistration": resources.VolumeRegistration,
    "CreatedVolume": resources.CreatedVolume,
    "PluginJob": resources.PluginJob,
    "RenderedFile": resources.RenderedFile,
    "Volume": aws.ebs.Volume,
    "FileSystem": aws.efs.FileSystem,
    "AccessPoint": aws.efs.AccessPoint,
    "Role": aws.iam.Role,
    "RolePolicyAttachment": identity.attach,
}

wanted = json.loads(Path(__file__).with_name("wanted.json").read_text(encoding="utf-8"))
provider = resources.Provider("nomad", address=wanted["address"], root=str(Path(__file__).parent))
made = {}
for name, (kind, given) in wanted["resources"].items():
    own = kind in {"VolumeRegistration", "CreatedVolume", "PluginJob", "RenderedFile"}
    options = pulumi.ResourceOptions(provider=provider if own else None)
    args = {key: made[value[1:]].id if str(value).startswith("@") else value for key, value in given.items()}
    made[name] = CLASSES[kind](name, opts=options, **args)
