"""Linear algebra on one core: held while somebody is inside, in whatever thread, and put back."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import scipy.linalg  # brings a library of its own

from madi.kernel.cores import SMALL, found_blas, one_core


def counts():
    return [int(blas.count()) for blas in found_blas()]


@pytest.fixture(autouse=True)
def two_threads():
    """As on a machine of two cores."""
    assert scipy.linalg
    before = counts()
    for blas in found_blas():
        blas.set_count(2)
    if set(counts()) != {2}:
        pytest.skip("a BLAS whose threads are not held")
    yield
    for blas, count in zip(found_blas(), before, strict=True):
        blas.set_count(count)


def test_held_inside_and_put_back():
    before = counts()
    with one_core(SMALL + 1):
        assert set(counts()) == {1}
        with one_core(1000):
            assert set(counts()) == {1}
        assert set(counts()) == {1}
    assert counts() == before
    with one_core(SMALL):  # BLAS itself takes one
        assert counts() == before


def test_put_back_after_an_error():
    before = counts()
    with pytest.raises(np.linalg.LinAlgError), one_core():
        np.linalg.inv(np.zeros((SMALL + 1, SMALL + 1)))
    assert counts() == before


def test_the_last_thread_puts_it_back():
    """Threads come and go in any order; none sees more than one core while it is inside."""
    before, workers = counts(), 4
    meet = Barrier(workers)

    def work(seed):
        rng, seen = np.random.default_rng(seed), set()
        meet.wait()
        for k in range(200):
            with one_core(SMALL + int(rng.integers(1, 9))):
                seen |= set(counts()) if k % 20 == 0 else set()
                np.linalg.inv(np.eye(5))
        return seen

    with ThreadPoolExecutor(workers) as pool:
        assert all(seen == {1} for seen in pool.map(work, range(workers)))
    assert counts() == before
