"""A program that refuses itself system calls, and then becomes Python with other arguments.

It needs no right and no namespace: the kernel lets each process refuse itself calls for good. Only
the standard library is imported, because the process belongs to a student's notebook.
"""

import ctypes
import os
import sys

NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2
"""Numbers of `prctl`: two of its options, and the mode of the second."""


class Program(ctypes.Structure):
    """The kernel's `sock_fprog`: the number of lines of a filter, and its address."""

    _fields_ = (("lines", ctypes.c_ushort), ("address", ctypes.c_void_p))


def refuse(program: bytes) -> None:
    """Apply a filter of system calls to this process and to what it becomes.

    Parameters
    ----------
    program : bytes
        An array of the kernel's `sock_filter`, with eight bytes a line.

    Raises
    ------
    OSError
        If the kernel, or a filter that is there already, does not allow it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    lines = ctypes.create_string_buffer(program, len(program))
    filtering = Program(len(program) // 8, ctypes.addressof(lines))
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(
        SECCOMP, FILTER, ctypes.byref(filtering)
    ):
        raise OSError(ctypes.get_errno(), "system calls cannot be refused")


def main() -> None:
    """Apply the filter in the first argument, and start Python with the others."""
    refuse(bytes.fromhex(sys.argv[1]))
    os.execv(sys.executable, [sys.executable, *sys.argv[2:]])


if __name__ == "__main__":
    main()
