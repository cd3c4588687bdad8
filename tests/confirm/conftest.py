"""What the tests of the confirmation share: this interpreter as the user's, its kernels, and a real sshd."""

from __future__ import annotations

import getpass
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pallas_ls.confirm.host import confirm
from pallas_ls.confirm.ways import Local, Remote

from .asking import TIMEOUT, source

SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def unavailable(what: str) -> None:
    """Skips on a developer's machine; in CI, where everything is to be installed, fails."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def here() -> Local:
    """This interpreter, which must have JAX (the extra `jax`)."""
    if importlib.util.find_spec("jax") is None:
        unavailable("JAX is not installed for this Python: pip install pallas-ls[jax]")
    return Local(sys.executable)


@pytest.fixture(scope="session")
def time_limit(here: Local) -> float:
    """Seconds that a confirmation surely needs less than on this machine, as busy as it is: to let one run into."""
    start = time.monotonic()
    assert confirm(source(""), here, timeout=TIMEOUT).failure is None
    return round(5 + 4 * (time.monotonic() - start))


@pytest.fixture(scope="session")
def gpubox(here: Local, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """This machine through ssh: an sshd of our own on the loopback interface, with throw-away keys."""
    if SSHD is None:
        unavailable("there is no sshd: apt-get install -y openssh-server")
    folder = tmp_path_factory.mktemp("ssh")
    host_key, user_key = new_key(folder / "host"), new_key(folder / "user")
    port = free_port()
    (folder / "authorized_keys").write_text(user_key.with_suffix(".pub").read_text())
    kind, key, *_ = host_key.with_suffix(".pub").read_text().split()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {kind} {key}\n")
    (folder / "sshd_config").write_text(sshd_config(folder, host_key, port))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # root's sshd separates its privileges there
    with listening([str(SSHD), "-D", "-e", "-f", str(folder / "sshd_config")]):
        options = [f"UserKnownHostsFile={folder / 'known_hosts'}", "IdentitiesOnly=yes", "BatchMode=yes"]
        prefix = ["ssh", "-F", "none", "-p", str(port), "-i", str(user_key), "-l", getpass.getuser()]
        yield Remote("gpubox", (*prefix, *(f"-o{option}" for option in options), "127.0.0.1"), here.python)


def new_key(path: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def sshd_config(folder: Path, host_key: Path, port: int) -> str:
    settings = {
        "ListenAddress": "127.0.0.1",
        "Port": str(port),
        "HostKey": str(host_key),
        "AuthorizedKeysFile": str(folder / "authorized_keys"),
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
    }
    return "".join(f"{name} {value}\n" for name, value in settings.items())


class listening:
    """Starts sshd and waits until it says that it listens; ends it on leaving."""

    def __init__(self, command: list[str]) -> None:
        self.command = command

    def __enter__(self) -> None:
        self.sshd = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        assert self.sshd.stderr is not None
        said = ""
        for line in self.sshd.stderr:
            said += line
            if "Server listening" in line:
                return
        self.sshd.wait()
        pytest.fail(f"sshd does not start: {said}")

    def __exit__(self, *exception: object) -> None:
        self.sshd.terminate()
        self.sshd.communicate()
