"""A crawl of sites that lead to internal addresses, in an isolated network with a sniffer.

Run as ``unshare --net --map-root-user python -m tests.helpers.network_namespace FOLDER [safe|open]``: the network
namespace has nothing but loopback, where all addresses of the internet lead. The crawl has no
exceptions from our settings: its healthy sites are at a public address. Prints, as JSON, the
addresses that packets were sent to and what the crawl brought.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import Deferred, succeed

from tests.helpers.fault_suite import HEALTHY, Run, crawl_cases, judge, troubles_of_run
from tests.servers.faultsites import CASES

if TYPE_CHECKING:
    from tests.servers.faultcases import Case

#: where every name leads that is not to lead inside
PUBLIC = "1.2.3.4"
INSIDE_CASES: dict[str, Case] = {
    name: case for name, case in CASES.items() if name.endswith("inside") or "xxe" in name
}

_IPV4, _IPV6 = 0x0800, 0x86DD
_TCP, _UDP = 6, 17
_SYN, _ACK = 0x02, 0x10


class Names(CachingThreadedResolver):
    """``TWISTED_DNS_RESOLVER``: ``inner.*`` is in a private network, other names are public."""

    inner: ClassVar[str] = "10.1.2.3"

    def getHostByName(self, name: str, timeout: Any = ()) -> Deferred[str]:  # noqa: N802
        if not name.endswith(".example"):
            return super().getHostByName(name, timeout)
        return succeed(self.inner if name.startswith("inner.") else PUBLIC)


class Sniffer:
    """Counts, by address, attempts to connect and datagrams that leave this machine's programs."""

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
            if direction == socket.PACKET_OUTGOING and (found := destination(kind, frame[14:])):
                self.sent[found] += 1


def destination(kind: int, packet: bytes) -> str | None:
    """Return the address that *packet* connects or sends a datagram to; None for other packets."""
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


def lead_everywhere_to_loopback() -> None:
    """Make all addresses addresses of this namespace, which has no other network."""
    devices = {name for _, name in socket.if_nameindex()}
    if devices != {"lo"}:
        raise SystemExit(f"not a network namespace of its own: {sorted(devices)}")
    for command in (
        "link set lo up",
        "route add local 0.0.0.0/0 dev lo",
        "-6 route add local ::/0 dev lo",
    ):
        subprocess.run(["ip", *command.split()], check=True)


def report(run: Run, sent: Counter[str]) -> dict[str, Any]:
    """Return what the test wants to know."""
    rows = {name: judge(name, case, run) for name, case in INSIDE_CASES.items()}
    healthy = [run.web.sites[name] for name in HEALTHY]
    return {
        "sent": dict(sent),
        "extracted": sum(run.extracted(site) for site in healthy),
        "problems": {name: row.problems for name, row in rows.items() if row.problems},
        "troubles": troubles_of_run(run),
        "outcomes": Counter(one.outcome for one in run.ended),
        "refused": {k: v for k, v in run.crawl.stats.items() if "safety/refused" in k},
        "items": [item["url"] for item in run.crawl.items],
    }


def main(folder: str, mode: str = "safe") -> None:
    """Crawl, and print what became of it."""
    lead_everywhere_to_loopback()
    settings = {
        "NEWSCRAWL_ALLOWED_ADDRESSES": "",
        "NEWSCRAWL_SAFETY_ENABLED": mode == "safe",
        "TWISTED_DNS_RESOLVER": f"tests.helpers.network_namespace.{Names.__name__}",
    }
    with Sniffer() as sniffer:
        run = crawl_cases(Path(folder), INSIDE_CASES, "http://10.1.2.3:80", PUBLIC, **settings)
    Path(folder, "crawl.log").write_text(run.crawl.output, encoding="utf-8")
    json.dump(report(run, sniffer.sent), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
