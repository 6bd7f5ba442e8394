"""What goes wrong: in the input, or in Auspex."""

import re

_OVERRIDES = re.compile(r" \(with --set .*\)$")


class AuspexError(Exception):
    """Either of the two below."""


class InputError(AuspexError, ValueError):
    """An input that cannot be: a file, a value, a name, a layout.

    ``where`` is what is blamed: a file with the path in it, or a flag of the command line (``--tiles``), whose name is
    that of the parameter. ``file`` is the file, or ``plan (inline)`` for a dict; empty where no input is blamed.
    ``path`` is the path in it (``$.node.tiles``), or empty. ``message`` says what was found and what is allowed.
    """

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where = where
        self.message = message
        file, colon, path = where.partition(": $")
        is_file = bool(colon) or where.endswith((".json", "(inline)"))
        self.file = _OVERRIDES.sub("", file) if is_file and not where.startswith("--") else ""
        self.path = "$" + path if colon else ""

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.where, self.message)


class InternalError(AuspexError, RuntimeError):
    """A fault of Auspex, or of the system: a broken invariant, a full disk."""
