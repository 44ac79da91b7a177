"""The program that a judged client starts as its agent: it carries bytes to the kit and back.

It is run as a file by a bare interpreter, so it knows the standard library only.  Nothing is read
into what passes; when one side ends, the other is told and the program goes away.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

CHUNK_BYTES = 65_536


def _to_kit(kit: socket.socket) -> None:
    try:
        while chunk := os.read(0, CHUNK_BYTES):
            kit.sendall(chunk)
        kit.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def main(address: str) -> None:
    kit = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    kit.connect(address)
    threading.Thread(target=_to_kit, args=(kit,), daemon=True).start()
    try:
        while chunk := kit.recv(CHUNK_BYTES):
            view = memoryview(chunk)
            while view:
                view = view[os.write(1, view) :]
    except OSError:
        pass
    # The thread may be blocked in a read, and this process has nothing to wait for.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
