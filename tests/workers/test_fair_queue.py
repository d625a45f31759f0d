"""Order and budgets of the tasks of several sites."""

import asyncio
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from newscrawl.workers.child import WorkerError
from newscrawl.workers.pool import WorkerPool
from newscrawl.workers.process import SECONDS_PER_TASK, Limits, SiteBudget

TASK = "tests.helpers.hostile_tasks:spin"


def served(*batches: list[tuple[str, float]]) -> list[str]:
    """Return the sites of tasks of some seconds in the order of their ends."""
    order = []

    async def run() -> None:
        pool = WorkerPool(0)

        async def call(site: str, seconds: float) -> None:
            await pool.call(TASK, b"", site=site, seconds=seconds)
            order.append(site)

        for batch in batches:
            await asyncio.gather(*(call(site, seconds) for site, seconds in batch))
        await pool.close()

    asyncio.run(run())
    return order


def test_slow_site_does_not_delay_others():
    """All tasks of quick sites come before the second one of a slow site."""
    order = served([("slow", 0.05)] * 3 + [(f"quick {number % 2}", 0.0) for number in range(10)])
    assert order[0] == "slow"
    assert order[-2:] == ["slow"] * 2
    assert Counter(order) == {"slow": 3, "quick 0": 5, "quick 1": 5}


def test_idle_site_saves_no_time():
    """A site that comes late takes turns with one that has used much time."""
    order = served([("old", 0.5)], [("old", 0.02)] * 8 + [("new", 0.02)] * 8)
    assert Counter(order[1:9])["old"] >= 3


@pytest.mark.slow
def test_site_that_ends_workers_shares_none():
    """Tasks of others neither wait behind its tasks nor for them, if there are two workers."""
    order = []

    async def run() -> None:
        pool = WorkerPool(2, Limits(deadline=1))

        async def call(site: str, name: str) -> None:
            with suppress(WorkerError):
                await pool.call(f"tests.helpers.hostile_tasks:{name}", b"", site=site)
            order.append(site)

        await call("bad", "hang")
        await asyncio.gather(
            *(call("bad", "hang") for _ in range(2)), *(call("good", "measure") for _ in range(9))
        )
        await pool.close()

    asyncio.run(run())
    assert order == ["bad", *["good"] * 9, "bad", "bad"]


def test_stopped_pool_gives_up_its_tasks():
    async def run() -> list[Any]:
        pool = WorkerPool(1)
        calls = [
            asyncio.ensure_future(pool.call(f"tests.helpers.hostile_tasks:{name}", b""))
            for name in ("measure", "hang", "hang", "measure")
        ]
        await calls[0]
        pool.stop()
        late = pool.call("tests.helpers.hostile_tasks:measure", b"")
        results = await asyncio.gather(*calls, late, return_exceptions=True)
        await pool.close()
        return results

    first, *others = asyncio.run(run())
    assert first["length"] == 0
    assert [error.reason for error in others] == ["stopped"] * 4


def test_budget_grows_with_the_tasks():
    budget = SiteBudget(10.0)
    for _ in range(100):
        budget.add("large", SECONDS_PER_TASK)
    assert not budget.is_exceeded("large")
    budget.add("hostile", 11.0)
    assert budget.is_exceeded("hostile")
    assert SiteBudget(10.0, budget.used).is_exceeded("hostile")
    assert not SiteBudget(0.0, budget.used).is_exceeded("hostile")


@pytest.mark.parametrize("workers", [0, 1])
def test_pool_refuses_tasks_over_the_budget(workers: int):
    """Tasks without site have no budget."""

    async def run() -> list[str]:
        pool = WorkerPool(workers, Limits(site_seconds=0.01))
        reasons = []
        try:
            sites = [("a", 0.6), ("a", 0.0), ("b", 0.0), ("a", 0.0), ("", 0.6), ("", 0.0)]
            for site, seconds in sites:
                try:
                    await pool.call(TASK, b"", site=site, seconds=seconds)
                    reasons.append("")
                except WorkerError as error:
                    reasons.append(error.reason)
        finally:
            await pool.close()
        return reasons

    assert asyncio.run(run()) == ["", "budget", "", "budget", "", ""]
