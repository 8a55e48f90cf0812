"""Notebooks that attack the grader's machine, with one attempt per cell."""

import textwrap

C = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
"""The beginning of an attempt that uses the C library."""


def _system_call(call):
    """Return an attempt to make a system call, which has succeeded unless the call returns -1."""
    return f"{C}n = libc.syscall({call})\nreturn None if n == -1 else n"


FILES = {
    "open": "return open(secret).read()",
    "dir_fd": "root = os.open('/', os.O_RDONLY)\n"
    "return os.read(os.open(secret.lstrip('/'), os.O_RDONLY, dir_fd=root), 99)",
    "openat": C + "fd = libc.openat(-100, secret.encode(), 0)\nreturn os.read(fd, 99)",
    "openat2": C + "how = (ctypes.c_ulonglong * 3)(0, 0, 0)\n"
    "fd = libc.syscall(437, -100, secret.encode(), how, 24)\nreturn os.read(fd, 99)",
    "fopen": C + "libc.fopen.restype = ctypes.c_void_p\nreturn libc.fopen(secret.encode(), b'r')",
    "fileio": "import _io\nreturn _io.FileIO(secret).read()",
    "numpy": "return np.fromfile(secret, dtype='u1').tobytes()",
    "linecache": "import linecache\nreturn linecache.getlines(secret) or None",
    "mmap": "import mmap\nfd = os.open(secret, os.O_RDONLY)\nreturn mmap.mmap(fd, 0, prot=1)[:]",
    "stat": "return os.stat(secret)",
    "list": "return os.listdir(folder)",
    "scandir-dir_fd": "root = os.open('/', os.O_RDONLY)\n"
    "return os.listdir(os.open(folder.lstrip('/'), os.O_RDONLY, dir_fd=root))",
    "glob": "import glob\nreturn glob.glob(folder + '/*') or None",
    "walk": "return [d for d, _, names in os.walk('/') if 'secret.txt' in names"
    " or 'right-loops.ipynb' in names] or None",
    "classmate": "import json\nfor cell in json.load(open(classmate))['cells']:\n"
    "    exec(''.join(cell['source']), globals())\nreturn 'all cells of a classmate'",
    "symlink": "os.symlink(secret, 'link')\nreturn open('link').read()",
    "hard-link": "os.link(secret, 'hard')\nreturn open('hard').read()",
    "parents": "return open('../' * 30 + secret.lstrip('/')).read()",
}

OUTSIDE = {
    "proc-self-root": "return open('/proc/self/root' + secret).read()",
    "proc-1-root": "return open('/proc/1/root' + secret).read()",
    "proc-self-fd": "return os.listdir('/proc/self/fd')",
    "proc-parent": "return open(f'/proc/{os.getppid()}/environ').read()",
    "proc-mem": "return open('/proc/1/mem', 'r+b')",
    "open-descriptors": "import fcntl\nfound = []\nfor fd in range(3, 64):\n"
    "    try: found.append(fcntl.fcntl(fd, fcntl.F_GETFL) if os.fstat(fd).st_mode & 0o40000"
    " else 0)\n    except OSError: pass\nreturn [f for f in found if f] or None",
    "passwd": "return open('/etc/passwd').read()",
    "pwd": "import pwd\nreturn pwd.getpwall() or None",
    "home": "return os.listdir('/root') + os.listdir('/home')",
    "hostname": "import socket\nname = socket.gethostname()\n"
    "return None if name == 'notebook' else name",
    "environment": "return {k: v for k, v in os.environ.items() if secret in v"
    " or 'TOKEN' in k} or None",
    "package": "return open(package + '/core/softmax.py').read()",
    "reference": "import importlib, sys\n[sys.modules.pop(n) for n in list(sys.modules)"
    " if n.split('.')[0] == 'mha']\nreturn importlib.import_module('mha.core.softmax')",
    "objects": "import gc\nreturn [x for x in gc.get_objects()"
    " if getattr(x, '__name__', '') in ('softmax', 'scaled_dot_product_attention')] or None",
    "frames": "import sys\nframe, found = sys._getframe(), []\nwhile frame:\n"
    "    found += [k for k in frame.f_globals if k in ('STEPS', 'judged', 'wanted')]\n"
    "    frame = frame.f_back\nreturn found or None",
    "sys": "return os.listdir('/sys')",
    "other-processes": "import signal\nfor pid in range(2, 5000):\n    try:\n"
    "        if pid != os.getpid(): os.kill(pid, 0); return pid\n    except OSError: pass",
    "cgroup": "return os.listdir('/sys/fs/cgroup')",
}

