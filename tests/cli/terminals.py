"""A terminal that keeps what it is shown."""

import io


class Terminal(io.StringIO):
    """Standard error of a terminal."""

    def isatty(self) -> bool:
        return True
