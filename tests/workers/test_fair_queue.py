"""Order and budgets of the tasks of several sites."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newscrawl.workers.child import WorkerError
from newscrawl.workers.pool import FairQueue, WorkerPool
from newscrawl.workers.process import SECONDS_PER_TASK, Limits, SiteBudget


def serve(queue: FairQueue[float]) -> str:
    """Run the next task, whose value is its length; return its site."""
    site, seconds = queue.pop() or ("", 0.0)
    queue.finish(site, seconds)
    return site


def test_slow_site_does_not_delay_others():
    queue: FairQueue[float] = FairQueue()
    for _ in range(20):
        queue.push("slow", 20.0)
    for _ in range(20):
        queue.push("quick", 0.02)
    order = [serve(queue) for _ in range(40)]
    assert order.index("slow", 1) >= 20
    assert Counter(order) == {"slow": 20, "quick": 20}


def test_idle_site_saves_no_time():
    queue: FairQueue[float] = FairQueue()
    for _ in range(100):
        queue.push("old", 1.0)
    for _ in range(90):
        serve(queue)
    for _ in range(20):
        queue.push("new", 1.0)
    assert Counter(serve(queue) for _ in range(20)) == {"old": 10, "new": 10}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 5)), max_size=60))
def test_every_task_is_served_once(tasks: list[tuple[str, float]]):
    queue: FairQueue[float] = FairQueue()
    for site, seconds in tasks:
        queue.push(site, seconds)
    assert Counter(serve(queue) for _ in tasks) == Counter(site for site, _ in tasks)
    assert queue.pop() is None
    assert len(queue) == 0


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
    task = "tests.helpers.hostile_tasks:spin"

    async def run() -> list[str]:
        pool = WorkerPool(workers, Limits(site_seconds=0.01))
        reasons = []
        try:
            sites = [("a", 0.6), ("a", 0.0), ("b", 0.0), ("a", 0.0), ("", 0.6), ("", 0.0)]
            for site, seconds in sites:
                try:
                    await pool.call(task, b"", site=site, seconds=seconds)
                    reasons.append("")
                except WorkerError as error:
                    reasons.append(error.reason)
        finally:
            await pool.close()
        return reasons

    assert asyncio.run(run()) == ["", "budget", "", "budget", "", ""]