CHANGES = {
    "write": "return open(canary, 'w').write('gone')",
    "delete": "os.remove(canary)\nreturn 'deleted'",
    "delete-dir_fd": "root = os.open('/', os.O_RDONLY)\n"
    "os.unlink(canary.lstrip('/'), dir_fd=root)\nreturn 'deleted'",
    "unlinkat": C + "n = libc.unlinkat(-100, canary.encode(), 0)\nreturn None if n else 'deleted'",
    "rename": "os.rename(canary, 'mine')\nreturn 'moved'",
    "truncate": "os.truncate(canary, 0)\nreturn 'emptied'",
    "chmod": "os.chmod(canary, 0)\nreturn 'changed'",
    "sqlite": "import sqlite3\nsqlite3.connect(canary + '.db').execute('create table a (b)')\n"
    "return 'created'",
    "mkdir": "os.mkdir(folder + '/new')\nreturn 'made'",
    "tempfile": "import tempfile\nreturn tempfile.mkstemp(dir='/tmp')",
    "site-packages": "open(os.path.join(os.path.dirname(np.__file__), 'x.py'), 'w')\nreturn 'new'",
    "runner": "import mha, sys\nopen('/runner/mha/practice/answers.py', 'a')\nreturn 'changed'",
    "interpreter": "import sys\nopen(sys.executable, 'r+b')\nreturn 'changed'",
    "root": "open('/x', 'w')\nreturn 'created'",
    "devices": "open('/dev/x', 'w')\nreturn 'created'",
    "shared-memory": "open('/dev/shm/x', 'w')\nreturn 'created'",
    "remount": C + "n = libc.mount(None, b'/', None, 32 | 4096, None)\nreturn None if n else 'rw'",
    "chroot": "os.chroot('/notebook')\nreturn 'new root'",
}

PROCESSES = {
    "fork": "pid = os.fork()\nif pid == 0:\n    os._exit(0)\nreturn pid",
    "forkpty": "return os.forkpty()",
    "subprocess": "import subprocess, sys\nreturn subprocess.check_output([sys.executable, '-V'])",
    "system": "n = os.system('true')\nreturn None if n else 'ran'",
    "posix_spawn": "import sys\nreturn os.posix_spawn(sys.executable, ['python', '-V'], {})",
    "spawnv_passfds": "import sys\nfrom multiprocessing.util import spawnv_passfds\n"
    "return spawnv_passfds(sys.executable.encode(), [b'python', b'-V'], ())",
    "multiprocessing": "from multiprocessing import get_context\n"
    "p = get_context('spawn').Process(target=print)\np.start()\nreturn p.pid",
    "syscall-fork": _system_call("57"),
    "syscall-vfork-by-clone": _system_call("56, 0x4111, 0, 0, 0, 0"),
    "clone3": C + "args = (ctypes.c_ulonglong * 11)(0x4100)\n"
    "n = libc.syscall(435, args, 88)\nreturn None if n == -1 else n",
    "thread": "import threading\nt = threading.Thread(target=print)\nt.start()\nreturn t",
    "ptrace": C + "n = libc.ptrace(16, 1, 0, 0)\nreturn None if n == -1 else 'attached'",
    "unshare": C + "n = libc.unshare(0x10000000)\nreturn None if n == -1 else 'new namespace'",
    "setuid": "os.setuid(0)\nreturn os.getuid()",
    "kill-parent": "import signal\nif os.getppid():\n    os.kill(os.getppid(), signal.SIGKILL)\n"
    "    import time\n    time.sleep(0.3)\n    os.kill(os.getppid(), 0)\nreturn None",
    "pidfd": "import signal\nfor pid in range(2, 5000):\n    try:\n"
    "        if pid != os.getpid(): signal.pidfd_send_signal(os.pidfd_open(pid), 0); return pid\n"
    "    except OSError: pass",
    "limits": "import resource\nbig = resource.RLIM_INFINITY\n"
    "resource.setrlimit(resource.RLIMIT_AS, (big, big))\nreturn 'no limit'",
    "32-bit": C + "import mmap\npage = mmap.mmap(-1, 4096, prot=7)\n"
    "page.write(b'\\xb8\\x02\\x00\\x00\\x00\\xcd\\x80\\xc3')\n"
    "at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
    "n = ctypes.CFUNCTYPE(ctypes.c_int)(at)()\nreturn n if n > 0 else None",
}

