"""Processes find each other in a store, and not those that have met there before."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from torch.distributed import Store, TCPStore

from treecrf.parser.training.ranks import LostRankError, joined, meet

SIZE = 3
PATIENCE = timedelta(seconds=300)
SOON = timedelta(seconds=0.5)


@pytest.fixture
def server() -> TCPStore:
    """What `torchrun` keeps while it starts processes again."""
    return TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)


def visit(server: TCPStore, rank: int, patience: timedelta = PATIENCE) -> Store:
    store = TCPStore("127.0.0.1", server.port, is_master=False, wait_for_workers=False)
    return meet(store, rank, SIZE, patience=patience)


def share(server: TCPStore, order: Sequence[int]) -> list[bytes]:
    """What each finds that the leader has left for all, when they come in this order."""

    def run(rank: int) -> bytes:
        store = visit(server, rank)
        if rank == 0:
            assert not store.check(["address"])  # no remains
            store.set("address", str(order))
        return store.get("address")

    with ThreadPoolExecutor(SIZE) as pool:
        return list(pool.map(run, order))


def test_those_who_are_started_again_meet_in_any_order(server: TCPStore) -> None:
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]):
        assert share(server, order) == [str(order).encode()] * SIZE


@pytest.mark.parametrize("came", [(0,), (1,), (0, 1), (1, 2)])
def test_those_who_came_in_vain_are_not_taken_for_those_who_come_now(
    came: tuple[int, ...], server: TCPStore
) -> None:
    with ThreadPoolExecutor(SIZE) as pool:
        visits = [pool.submit(visit, server, rank, SOON) for rank in came]
    # One whom the leader answers does not wait for the others.
    failed = [rank for rank, met in zip(came, visits, strict=True) if met.exception()]
    assert failed == [rank for rank in came if rank == 0 or 0 not in came]
    order = [2, 1, 0]
    assert share(server, order) == [str(order).encode()] * SIZE


@pytest.mark.parametrize("rank", [0, 1])
def test_nobody_waits_long_for_one_who_does_not_come(
    rank: int, server: TCPStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(server.port),
        "RANK": str(rank),
        "TORCHELASTIC_RUN_ID": "none",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "WORLD_SIZE": "2",
    }
    for name, value in started.items():
        monkeypatch.setenv(name, value)
    problem = f"process {rank} of 2: another one has not come within 0.5 seconds; start them again"
    with pytest.raises(LostRankError, match=problem), joined("cpu", patience=SOON):
        pass
