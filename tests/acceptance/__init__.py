"""
The main job in an account of yours, on a Nomad of yours: ``make accept-aws``. docs/start/real-account.md describes it.

All that it makes has the id of the run in its name, and two tags in AWS: the run, and when it may be swept. Only public
commands of nomad-csi and Pulumi are used; AWS is asked by boto3 for what a run left.
"""
