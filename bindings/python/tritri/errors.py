"""The exception for failures that are nobody's argument."""
from __future__ import annotations


class TritriError(RuntimeError):
    """A failure of the device, the driver or the library itself.

    Wrong arguments raise ``ValueError`` or ``TypeError`` and exhausted memory ``MemoryError``; everything else is this.

    Parameters
    ----------
    status : int
        The library's status, such as 3.
    message : str
        One sentence: what failed, and what was expected.

    Attributes
    ----------
    status : int
    status_name : str
        Such as ``"TRITRI_NO_DEVICE"``.
    """

    def __init__(self, status: int, message: str):
        super().__init__(status, message)
        self.status = status

    def __str__(self) -> str:
        return self.args[1]

    @property
    def status_name(self) -> str:
        from ._native import native
        return native.tritri_status_name(self.status)
