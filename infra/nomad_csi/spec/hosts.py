"""Hosts of addresses that an operator writes: which of them are this machine. Pure."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether *host* (a name, or an address without brackets) is this machine: what is sent there stays here."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
