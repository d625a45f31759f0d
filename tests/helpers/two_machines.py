"""Crawl of eight shards on two machines, one of which is lost.

Run ``unshare --net --map-root-user python -m tests.helpers.two_machines FOLDER``. Each machine is a
network namespace with a folder of its own; both write WARC archives to a shared folder and deliver
to one sink. The first machine has the shards 1 to 4:

- hour 0: it crawls; then its state is copied
- hour 1: both crawl
- hour 2: it is killed in its third shard, and its folder is deleted
- hour 3: the second machine crawls all shards, once with the copy and once without

Prints as JSON, for both ways, the number of published stories, of rows in the sink, of lost stories
and of those that were delivered twice.
"""

import asyncio
import copy
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any, Self

from newscrawl.archives.archive_reader import Flaw, read_records
from newscrawl.crawling.output.atomic_write import PARTIAL_SUFFIX
from newscrawl.crawling.shards import Shard
from tests.conftest import REPOSITORY
from tests.servers import Request
from tests.servers.newsroom import CLOCK, Newsroom, NewsServer, Story
from tests.servers.opensearch import OpenSearchServer

SHARDS = 8
HOURS = 4
STORIES = 2
"""Stories of a site in each hour."""
FATAL_STORY = 11
"""New story of hour 2 that the first machine never receives: the third of its third shard."""
INDEX = "articles"


def newsrooms() -> list[Newsroom]:
    """Return two sites for each shard."""
    numbers, rooms = count(), []
    hosts = (f"zeitung{number}.example" for number in count())
    free = dict.fromkeys(range(1, SHARDS + 1), 2)
    for host in hosts:
        number = next(n for n in free if Shard(n, SHARDS).holds(f"http://{host}/"))
        if free[number]:
            free[number] -= 1
            stories = [Story(next(numbers), hour) for hour in range(HOURS) for _ in range(STORIES)]
            rooms.append(Newsroom(host, "news", tuple(stories)))
        if not any(free.values()):
            return rooms
    raise AssertionError


