"""
Which keys the ``config`` block of a task driver has, and what its texts may ask the client for.

Nomad's own validation checks neither; the task fails on the client.
Source: hashicorp/nomad, ``drivers/docker/config.go``, ``drivers/rawexec/driver.go``, ``drivers/exec/driver.go``,
``client/taskenv/env.go``, 2026-08-21; hashicorp/nomad-driver-podman, ``config.go``, 2026-07-14.
"""

import difflib
import re
from collections.abc import Iterable, Iterator

from nomad_csi.hcl import values

CONFIG_KEYS = {
    "docker": frozenset(
        {
            "advertise_ipv6_address", "args", "auth", "auth_soft_fail", "cap_add", "cap_drop", "cgroupns", "command",
            "container_exists_attempts", "cpu_cfs_period", "cpu_hard_limit", "cpuset_cpus", "devices", "dns_options",
            "dns_search_domains", "dns_servers", "entrypoint", "extra_hosts", "force_pull", "group_add", "healthchecks",
            "hostname", "image", "image_pull_timeout", "init", "interactive", "ipc_mode", "ipv4_address",
            "ipv6_address", "isolation", "labels", "load", "logging", "mac_address", "memory_hard_limit", "mount",
            "mounts", "network_aliases", "network_mode", "oom_score_adj", "pid_mode", "pids_limit", "port_map", "ports",
            "privileged", "readonly_rootfs", "runtime", "security_opt", "shm_size", "storage_opt", "sysctl", "tty",
            "ulimit", "userns_mode", "uts_mode", "volume_driver", "volumes", "work_dir",
        }
    ),
    "podman": frozenset(
        {
            "apparmor_profile", "arch", "args", "auth", "auth_soft_fail", "cap_add", "cap_drop", "command",
            "cpu_cfs_period", "cpu_hard_limit", "devices", "entrypoint", "extra_hosts", "force_pull", "hostname",
            "image", "image_pull_timeout", "init", "init_path", "ipc_mode", "ipv4_address", "ipv6_address", "labels",
            "logging", "memory_reservation", "memory_swap", "memory_swappiness", "network_mode", "oom_score_adj", "os",
            "pids_limit", "port_map", "ports", "privileged", "readonly_rootfs", "security_opt", "selinux_opts",
            "shm_size", "socket", "static_ips", "static_mac", "sysctl", "tmpfs", "tty", "ulimit", "userns", "variant",
            "volumes", "working_dir",
        }
    ),
    "raw_exec": frozenset(
        {
            "args", "cgroup_v1_override", "cgroup_v2_override", "command", "denied_envvars", "oom_score_adj",
            "work_dir",
        }
    ),
    "exec": frozenset({"args", "cap_add", "cap_drop", "command", "ipc_mode", "pid_mode", "work_dir"}),
}  # fmt: skip
"""Keys by task driver; of others nothing is known here."""

_FROM_CLIENT = re.compile(
    r"CSI_ENDPOINT"
    r"|NOMAD_(?:ALLOC_DIR|TASK_DIR|SECRETS_DIR|MEMORY_LIMIT|MEMORY_MAX_LIMIT|CPU_LIMIT|CPU_CORES|ALLOC_ID|SHORT_ALLOC_ID"
    r"|ALLOC_NAME|TASK_NAME|GROUP_NAME|JOB_ID|JOB_NAME|JOB_PARENT_ID|ALLOC_INDEX|DC|PARENT_CGROUP|NAMESPACE|REGION"
    r"|UNIX_ADDR|TOKEN)"
    r"|NOMAD_(?:ADDR|HOST_ADDR|IP|HOST_IP|PORT|ALLOC_PORT|HOST_PORT|META|UPSTREAM_\w+)_\w+"
    r"|node\.(?:unique\.id|unique\.name|datacenter|region|class|pool)"
    r"|(?:attr|meta|device\.attr)\.[\w.\-/]+"
    r"|(?:attr|meta|env|node)\[\"[^\"]*\"\]"
    r"|env\.\w+"
)
_ASKED = re.compile(r"(?<!\$)\$\{([^}]*)\}?|(?<!%)%\{([^}]*)\}?")


def unknown_keys(driver: str, config: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each key of *config* that the task driver does not have, with the likely one as a fix, or empty text."""
    known = CONFIG_KEYS.get(driver)
    for key in config if known is not None else ():
        if key not in (known or ()) and key != values.LABELS:
            close = difflib.get_close_matches(key, known or (), n=1)
            yield key, f"did you mean {close[0]}" if close else ""


def strange_questions(text: str, known: frozenset[str]) -> list[str]:
    """
    Return what *text* of a config block asks the client for that it does not know, each as written.

    *known* are the names of the task's own environment.
    """
    found = []
    for match in _ASKED.finditer(text):
        name = (match[1] or "").strip()
        if match[1] is None or not (name in known or _FROM_CLIENT.fullmatch(name)):
            found.append(match[0])
    return found
