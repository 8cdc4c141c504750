"""A broker's files: authority, certificates, keys of orders, who may say what, mosquitto's own.

Everybody is known by the name in the certificate. A node may write its own reports and read its own
orders; the controller reads all reports and writes all orders; `signal` may write the target that
the controller follows. Nobody else may connect.
"""

from __future__ import annotations

import re
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wattline.live.transport.link import KEY_BYTES, LONGEST_NAME, PLAIN_NAME, BrokerSettings
from wattline.live.transport.messages import key_of
from wattline.model.errors import InputError, WattlineError

CONTROLLER, BROKER, AGENTS, SIGNAL = "controller", "broker", "agents", "signal"
DAYS = 3650
_OPENSSL = """[req]
distinguished_name = name
prompt = no
[name]
CN = {name}
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[member]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
subjectAltName = {also}
"""


@dataclass(frozen=True)
class BrokerFiles:
    """Where they lie: a folder per member with what it needs and no other has."""

    folder: Path
    cluster: str
    host: str
    port: int

    @property
    def configuration(self) -> Path:
        return self.folder / BROKER / "mosquitto.conf"

    def of(self, name: str) -> BrokerSettings:
        """How a member connects."""
        place = self.folder / name
        return BrokerSettings(host=self.host, port=self.port, ca=str(place / "ca.crt"),
                              certificate=str(place / "own.crt"), key=str(place / "own.key"))

    def order_key(self, name: str) -> Path:
        """A node's key of orders, or the controller's, from which those of nodes follow."""
        return self.folder / name / "order.key"


def make_broker_files(
    folder: Path, cluster: str, nodes: Sequence[str], *, host: str = "localhost", port: int = 8883,
    user: str = "mosquitto", everyone: bool = False,
) -> BrokerFiles:
    """Make all files of a folder that is not there yet.

    `everyone` also makes a member that speaks for all nodes, which a test bed has.
    """
    if shutil.which("openssl") is None:
        raise InputError("the program openssl is missing (Debian package openssl)")
    _check_names(cluster, nodes)
    reserved = {CONTROLLER, BROKER, AGENTS, SIGNAL} & set(nodes)
    if reserved:
        raise InputError(f"a node may not be called {reserved.pop()}: that is somebody else here")
    try:
        folder.mkdir(parents=True, mode=0o700)
    except FileExistsError:
        raise InputError(f"{folder} is there already; name another folder") from None
    files = BrokerFiles(folder.resolve(), cluster, host, port)
    folder = files.folder
    _certificate(folder, folder / "ca", f"wattline {cluster}"[:LONGEST_NAME], authority=None)
    master = secrets.token_bytes(KEY_BYTES)
    for name in (BROKER, CONTROLLER, SIGNAL, *([AGENTS] if everyone else ()), *nodes):
        place = folder / name
        place.mkdir(mode=0o700)
        shutil.copy(folder / "ca.crt", place / "ca.crt")
        _certificate(folder, place / "own", name, authority=folder / "ca",
                     also=_other_names(host) if name == BROKER else f"DNS:{name}")
        if name not in (BROKER, AGENTS, SIGNAL):
            _secret(files.order_key(name),
                    master if name == CONTROLLER else key_of(master, cluster, name))
    (folder / BROKER / "acl").write_text(access(cluster, everyone=everyone), encoding="utf-8")
    files.configuration.write_text(mosquitto_conf(files, user), encoding="utf-8")
    return files


def _check_names(cluster: str, nodes: Sequence[str]) -> None:
    """Each is a part of topics, and a node's the name of its folder; no agent takes another."""
    for what, name in (("cluster", cluster), *(("node", name) for name in nodes)):
        if len(name) > LONGEST_NAME or not re.fullmatch(PLAIN_NAME.rstrip("$"), name):
            raise InputError(f"{what} '{name}': a name has letters, digits, '.', '_' and '-', "
                             f"begins with a letter or digit and is at most {LONGEST_NAME} long")


def mosquitto_conf(files: BrokerFiles, user: str) -> str:
    place = files.configuration.parent
    bind = f" {files.host}" if files.host in ("127.0.0.1", "localhost") else ""
    return f"""listener {files.port}{bind}
user {user}
cafile {place}/ca.crt
certfile {place}/own.crt
keyfile {place}/own.key
require_certificate true
use_identity_as_username true
allow_anonymous false
acl_file {place}/acl
# Readings lie on the nodes until the controller has them: the broker keeps nothing.
persistence false
max_queued_messages 100000
set_tcp_nodelay true
log_dest stderr
log_type error
log_type warning
"""


def access(cluster: str, *, everyone: bool = False) -> str:
    """Who may say what, by the name in the certificate."""
    at = f"wattline/{cluster}"
    lines = [f"user {CONTROLLER}", f"topic read {at}/+/report", f"topic read {at}/+/state",
             f"topic write {at}/+/order", f"topic read {target_topic(cluster)}",
             f"user {SIGNAL}", f"topic write {target_topic(cluster)}"]
    if everyone:
        lines += [f"user {AGENTS}", f"topic write {at}/+/report", f"topic write {at}/+/state",
                  f"topic read {at}/+/order"]
    lines += [f"pattern write {at}/%u/report", f"pattern write {at}/%u/state",
              f"pattern read {at}/%u/order"]
    return "\n".join(lines) + "\n"


def target_topic(cluster: str) -> str:
    """Where a power to follow is published."""
    return f"wattline/{cluster}/target"


def _other_names(host: str) -> str:
    kind = "IP" if host.replace(".", "").isdigit() else "DNS"
    return f"{kind}:{host}"


def _certificate(
    folder: Path, place: Path, name: str, *, authority: Path | None, also: str = "DNS:none"
) -> None:
    """A key and its certificate, signed by the authority; the authority signs its own."""
    request = folder / "request.cnf"
    request.write_text(_OPENSSL.format(name=name, also=also), encoding="utf-8")
    signed = [] if authority is None else ["-CA", f"{authority}.crt", "-CAkey", f"{authority}.key"]
    done = subprocess.run(
        ["openssl", "req", "-x509", "-config", str(request), "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-days", str(DAYS), "-keyout", f"{place}.key",
         "-out", f"{place}.crt", *signed,
         "-extensions", "authority" if authority is None else "member"],
        capture_output=True, text=True, check=False)
    request.unlink()
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["without a word"]
        raise WattlineError(f"openssl failed: {said[-1]}")
    Path(f"{place}.key").chmod(0o600)


def _secret(file: Path, key: bytes) -> None:
    file.touch(0o600)
    file.write_text(key.hex() + "\n", encoding="ascii")