class Web(NewsServer):
    """The sites; a request of the machine at *victim* is not answered at the fatal story."""

    address = "0.0.0.0"

    def __init__(self, victim: str) -> None:
        super().__init__(newsrooms())
        self.fatal = threading.Event()
        self._victim = victim
        self._stories = 0

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the page."""
        if self.hour == 2 and writer.get_extra_info("peername")[0] == self._victim:
            room = self.rooms.get(request.host)
            new = [it.path for it in room.stories if it.published == 2] if room else []
            self._stories += request.target in new
            if self._stories >= FATAL_STORY:
                self.fatal.set()
                await asyncio.sleep(600)
        return await super().answer(request, writer)


class Machine:
    """A network namespace, connected to this one, with a folder."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder = folder / f"machine{number}"
        self.address, self._gateway = f"10.19.{number}.2", f"10.19.{number}.1"
        self._link = f"machine{number}"

    def __enter__(self) -> Self:
        self.folder.mkdir()
        self._holder = subprocess.Popen(["unshare", "--net", "sleep", "1000"])
        self._namespace = f"/proc/{self._holder.pid}/ns/net"
        own = Path("/proc/self/ns/net").readlink()
        while Path(self._namespace).readlink() == own:
            time.sleep(0.01)
        ip("link", "add", self._link, "type", "veth", "peer", "name", "eth0")
        ip("link", "set", "eth0", "netns", str(self._holder.pid))
        ip("addr", "add", f"{self._gateway}/24", "dev", self._link)
        ip("link", "set", self._link, "up")
        enter = ["nsenter", f"--net={self._namespace}"]
        ip("addr", "add", f"{self.address}/24", "dev", "eth0", inside=enter)
        ip("link", "set", "eth0", "up", inside=enter)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._holder.kill()
        self._holder.wait()

    def start(
        self, web: Web, sink: OpenSearchServer, hour: int, shards: range
    ) -> subprocess.Popen[str]:
        """Start the crawls of *shards*, one after the other."""
        settings = {
            "DNSCACHE_ENABLED": False,
            "DOWNLOAD_DELAY": 0,
            "NEWSCRAWL_CSS_ENABLED": False,
            "NEWSCRAWL_SEGMENTS": str(self.folder / "segments"),
            "NEWSCRAWL_SINKS": [sink.url(INDEX, self._gateway)],
            "NEWSCRAWL_STATE": str(self.folder / "state.sqlite"),
            "NEWSCRAWL_WARC": str(self.folder.parent / "warc"),
            "NEWSCRAWL_WORKERS": 0,
            "RETRY_TIMES": 0,
        }
        job = {
            "steps": [(hour, {}, {"shard": f"{number}/{SHARDS}"}) for number in shards],
            "days_ahead": {},
            "sites": [room.url for room in web.rooms.values()],
            "result": str(self.folder / "crawls.json"),
            "settings": settings,
        }
        job_file = self.folder / "job.json"
        job_file.write_text(json.dumps(job), encoding="utf-8")
        proxy = web.url.replace(web.address, self._gateway)
        return subprocess.Popen(
            [
                *("nsenter", f"--net={self._namespace}"),
                *(sys.executable, "-m", "tests.helpers.scheduled_crawls", str(job_file)),
            ],
            cwd=REPOSITORY,
            env={**os.environ, "HOME": str(self.folder), "http_proxy": proxy},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def copy_state(self, target: Path) -> None:
        """Copy the states to the folder *target*, between two crawls."""
        target.mkdir(exist_ok=True)
        for state in self.folder.glob("state-*.sqlite"):
            shutil.copy(state, target)

    def lose(self, crawl: subprocess.Popen[str]) -> None:
        """End the machine: its processes, its network and its disk."""
        os.killpg(crawl.pid, signal.SIGKILL)
        crawl.communicate()
        ip("link", "delete", self._link)
        shutil.rmtree(self.folder)


def ip(*words: str, inside: list[str] | None = None) -> None:
    """Run ``ip``."""
    subprocess.run([*(inside or []), "ip", *words], check=True)


def finish(*crawls: subprocess.Popen[str]) -> None:
    """Wait for crawls that must succeed."""
    for crawl in crawls:
        log, _ = crawl.communicate(timeout=300)
        errors = [line for line in log.splitlines() if "ERROR" in line or "CRITICAL" in line]
        assert crawl.returncode == 0, log[-5000:]
        assert not errors, errors[:5]


def take_over(
    folder: Path, machine: Machine, web: Web, sink: OpenSearchServer, *, with_copy: bool
) -> dict[str, Any]:
    """Crawl all shards on *machine*; return the result. Its folder and the sink are restored."""
    indices, sink.replaced = copy.deepcopy(sink.indices), 0
    saved = folder / "saved"
    shutil.copytree(machine.folder, saved)
    if with_copy:
        shutil.copytree(folder / "copy", machine.folder, dirs_exist_ok=True)
    finish(machine.start(web, sink, HOURS - 1, range(1, SHARDS + 1)))
    urls = {document["url"] for _, document in sink.indices[INDEX].documents.values()}
    published = {
        room.url[:-1] + story.path for room in web.rooms.values() for story in room.stories
    }
    result = {
        "published": len(published),
        "rows": len(urls),
        "lost": len(published - urls),
        "twice": sink.replaced,
    }
    sink.indices = indices
    shutil.rmtree(machine.folder)
    saved.rename(machine.folder)
    return result


def check_archives(folder: Path, web: Web) -> dict[str, int]:
    """Return counts of the shared archives and their flaws."""
    records = [record for path in folder.glob("*.warc.gz") for record in read_records(path)]
    responses = [it for it in records if not isinstance(it, Flaw) and it.kind == "response"]
    return {
        "archives": len(list(folder.glob("*.warc.gz"))),
        "unfinished": len(list(folder.glob(f"*{PARTIAL_SUFFIX}"))),
        "flaws": sum(isinstance(record, Flaw) for record in records),
        "responses": len(responses),
        "answers": sum(request.host != CLOCK for request in web.requests),
    }


def main(folder: Path) -> None:
    """Run the hours and print the results."""
    if {name for _, name in socket.if_nameindex()} != {"lo"}:
        raise SystemExit("not in a separate network namespace")
    ip("link", "set", "lo", "up")
    first, second = Machine(folder, 1), Machine(folder, 2)
    half = SHARDS // 2
    with Web(first.address) as web, OpenSearchServer("0.0.0.0") as sink, second, first:
        finish(first.start(web, sink, 0, range(1, half + 1)))
        first.copy_state(folder / "copy")
        finish(
            first.start(web, sink, 1, range(1, half + 1)),
            second.start(web, sink, 1, range(half + 1, SHARDS + 1)),
        )
        crawl = first.start(web, sink, 2, range(1, half + 1))
        assert web.fatal.wait(200)
        first.lose(crawl)
        result = {"delivered": len(sink.indices[INDEX].documents), "early_twice": sink.replaced}
        for with_copy in (True, False):
            way = "with_copy" if with_copy else "without"
            result[way] = take_over(folder, second, web, sink, with_copy=with_copy)
        result["archives"] = check_archives(folder / "warc", web)
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
