"""
Send a request and read its reply: one attempt, one deadline, one size limit.

urllib3's exceptions do not leave this module.
"""

import base64
import contextlib
import http
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib import parse

import urllib3

from nomad_csi import errors
from nomad_csi.nomad.http import classify, connection, deadline, limits, pools, streaming

# Certificates: read once when a client is made, so that an error names the invalid file.


def ssl_context(settings: connection.Connection) -> ssl.SSLContext | None:
    """
    Return the TLS context of connections; ``None``: the address is plain HTTP.

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
    """Load files into *made*; yield a problem for each unusable one. ``ca_cert`` takes precedence over ``ca_path``."""
    if settings.ca_cert:
        yield from _tried(made.load_verify_locations, "ca_cert", settings.ca_cert)
    elif settings.ca_path:
        yield from _folder(made, settings.ca_path)
    if settings.client_cert:
        # An empty password: a key that needs one is an error, never a prompt on the terminal.
        yield from _tried(
            lambda file: made.load_cert_chain(file, settings.client_key, password=""),
            "client_cert",
            settings.client_cert,
            f" that fits client_key {settings.client_key!r}",
        )


def _folder(made: ssl.SSLContext, folder: str) -> Iterator[errors.Problem]:
    """Load every file of *folder*, as Nomad does; OpenSSL itself reads only hashed names."""
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


# Requests and their limits.


_PART_BYTES = 2**16

_BETWEEN = "check what stands between this machine and Nomad, which sends it to no client that does not ask for it"

AT_ONCE = 48
"""
Concurrent calls; more wait. A Nomad agent accepts 100 connections of one address and returns 429 to the next
(``http_max_conns_per_client``), and this client is seldom the only one.
"""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A reply."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Transport:
    """Connections to one address: nothing is sent twice, and no redirect followed."""

    def __init__(self, settings: connection.Connection) -> None:
        self._address = settings.address
        self._is_default = settings.is_default
        self._secrets = settings.secrets
        self._headers = _headers(settings)
        context = ssl_context(settings)
        self._open = pools.opener(settings, context, AT_ONCE)
        self._pool = self._open()
        # A proxy gets the full URL for plain HTTP, and a tunnel otherwise (RFC 9112, section 3.2.2).
        self._front = settings.address if settings.proxy and context is None else ""
        self._has_proxy = bool(settings.proxy)
        self._free = threading.BoundedSemaphore(AT_ONCE)

    def exchange(self, call: classify.Call, target: str, content: bytes | None, timeout_s: float) -> Answer:
        """
        Send one request and return its reply, of any status, within *timeout_s*, whatever the peer does.

        *target* is path and query as sent. Raises `errors.NomadApiError`: ``retry`` if the request cannot have
        arrived, else by `classify.unanswered`.
        """
        with deadline.until(time.monotonic() + timeout_s):
            if not self._free.acquire(timeout=max(timeout_s, 0)):
                raise self._unsent(call, f"{AT_ONCE} calls were under way for {timeout_s:g} s", "")
            try:
                return self._exchange(call, target, content, timeout_s)
            except urllib3.exceptions.HTTPError as error:
                raise self._error(call, error, timeout_s) from error
            finally:
                self._free.release()

    def stream(self, target: str) -> streaming.Stream:
        """Return a streaming response, over its own connection: not through a proxy, which may buffer it."""
        if self._has_proxy:
            raise streaming.NoStreamError("Nomad is asked through a proxy")
        return streaming.Stream(self._open, self._headers, target, secrets=self._secrets)

    def close(self) -> None:
        """Close all connections. A later call opens new ones."""
        closed, self._pool = self._pool, self._open()
        closed.close()

    def _exchange(self, call: classify.Call, target: str, content: bytes | None, timeout_s: float) -> Answer:
        response = self._pool.urlopen(
            call.method,
            self._front.rstrip("/") + target,
            body=content,
            headers=self._headers,
            retries=False,
            redirect=False,
            assert_same_host=False,  # the target is set here, and redirects are not followed
            preload_content=False,
            decode_content=False,
        )
        with contextlib.closing(response):
            try:
                received = self._read(call, response)
            except urllib3.exceptions.ReadTimeoutError as error:
                raise self.lost(call, f"the answer was not complete after {timeout_s:g} s") from error
        return Answer(status=response.status, headers=response.headers, content=received)

    def _read(self, call: classify.Call, response: urllib3.BaseHTTPResponse) -> bytes:
        """Return the body; of an error the first `limits.ERROR_BYTES`, and then the connection is not used again."""
        if coding := pools.foreign_coding(response):
            raise self.lost(call, f"the answer is encoded as {coding!r}, which was not asked for", _BETWEEN)
        is_error = response.status >= http.HTTPStatus.MULTIPLE_CHOICES
        limit = limits.ERROR_BYTES if is_error else limits.limits_of(call.path).size
        parts, size = [], 0
        while part := response.read1(_PART_BYTES):
            parts.append(part)
            size += len(part)
            if size > limit and is_error:
                return b"".join(parts)[:limit]
            if size > limit:
                raise self.lost(call, f"the answer is longer than {limit} bytes", "ask for less at a time")
        response.release_conn()
        return b"".join(parts)

    def _error(
        self, call: classify.Call, error: urllib3.exceptions.HTTPError, timeout_s: float
    ) -> errors.NomadApiError:
        advice = f"check NOMAD_ADDR ({self._address}) and whether an agent listens there"
        if self._is_default:
            advice = "that is the default: NOMAD_ADDR is not set, and no --address is given"
        match error:
            case urllib3.exceptions.ProxyError():
                return self._unsent(
                    call, "the proxy does not let it through: " + _cause(error), "check HTTP_PROXY and HTTPS_PROXY"
                )
            case urllib3.exceptions.NameResolutionError():
                return self._unsent(call, "the host name is not known", advice)
            case urllib3.exceptions.NewConnectionError():
                return self._unsent(call, "no connection: " + _cause(error), advice)
            case urllib3.exceptions.ConnectTimeoutError():
                return self._unsent(call, f"no connection within {timeout_s:g} s", advice)
            case urllib3.exceptions.SSLError() if not isinstance(error.args[0], ssl.SSLEOFError):
                return self._unsent(call, "no TLS connection: " + _cause(error), self._tls_advice(error))
            case urllib3.exceptions.SSLError():
                # The error of a server that requires a client certificate depends on timing.
                return self.lost(call, "the TLS connection broke: " + _cause(error), self._tls_advice(error))
            case urllib3.exceptions.LocationParseError():
                return self._unsent(call, "the host name cannot be looked up", advice)
            case _ if isinstance(_innermost(error), TimeoutError | urllib3.exceptions.ReadTimeoutError):
                return self.lost(call, f"no answer within {timeout_s:g} s")
            case _:
                return self.lost(call, "the connection broke: " + _cause(error))

    def _unsent(self, call: classify.Call, message: str, advice: str) -> errors.NomadApiError:
        return errors.NomadApiError(
            call.method,
            call.path,
            f"{self._address}: {message}",
            kind="retry",
            advice=advice,
            is_connected=False,
            secrets=self._secrets,
        )

    def lost(self, call: classify.Call, message: str, advice: str = "") -> errors.NomadApiError:
        """Return the error of a *call* that was sent, and has no usable reply."""
        classified = classify.unanswered(call)
        return errors.NomadApiError(
            call.method,
            call.path,
            f"{self._address}: {message}",
            kind=classified.kind,
            advice=advice or classified.advice,
            secrets=self._secrets,
        )

    def _tls_advice(self, error: urllib3.exceptions.SSLError) -> str:
        if isinstance(error.args[0], ssl.SSLCertVerificationError):
            return "check NOMAD_CACERT, and NOMAD_TLS_SERVER_NAME where the certificate has another name"
        return f"check whether NOMAD_ADDR ({self._address}) is http or https, and check NOMAD_CLIENT_CERT"


def _headers(settings: connection.Connection) -> dict[str, str]:
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "nomad-csi",
    }
    if settings.token:
        headers["X-Nomad-Token"] = settings.token
    if settings.http_auth:
        user, _, password = settings.http_auth.partition(":")
        headers["Authorization"] = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    return headers


def _cause(error: Exception) -> str:
    """Return the innermost reason of *error*, without urllib3's wrapping."""
    inner = _innermost(error)
    if isinstance(inner, ssl.SSLError):
        return str(inner).split("] ", 1)[-1].split(" (_ssl", 1)[0]
    return (inner.strerror or str(inner)) if isinstance(inner, OSError) else str(inner)


def _innermost(error: BaseException) -> BaseException:
    while nested := error.__cause__ or next((part for part in error.args if isinstance(part, BaseException)), None):
        error = nested
    return error