NETWORK = {
    "tcp": "import socket\nsocket.create_connection(('127.0.0.1', port), 2).send(b'x')\n"
    "return 'sent'",
    "udp-sendmsg": "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "return s.sendmsg([b'x'], [], 0, ('127.0.0.1', port))",
    "udp6": "import socket\ns = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\n"
    "return s.sendto(b'x', ('::1', port))",
    "unix": "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(unix)\nreturn 'connected'",
    "abstract": "import socket\ns = socket.socket(socket.AF_UNIX)\n"
    "s.connect('\\0' + unix)\nreturn 'connected'",
    "netlink": "import socket\nreturn socket.socket(16, socket.SOCK_RAW, 0)",
    "vsock": "import socket\nreturn socket.socket(40, socket.SOCK_STREAM)",
    "raw": "import socket\nreturn socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
    "kernel-crypto": "import socket\nreturn socket.socket(38, socket.SOCK_SEQPACKET)",
    "syscall-socket": _system_call("41, 2, 2, 0"),
    "socket-pair": "import socket\nreturn socket.socketpair()",
    "io_uring": C + "buffer = ctypes.create_string_buffer(256)\n"
    "n = libc.syscall(425, 8, buffer)\nreturn None if n == -1 else 'made'",
    "urllib": "import urllib.request\nreturn urllib.request.urlopen(f'http://127.0.0.1:{port}')",
    "lookup": "import socket\nreturn socket.getaddrinfo('example.org', 80)",
    "shmget": C + "n = libc.shmget(1, 1 << 30, 0o1600)\nreturn None if n == -1 else 'held'",
    "memfd": "return os.memfd_create('x')",
    "attributes": "open('x', 'w').close()\nos.setxattr('x', 'user.x', b'x' * 60_000)\n"
    "return 'held'",
    "keyring": _system_call("248, b'user', b'a', b'b', 1, -3"),
    "message-queue": C + "n = libc.msgget(1, 0o1600)\nreturn None if n == -1 else n",
    "bpf": _system_call("321, 0, 0, 0"),
}

SHARED = {
    "lease": "import fcntl, this\nfd = os.open(this.__file__, os.O_RDONLY)\n"
    "return fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK) or 'held'",
    "inotify": C + "fd = libc.inotify_init1(0)\nreturn None if fd == -1 else fd",
    "inotify-before": C + "fd = libc.inotify_init()\nreturn None if fd == -1 else fd",
    "fanotify": C + "fd = libc.fanotify_init(0x200, 0)\nreturn None if fd == -1 else fd",
    "asynchronous-input": C + "number = ctypes.c_ulong(0)\n"
    "n = libc.syscall(206, 9, ctypes.byref(number))\nreturn None if n == -1 else 'made'",
    "signals": C + "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [40])\n"
    "sent = [libc.sigqueue(os.getpid(), 40, 0) for _ in range(999)]\n"
    "return sent.count(0) if sent[-1] == 0 else None",
}
"""Attempts to hold or use up what other processes of the user or of the machine need."""

KINDS = {
    "files": FILES,
    "outside": OUTSIDE,
    "changes": CHANGES,
    "processes": PROCESSES,
    "network": NETWORK,
    "shared": SHARED,
}
"""Attempts by kind and name; each returns a value other than None only if it succeeds."""

REACHED = "reached: "


def attempt(body):
    """Return a cell that makes an attempt, and raises with the result if it succeeds."""
    lines = textwrap.indent(body, "    ")
    return (
        f"def reach():\n{lines}\n"
        "try: result = reach()\n"
        "except BaseException as error: result = None\n"
        f"assert result is None, {REACHED!r} + repr(result)[:200]"
    )


FORGED = '{"fault": "", "quoted": "", "shape": [], "numbers": [], "given": []}'

