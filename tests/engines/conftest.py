"""A cache for one test."""

import pytest

from madi.engines import cache, compiler


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache of its own, and nothing remembered of the machine."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("MADI_CACHE_DIR", str(folder))
    yield from _forgotten(folder)


def _forgotten(folder):
    remembered = (cache.cache_folder, cache.jit_folder, compiler.compiler, compiler.machine)
    for function in remembered:
        function.cache_clear()
    cache._told.clear()
    yield folder
    for function in remembered:
        function.cache_clear()
