"""What a command prints, fit for a terminal: nothing that came from a plugin, a server or a file controls it."""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO, cast

from nomad_csi.text import visible


class Guard:
    """A text stream that spells control characters out; the colours of our own tables stay on a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._keeps_colours = stream.isatty()

    def write(self, text: str) -> int:
        """Write *text*, fit to be shown."""
        self.stream.write(visible.visible(text, keep_colours=self._keeps_colours))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write *lines*, fit to be shown."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Have all that is printed in the block pass a `Guard`."""
    before: tuple[TextIO | None, TextIO | None] = sys.stdout, sys.stderr  # None: closed from the start
    sys.stdout, sys.stderr = (cast("TextIO", Guard(stream) if stream else None) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = cast("tuple[TextIO, TextIO]", before)


def terminal(stream: TextIO) -> TextIO:
    """Return what is behind *stream*, for a command that draws on the terminal itself."""
    return stream.stream if isinstance(stream, Guard) else stream