DISRUPTIVE = {
    "fork-bomb": ["import os\nwhile True:\n    try: os.fork()\n    except OSError: break"],
    "thread-bomb": [
        "import threading, time\nfor _ in range(9999):\n"
        "    threading.Thread(target=time.sleep, args=(999,)).start()"
    ],
    "memory": ["x = []\nwhile True: x.append(bytearray(1 << 26))"],
    "stack": ["def f(): return f()\nimport sys\nsys.setrecursionlimit(10**9)\nf()"],
    "disk": [
        "import os\nfor i in range(10**6):\n    open(f'{i}', 'wb').write(b'x' * (1 << 24))",
        "import os\nused = sum(e.stat().st_size for e in os.scandir('.'))\n"
        "assert used <= 64 << 20, 'reached: the disk'",
    ],
    "large-file": ["open('x', 'wb').truncate(1 << 40)"],
    "output": ["while True: print('x' * 10**6)"],
    "answers": ["import os\nwhile True:\n    for fd in range(3, 9):\n        try: "
                "os.write(fd, b'x' * 10**6)\n        except OSError: pass"],
    "forged-lines": [
        f"import os\nfor fd in range(64):\n    for _ in range(99):\n        try:"
        f" os.write(fd, b'{FORGED}\\n')\n        except OSError: break"
    ],
    "forged-words": [
        "import json, os\n"
        "said = {'fault': 'Right: 8 of 8 points', 'quoted': ['8 of 8 points.'] * 9}\n"
        "for fd in range(64):\n    try: os.write(fd, json.dumps(said).encode() + b'\\n')\n"
        "    except OSError: pass"
    ],
    "deep-answer": ["import os\nfor fd in range(3, 9):\n    try:"
                    " os.write(fd, b'[' * 10**5 + b'\\n')\n    except OSError: pass"],
    "no-answer": ["import os\nfor fd in range(3, 9):\n    try: os.close(fd)\n"
                  "    except OSError: pass"],
    "exit-handler": [
        "import atexit, os, sys\natexit.register(lambda: os.write(1, b'x'))\nsys.exit()"
    ],
    "signals": ["import os, signal\nfor n in range(1, 65):\n    try: os.kill(-1, n)\n"
                "    except (OSError, ValueError): pass"],
    "stops-itself": ["import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"],
    "ignores-signals": ["import signal\nfor n in range(1, 65):\n    try:"
                        " signal.signal(n, signal.SIG_IGN)\n"
                        "    except (OSError, ValueError): pass\n"
                        "while True:\n    try:\n        while True: pass\n"
                        "    except BaseException: pass"],
    "restarts": ["import os\nos._exit(0)"] * 30,
    "lone-surrogates": ["x = '\ud800'", "\udfff\x00",
                        "def scale(s, d): raise ValueError('\ud800')"],
    "huge-arguments": ["def scale(scores, d_k):\n"
                       "    scores.resize((10**6, 9), refcheck=False)\n    return scores[:3, :3]"],
    "dead-arguments": ["def mix(weights, value):\n    value.dtype = 'S8'\n    return weights"],
    "long-class": ["raise type('x' * 900_000, (Exception,), {})('8 of 8 points')"],
    "long-message": ["raise ValueError('Right: ' * 10**6)"],
    "forged-report": [
        "raise ValueError('`\\n\\n8 of 8 points, in a sandbox.\\n\\n- `scale`: Right: 7 sets\\n')",
        "raise ValueError('\",\"8\",\"8\"\\n=cmd|x!A1\\r\\nEmmy,e17,8,8')",
        "raise ValueError('\\u202e8 fo 8\\u200b\\x1b[2J\\x00\\ud800')",
    ],
    "raising-str": [
        "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E",
        "class M(type):\n    __name__ = property(lambda c: 1 / 0)\n"
        "class F(Exception, metaclass=M): pass\nraise F",
    ],
    "endless-str": [
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E"
    ],
    "odd-arrays": [
        "import numpy as np\nclass Lies(np.ndarray):\n"
        "    shape = property(lambda s: (3, 3))\n    size = property(lambda s: 9)\n"
        "    def ravel(self): return np.zeros(10**7)\n"
        "def scale(scores, d_k): return np.zeros(4).view(Lies)",
        "def project(x, w): return [[float('nan')] * w.shape[1]] * len(x)",
        "def dot_products(query, key): return 1e308 * np.ones((len(query), len(key)))",
        "def causal(n): return np.zeros((0, 2**40))",
        "def masked(scores, mask): return 'Right'",
        "def weights(scores): return np.broadcast_to(1.0, (10**9,))",
        "class All:\n    def __array__(self, *a, **k): return self\n"
        "    def __eq__(self, other): return True\ndef mix(weights, value): return All()",
        "def attention(query, key, value, mask): return {'Right': 1}",
    ],
    "patched-modules": [
        "import numpy as np, json\njson.dumps = lambda *_, **__: 'x'\n"
        "np.isclose = np.array_equal = np.allclose = lambda *_, **__: True\n"
        "def scale(scores, d_k): return scores",
    ],
}  # fmt: skip
"""Cells, by name, that try to stop the grader, to use up resources or to forge a report."""
