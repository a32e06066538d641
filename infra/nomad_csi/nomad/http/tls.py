"""Certificates: what is trusted and what is shown, read once when a client is made, so that a bad file has its name."""

import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib import parse

from nomad_csi import errors
from nomad_csi.nomad.http import connection


def context(settings: connection.Connection) -> ssl.SSLContext | None:
    """
    Return what TLS connections are made with; ``None`` where the address is plain HTTP.

    Raises `errors.SpecError` naming each file that cannot be used.
    """
    if parse.urlsplit(settings.address).scheme != "https":
        return None
    trusts_own = bool(settings.ca_cert or settings.ca_path)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if trusts_own else ssl.create_default_context()
    if problems := tuple(_load(made, settings)):
        raise errors.SpecError(problems, source=connection.SOURCE)
    if settings.tls_skip_verify:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made


def _load(made: ssl.SSLContext, settings: connection.Connection) -> Iterator[errors.Problem]:
    """Load files into *made*; yield a problem for each that cannot be used. ``ca_cert`` goes before ``ca_path``."""
    if settings.ca_cert:
        yield from _tried(made.load_verify_locations, "ca_cert", settings.ca_cert)
    elif settings.ca_path:
        yield from _folder(made, settings.ca_path)
    if settings.client_cert:
        # An empty password: a key that needs one is a problem, never a question on the terminal.
        yield from _tried(
            lambda file: made.load_cert_chain(file, settings.client_key, password=""),
            "client_cert",
            settings.client_cert,
            f" that fits client_key {settings.client_key!r}",
        )


def _folder(made: ssl.SSLContext, folder: str) -> Iterator[errors.Problem]:
    """Load every file of *folder*, as Nomad does; OpenSSL itself would look for hashed names only."""
    files = sorted(path for path in Path(folder).glob("*") if path.is_file())
    if not files:
        yield _problem("ca_path", folder, "a folder with PEM files")
    for file in files:
        yield from _tried(made.load_verify_locations, "ca_path", str(file))


def _tried(load: Callable[[str], None], name: str, file: str, fitting: str = "") -> Iterator[errors.Problem]:
    try:
        load(file)
    except OSError as error:
        reason = error.strerror or str(error)
        yield _problem(name, file, f"a readable PEM file{fitting} ({reason})")


def _problem(name: str, got: str, allowed: str) -> errors.Problem:
    return errors.Problem(path=f"{name} ({connection.VARIABLES[name]})", got=repr(got), allowed=allowed)
