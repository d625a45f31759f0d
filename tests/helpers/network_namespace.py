"""Crawl of sites that link to internal addresses, in a network namespace with a packet sniffer.

Run ``unshare --net --map-root-user python -m tests.helpers.network_namespace FOLDER [safe|open]``.
The namespace has only the loopback device, to which all addresses are routed. The healthy sites are
at a public address, so that no address has to be allowed. Prints as JSON the addresses that packets
were sent to and the results of the crawl.
"""

import json
import socket
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar, Self

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import Deferred, succeed

from tests.helpers.fault_suite import HEALTHY, Run, check_case, crawl_cases, crawl_problems
from tests.servers.fault_cases import CASES
from tests.servers.faulty_pages import Case

#: address of all names except ``inner.*``
PUBLIC = "1.2.3.4"
INSIDE_CASES: dict[str, Case] = {
    name: case for name, case in CASES.items() if name.endswith("inside") or "xxe" in name
}

_IPV4, _IPV6 = 0x0800, 0x86DD
_TCP, _UDP = 6, 17
_SYN, _ACK = 0x02, 0x10


class NamespaceResolver(CachingThreadedResolver):
    """``TWISTED_DNS_RESOLVER``: ``inner.*`` has a private address, other names a public one."""

    inner: ClassVar[str] = "10.1.2.3"

    def getHostByName(self, name: str, timeout: Any = ()) -> Deferred[str]:  # noqa: N802
        if not name.endswith(".example"):
            return super().getHostByName(name, timeout)
        return succeed(self.inner if name.startswith("inner.") else PUBLIC)


class Sniffer:
    """Counts outgoing TCP connection attempts and UDP datagrams by address."""

    def __init__(self) -> None:
        everything = socket.ntohs(3)
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, everything)
        self._socket.bind(("lo", 0))
        self._socket.settimeout(0.2)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ended = threading.Event()
        self.sent: Counter[str] = Counter()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._ended.set()
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                frame, (_, kind, direction, *_) = self._socket.recvfrom(200)
            except TimeoutError:
                continue
            if direction == socket.PACKET_OUTGOING and (address := destination(kind, frame[14:])):
                self.sent[address] += 1


def destination(kind: int, packet: bytes) -> str | None:
    """Return the address of a TCP SYN or UDP packet; None for other packets."""
    if kind == _IPV4:
        protocol, address = packet[9], socket.inet_ntop(socket.AF_INET, packet[16:20])
        rest = packet[4 * (packet[0] & 15) :]
    elif kind == _IPV6:
        protocol, address = packet[6], socket.inet_ntop(socket.AF_INET6, packet[24:40])
        rest = packet[40:]
    else:
        return None
    if protocol == _TCP and rest[13] & (_SYN | _ACK) == _SYN:
        return address
    return f"{address} (udp)" if protocol == _UDP else None


def route_everything_to_loopback() -> None:
    """Route all addresses to loopback; refuse to run outside a network namespace."""
    devices = {name for _, name in socket.if_nameindex()}
    if devices != {"lo"}:
        raise SystemExit(f"not in a separate network namespace: {sorted(devices)}")
    for command in (
        "link set lo up",
        "route add local 0.0.0.0/0 dev lo",
        "-6 route add local ::/0 dev lo",
    ):
        subprocess.run(["ip", *command.split()], check=True)


def report(run: Run, sent: Counter[str]) -> dict[str, Any]:
    """Return the results of the crawl as JSON values."""
    rows = {name: check_case(name, case, run) for name, case in INSIDE_CASES.items()}
    healthy = [run.web.sites[name] for name in HEALTHY]
    return {
        "sent": dict(sent),
        "extracted": sum(run.extracted(site) for site in healthy),
        "problems": {name: row.problems for name, row in rows.items() if row.problems},
        "errors": crawl_problems(run),
        "outcomes": Counter(row.outcome for row in run.recorded),
        "refused": {k: v for k, v in run.crawl.stats.items() if "safety/refused" in k},
        "items": [item["url"] for item in run.crawl.items],
    }


def main(folder: str, mode: str = "safe") -> None:
    """Crawl the cases and print the report."""
    route_everything_to_loopback()
    settings = {
        "NEWSCRAWL_ALLOWED_ADDRESSES": "",
        "NEWSCRAWL_SAFETY_ENABLED": mode == "safe",
        "TWISTED_DNS_RESOLVER": f"tests.helpers.network_namespace.{NamespaceResolver.__name__}",
    }
    with Sniffer() as sniffer:
        run = crawl_cases(Path(folder), INSIDE_CASES, "http://10.1.2.3:80", PUBLIC, **settings)
    Path(folder, "crawl.log").write_text(run.crawl.output, encoding="utf-8")
    json.dump(report(run, sniffer.sent), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
