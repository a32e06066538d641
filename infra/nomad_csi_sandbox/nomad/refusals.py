"""An answer that is no. Part of the Nomad emulator."""


class RefusalError(Exception):
    """Nomad says no: an HTTP status, and one sentence as plain text."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


FORBIDDEN = 403
NOT_FOUND = 404
SERVER_ERROR = 500
BAD_REQUEST = 400
