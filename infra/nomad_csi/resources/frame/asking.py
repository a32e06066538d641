"""What steps have in common when they ask Nomad: ids, and a cluster that cannot be reached."""

import types

from nomad_csi import errors, nomad
from nomad_csi.resources.frame import resource


def split_identity(identity: str, form: str) -> tuple[str, str]:
    """Return both parts of an id such as ``default/mysql``. Raises `errors.SpecError` naming the *form* expected."""
    namespace, _, name = identity.partition("/")
    if not namespace or not name or "/" in name:
        problem = errors.Problem(path="id", got=repr(identity), allowed=form)
        raise errors.SpecError((problem,), source="import")
    return namespace, name


def is_unreachable(error: errors.NomadApiError) -> bool:
    """Return whether *error* says nothing about the object: no answer came, or one that asks to try later."""
    return error.status is None or error.kind == "retry"


class KeptIfUnreachable:
    """
    A block that reads from Nomad and returns what it found; after it, nobody was there.

    Where the object is recorded, an unreachable cluster becomes a warning and the step goes on behind the block;
    what is not recorded (an import) cannot be kept, and the error goes up.
    """

    def __init__(self, context: resource.Context, client: nomad.Nomad, subject: str, *, is_recorded: bool) -> None:
        self._context = context
        self._address = client.connection.address
        self._subject = subject
        self._is_recorded = is_recorded

    def __enter__(self) -> None:
        """Begin to ask."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> bool:
        if not isinstance(error, errors.NomadApiError) or not (self._is_recorded and is_unreachable(error)):
            return False
        self._context.warn(f"{self._address} is not reachable: {self._subject} was not compared")
        return True


class Previewed(KeptIfUnreachable):
    """A block of a preview that reads from Nomad: it goes on where that does not answer, or refuses to."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> bool:
        if isinstance(error, errors.NomadApiError) and not is_unreachable(error):
            self._context.warn(f"{self._subject} was not checked: {error}")
            return True
        return super().__exit__(kind, error, traceback) or isinstance(error, errors.NomadApiError)
