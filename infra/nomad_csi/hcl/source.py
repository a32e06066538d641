"""Load the text of a foreign file, with checks of size, encoding and invalid characters."""

from pathlib import Path

from nomad_csi import errors

LIMIT_BYTES = 2**20
"""Size limit of a file. Source: ``job_max_source_size`` of Nomad's server configuration, 1M by default."""

BYTE_ORDER_MARK = "\ufeff"


def read(path: Path) -> str:
    """Return the text of the file at *path*. Raises `errors.SpecError` with the problem and its line."""
    size = path.stat().st_size
    if size > LIMIT_BYTES:
        raise _refusal(str(path), "", f"a file of at most {LIMIT_BYTES // 2**20} MiB", f"{size / 2**20:.1f} MiB")
    return decode(path.read_bytes(), str(path))


def decode(content: bytes, name: str) -> str:
    """Return *content* as text; *name* is the file's, for errors."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        where = f"line {line}, byte {column}"
        raise _refusal(name, where, "text in UTF-8", f"the byte 0x{content[error.start]:02x}") from None


def check(text: str, name: str, *, may_begin_with_mark: bool) -> None:
    """Raise `errors.SpecError` for a character that no parser accepts: NUL, and a byte order mark before HCL1."""
    if "\0" in text:
        raise _refusal(name, place(text, text.index("\0")), "text without NUL", "NUL")
    if text.startswith(BYTE_ORDER_MARK) and not may_begin_with_mark:
        raise _refusal(name, "line 1, column 1", "text without a byte order mark, which Nomad refuses here", "one")


def place(text: str, position: int) -> str:
    """Return line and column of *position* in *text*, as text."""
    return f"line {text.count(chr(10), 0, position) + 1}, column {position - text.rfind(chr(10), 0, position)}"


def _refusal(name: str, where: str, allowed: str, got: str) -> errors.SpecError:
    return errors.SpecError((errors.Problem(path=where, got=got, allowed=allowed),), source=name)
