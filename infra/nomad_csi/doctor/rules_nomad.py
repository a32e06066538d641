"""What is looked for in the cluster: versions, clients, the token, plugins and their claims. Data."""

from nomad_csi.lint.model import Rule
from nomad_csi.nomad import gates

VERSIONS = (
    *(
        Rule(code=gate.code, severity=gate.severity, explanation=gate.happens, fix=gate.fix, source=gate.source)
        for gate in gates.GATES
    ),
    Rule(
        code="nomad-too-old-for-driver",
        severity="error",
        explanation="A driver of the catalogue or of the spec names the oldest Nomad that it works with, and a server "
        "or client is older.",
        fix="upgrade Nomad, or take the driver's plugin off these clients",
        source="minimum_nomad of the driver: `nomad-csi drivers show`, or the spec",
    ),
    Rule(
        code="nomad-client-newer",
        severity="warning",
        explanation="A client runs a newer Nomad than the servers. Nomad supports clients that are as old as the "
        "servers or older; calls that the servers do not know fail.",
        fix="upgrade the servers first, then the clients",
        source="HashiCorp, Nomad upgrade guide, 2026-08",
    ),
    Rule(
        code="server-failed",
        severity="warning",
        explanation="Gossip calls a server failed. With the next one, a region of three has no leader, and claims, "
        "registrations and placements wait.",
        fix="start the server again, or remove it with `nomad server force-leave`",
        source="hashicorp/nomad, nomad/serf.go, 2026-08-21",
    ),
)

CLIENTS = (
    Rule(
        code="driver-nowhere",
        severity="error",
        explanation="No client on which the plugin may run has its task driver, healthy. The job finds no place, and "
        "its allocations wait with `missing drivers`.",
        fix="install or repair the task driver on the clients, or choose another one for the plugin",
        source="hashicorp/nomad, scheduler/feasible/feasible.go (DriverChecker), 2026-08-21; Nomad 2.0.6-dev, tried "
        "2026-08",
    ),
    Rule(
        code="driver-missing",
        severity="warning",
        explanation="Some clients on which the plugin would run have no healthy task driver for it. No volume of the "
        "plugin can be used there.",
        fix="install or repair the task driver there, or leave these clients out by a constraint or node pool",
        source="hashicorp/nomad, scheduler/feasible/feasible.go (DriverChecker), 2026-08-21",
    ),
    Rule(
        code="privileged-refused",
        severity="error",
        explanation="The plugin's task wants to be privileged, as whoever mounts for others must, and Docker on these "
        "clients is not allowed to: Docker privileged mode is disabled on this Nomad agent. The task fails there.",
        fix='write plugin "docker" { config { allow_privileged = true } } into the agent\'s configuration there, and '
        "restart the agent",
        source="hashicorp/nomad, drivers/docker/fingerprint.go (driver.docker.privileged.enabled), 2026-08-21",
    ),
    Rule(
        code="privilege-missing",
        severity="error",
        explanation="The plugin mounts for the whole client, and its container is not privileged. It answers and is "
        "healthy; the first mount fails, with `permission denied` in the events of the job that wanted it.",
        fix="set privileged = true in the config of the plugin's task",
        source="csi-driver-host-path v1.18.0 in Docker 20.10.24 under Nomad 2.0.6-dev, tried 2026-11-21",
    ),
    Rule(
        code="folders-refused",
        severity="error",
        explanation="The plugin's container wants folders of the client, and Docker on these clients may not give "
        "any: volumes are not enabled; cannot mount host path. The task fails there.",
        fix='write plugin "docker" { config { volumes { enabled = true } } } into the agent\'s configuration there, '
        "and restart the agent",
        source="hashicorp/nomad, drivers/docker/fingerprint.go (driver.docker.volumes.enabled), 2026-11-21; tried on "
        "2.0.6-dev the same day",
    ),
    Rule(
        code="mount-not-shared",
        severity="error",
        explanation="The mount that holds Nomad's data directory does not share what is mounted below it. What the "
        "node plugin mounts in its container does not reach the tasks: Docker refuses to start it, or a task sees an "
        "empty folder and writes to the client's own disk.",
        fix="run `mount --make-rshared` on the mount point of Nomad's data_dir, and make it so at every boot",
        source="kernel documentation, filesystems/sharedsubtree; hashicorp/nomad, "
        "client/allocrunner/taskrunner/plugin_supervisor_hook.go (bidirectional), 2026-08-21",
    ),
)

TOKEN = (
    Rule(
        code="token-cannot",
        severity="warning",
        explanation="The token lacks what an operation of this package needs. With a token that is to read only, that "
        "is as it should be; with the one of a deployment, the operation will end with 403 midway.",
        fix="give the token a policy with it, or use another token for that operation",
        source="hashicorp/nomad, nomad/csi_endpoint.go, nomad/job_endpoint.go, acl/acl.go, 2026-08-21; tried with "
        "tokens on Nomad 2.0.6-dev, 2026-08",
    ),
    Rule(
        code="plugin-write-grants-nothing",
        severity="warning",
        explanation='A policy says plugin { policy = "write" }. Nomad takes it and grants nothing for it: plugins '
        'cannot even be read, also where another policy says "read".',
        fix='write plugin { policy = "read" } in that policy',
        source="hashicorp/nomad, acl/acl.go (AllowPluginRead, maxPrivilege), 2026-08-21; Nomad 2.0.6-dev, tried "
        "2026-08",
    ),
    Rule(
        code="token-policy-missing",
        severity="warning",
        explanation="The token names a policy that does not exist. It grants nothing until somebody makes it.",
        fix="make the policy with `nomad acl policy apply`, or give the token another one",
        source="Nomad 2.0.6-dev, tried 2026-11",
    ),
)

PLUGINS = (
    Rule(
        code="plugin-absent",
        severity="error",
        explanation="Volumes are registered with a plugin that Nomad does not know. No job can use them, and they can "
        "neither be detached nor registered again.",
        fix="run the plugin's jobs, or deregister the volumes",
        source="hashicorp/nomad, nomad/csi_endpoint.go, 2026-08-21; Nomad 2.0.6-dev, tried 2026-08",
    ),
    Rule(
        code="claimed-without-controller",
        severity="error",
        explanation="Volumes are claimed while no controller of their plugin is healthy. Nobody can detach them: an "
        "allocation that ends, or a drain, leaves them attached, and the next one cannot use them.",
        fix="make a controller healthy before anything is stopped, drained or moved; `nomad-csi verify` says why it "
        "is not",
        source="hashicorp/nomad issues 18174 and 17756",
    ),
    Rule(
        code="plugin-unused",
        severity="warning",
        explanation="Plugin jobs of this package run, and neither a registered volume nor the spec uses their plugin.",
        fix="stop the jobs, or register the volumes that they are for",
        source="the mark nomad-csi.owner in the jobs, and Nomad's list of volumes",
    ),
    Rule(
        code="mark-without-volume",
        severity="warning",
        explanation="A stack has the owner mark of a volume that is not registered: its run ended between the two, or "
        "somebody deregistered the volume without it. Other stacks cannot register a volume of that id.",
        fix="let the stack run again, or take the id over from another one with adopt: true",
        source="the variables below nomad-csi/volumes, and Nomad's list of volumes",
    ),
)
