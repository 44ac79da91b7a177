"""Attempts to get out of a sandbox, each a few lines of Python.

They know the paths `home`, `project`, `shared` (readable) and `private`, the process ids `victim`
and `tests`, an `abstract` socket and a `port`.  What they achieve is seen from outside; where that
is not possible they print ESCAPED.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

BOTH = ("bubblewrap", "landlock")


@dataclass(frozen=True)
class Escape:
    """An attempt.  `open_in` are the kinds that do not prevent it, as the documentation says."""

    code: str
    open_in: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


def _read(path: str) -> Escape:
    return Escape(f"print(open({path}).read())")


def _write(path: str, *, open_in: tuple[str, ...] = ()) -> Escape:
    return Escape(f"open({path}, 'a').write('x')", open_in)


LANDLOCK = ("landlock",)

ESCAPES = {
    # Reading
    "read the ssh key": _read("home + '/.ssh/id'"),
    "read cloud credentials": _read("home + '/.aws/credentials'"),
    "read the token of gh": _read("home + '/.config/gh/hosts.yml'"),
    "read netrc": _read("home + '/.netrc'"),
    "read cookies": _read("home + '/.mozilla/cookies'"),
    "read a file of another folder": _read("private + '/secret.txt'"),
    "read by ..": _read("project + '/../../private/secret.txt'"),
    "read by a link": _read("project + '/out/secret.txt'"),
    "read by the root of a process": _read("f'/proc/{tests}/root' + private + '/secret.txt'"),
    "read by our own root": _read("'/proc/self/root' + private + '/secret.txt'"),
    "read variables of another process": _read("f'/proc/{victim}/environ'"),
    "read memory of another process": Escape("open(f'/proc/{victim}/mem', 'rb'); print('ESCAPED')"),
    "see command lines of other processes": Escape(
        "if 'sleep\\x001000' in open(f'/proc/{victim}/cmdline').read(): print('ESCAPED')",
        LANDLOCK,
    ),
    "ask for the size of a hidden file": Escape(
        "os.stat(home + '/.ssh/id'); print('ESCAPED')", LANDLOCK
    ),
    "list the home": Escape("if '.ssh' in os.listdir(home): print('ESCAPED')"),
    "list the temporary folder": Escape(
        "if any('world-' in one for one in os.listdir('/tmp') if one not in home): print('ESCAPED')"
    ),
    "hard link to a secret": Escape(
        "os.link(home + '/.ssh/id', 'linked')\nprint(open('linked').read())"
    ),
    "read a secret by a new link": Escape(
        "os.symlink(home + '/.ssh/id', 'linked')\nprint(open('linked').read())"
    ),
    # Writing
    "write outside": _write("private + '/new'"),
    "write in the home": _write("home + '/.profile'"),
    "write by ..": _write("'../../shared/data.txt'"),
    "write by a link": _write("'out.txt'"),
    "write by a link to a folder": _write("'out/new'"),
    "truncate": Escape("os.truncate(shared + '/data.txt', 0)"),
    "remove": Escape("os.unlink(shared + '/data.txt')"),
    "remove a folder": Escape("os.rmdir(shared + '/sub')"),
    "rename out": Escape("os.rename('notes.txt', shared + '/notes.txt')"),
    "rename in": Escape("os.rename(shared + '/data.txt', 'data.txt')"),
    "rename the session's folder": Escape("os.rename(project, home + '/other')"),
    "hard link out": Escape("os.link('notes.txt', shared + '/notes.txt')"),
    "hard link in and write": Escape(
        "os.link(shared + '/data.txt', 'mine')\nopen('mine', 'a').write('x')"
    ),
    "make a folder outside": Escape("os.mkdir(shared + '/new')"),
    "make a link outside": Escape("os.symlink('x', shared + '/new')"),
    "make a pipe outside": Escape("os.mkfifo(shared + '/new')"),
    "leave a file in /tmp": _write("'/tmp/accord-' + home.split('/')[-2]"),
    "leave a file in /var/tmp": _write("'/var/tmp/accord-' + home.split('/')[-2]"),
    "leave a file in /dev/shm": _write("'/dev/shm/accord-' + home.split('/')[-2]"),
    "change the mode of a file": Escape("os.chmod(shared + '/data.txt', 0o777)", LANDLOCK),
    "change the times of a file": Escape("os.utime(shared + '/data.txt', (1, 1))", LANDLOCK),
    "write by an open folder": Escape(
        "handle = os.open(shared, os.O_RDONLY)\n"
        "os.open('new', os.O_WRONLY | os.O_CREAT, dir_fd=handle)"
    ),
    "write to a file by its descriptor": Escape(
        "handle = os.open(shared + '/data.txt', os.O_RDONLY)\n"
        "open(f'/proc/self/fd/{handle}', 'a').write('x')"
    ),
    "write to the kernel's settings": Escape(
        "open('/proc/sys/kernel/core_pattern', 'r+').close(); print('ESCAPED')"
    ),
    # Files that others execute
    "write a git hook": _write("'.git/hooks/pre-commit'", open_in=LANDLOCK),
    "replace a git hook": Escape(
        "open('x', 'w').write('x'); os.rename('x', '.git/hooks/pre-commit')", LANDLOCK
    ),
    "write git's settings": _write("'.git/config'", open_in=LANDLOCK),
    "write what the shell runs": _write("'.envrc'", open_in=LANDLOCK),
    "write what the editor runs": _write("'.vscode/tasks.json'", open_in=LANDLOCK),
    "move the folder of hooks away": Escape(
        "os.rename('.git/hooks', 'x'); os.mkdir('.git/hooks')", LANDLOCK
    ),
    "move the repository away": Escape(
        "os.rename('.git', 'x'); os.makedirs('.git/hooks')", LANDLOCK
    ),
    # Processes
    "signal another process": Escape("os.kill(victim, 9)"),
    "stop another process": Escape("os.kill(victim, 19)"),
    "ask whether a process lives": Escape("os.kill(tests, 0); print('ESCAPED')"),
    "signal the parent": Escape(
        "ctypes.CDLL(None).prctl(36, 0)\nos.kill(os.getppid(), 0)\n"
        "if os.getppid() > 2: print('ESCAPED')"
    ),
    "signal everybody": Escape("os.kill(-1, 0)\nos.kill(-1, 9)"),
    "signal by a handle": Escape(
        "import signal\nsignal.pidfd_send_signal(os.pidfd_open(victim), 9)"
    ),
    "trace another process": Escape(
        "if ctypes.CDLL(None).ptrace(16, victim, 0, 0) == 0: print('ESCAPED')"
    ),
    "read memory by a call": Escape(
        "libc = ctypes.CDLL(None)\nbuffer = ctypes.create_string_buffer(8)\n"
        "class V(ctypes.Structure):\n"
        "    _fields_ = [('a', ctypes.c_void_p), ('n', ctypes.c_size_t)]\n"
        "mine = V(ctypes.addressof(buffer), 8)\ntheirs = V(0x400000, 8)\n"
        "if libc.process_vm_readv(victim, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0) > 0:\n"
        "    print('ESCAPED')"
    ),
    "change a limit of a process": Escape(
        "import resource\nresource.prlimit(victim, resource.RLIMIT_NOFILE, (10, 10))\n"
        "print('ESCAPED')",
        LANDLOCK,
    ),
    # The system
    "mount": Escape(
        "if ctypes.CDLL(None).mount(b'tmpfs', shared.encode(), b'tmpfs', 0, None) == 0:"
        " print('ESCAPED')"
    ),
    "unmount what hides": Escape(
        "libc = ctypes.CDLL(None)\nfor one in (home, '/tmp', shared, '/home', '/'):\n"
        "    libc.umount2(one.encode(), 2)\nprint(open(private + '/secret.txt').read())"
    ),
    "remount": Escape(
        "ctypes.CDLL(None).mount(None, shared.encode(), None, 32 | 4096, None)\n"
        "open(shared + '/new', 'w')"
    ),
    "namespaces of a user": Escape(
        "libc = ctypes.CDLL(None)\nuid = os.getuid()\nassert libc.unshare(0x10020000) == 0\n"
        "open('/proc/self/uid_map', 'w').write(f'0 {uid} 1')\n"
        "for one in (home, '/tmp', shared):\n    libc.umount2(one.encode(), 2)\n"
        "libc.mount(None, shared.encode(), None, 32 | 4096, None)\n"
        "libc.mount(b'/', b'/mnt', None, 4096, None)\n"
        "print(subprocess.getoutput(f'cat {private}/secret.txt /mnt{private}/secret.txt'))\n"
        "open(shared + '/new', 'w')"
    ),
    "a new root": Escape(
        "os.chroot(project); os.chdir('/'); [os.chdir('..') for _ in range(9)]; os.chroot('.')\n"
        "print(open(private + '/secret.txt').read())"
    ),
    "a device": Escape(
        "os.mknod('disk', 0o60600, os.makedev(254, 0)); open('disk', 'rb'); print('ESCAPED')"
    ),
    "a program with more rights": Escape(
        "print('ESCAPED' if 'NoNewPrivs:\\t0' in open('/proc/self/status').read() else '')"
    ),
    "capabilities": Escape(
        "words = open('/proc/self/status').read().split()\n"
        "if any(int(words[words.index(f'Cap{one}:') + 1], 16) for one in ('Eff', 'Prm', 'Bnd')"
        " if one != 'Bnd' or os.getuid() == 0): print('ESCAPED')"
    ),
    "type into the terminal": Escape(
        "import fcntl, pty\nos.setsid()\nmain, side = pty.openpty()\n"
        "fcntl.ioctl(side, 0x540E, 0)\nfcntl.ioctl(side, 0x5412, b'x'); print('ESCAPED')"
    ),
    "write to an open terminal": Escape("os.open(terminal, os.O_RDWR); print('ESCAPED')", LANDLOCK),
    "keys of the kernel": Escape(
        "if ctypes.CDLL(None).syscall(250, 0, -3, 0) > 0: print('ESCAPED')"
    ),
    "calls of io_uring": Escape(
        "if ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(120)) >= 0:\n"
        "    print('ESCAPED')"
    ),
    # Sockets
    "an abstract socket": Escape("socket.socket(socket.AF_UNIX).connect('\\0' + abstract)"),
    "a hidden socket": Escape("socket.socket(socket.AF_UNIX).connect(private + '/service.sock')"),
    "a socket in a readable folder": Escape(
        "socket.socket(socket.AF_UNIX).connect(shared + '/service.sock')"
    ),
    "a message to a socket": Escape(
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '\\0' + abstract)\n"
        "print('ESCAPED')"
    ),
    "the network without a network": Escape(
        "socket.create_connection(('127.0.0.1', port))", options={"network": False}
    ),
    "datagrams without a network": Escape(
        "sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nsock.bind(('127.0.0.1', 0))\n"
        "sock.sendto(b'x', ('10.0.0.1', 53)); print('ESCAPED')",
        options={"network": False},
    ),
}
