"""The cache of compiled code: damaged pieces, other users, its limit."""

import os
import stat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import madi
from madi.engines import cache


def piece(folder, name="piece", files=3):
    made = folder / f".new-{name}"
    made.mkdir(parents=True)
    for k in range(files):
        (made / f"{k}.nbi").write_bytes(bytes(range(k, k + 50)) * 20)
    cache.put(made, folder / name)
    return folder / name


WAYS = ["flip", "cut", "empty", "remove", "seal", "more"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(WAYS))
def test_a_damaged_piece_is_noticed_and_removed(tmp_path_factory, seed, how):
    check_damaged_piece(tmp_path_factory, seed, how)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(WAYS))
def test_many_damaged_pieces(tmp_path_factory, seed, how):
    check_damaged_piece(tmp_path_factory, seed, how)


def check_damaged_piece(tmp_path_factory, seed, how):
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("cache")
    made = piece(folder)
    assert cache.is_whole(made)
    target = made / f"{rng.integers(3)}.nbi"
    data = bytearray(target.read_bytes())
    if how == "flip":
        data[rng.integers(len(data))] ^= 1 + int(rng.integers(255))
    elif how == "cut":
        del data[rng.integers(len(data)) :]
    elif how == "empty":
        data = bytearray()
    target.write_bytes(data)
    if how == "remove":
        target.unlink()
    if how == "more":
        (made / "3.nbi").write_bytes(b"stranger")
    if how == "seal":
        seal = folder / "piece.seal"
        text = seal.read_bytes()
        seal.write_bytes(text[: rng.integers(len(text))])
    assert not cache.is_whole(made)
    assert not made.exists()
    assert not (folder / "piece.seal").exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users are POSIX's")
def test_only_the_user_can_write_the_cache(own_cache):
    before = os.umask(0)
    try:
        made = piece(cache.cache_folder())
    finally:
        os.umask(before)
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700
    assert cache.is_whole(made)
    (made / "0.nbi").chmod(0o666)
    assert not cache.is_whole(made)


def test_a_folder_of_another_user_is_not_used(own_cache, monkeypatch):
    monkeypatch.setattr(cache, "_own", lambda path: False)
    with pytest.warns(madi.MadiWarning, match=r"belongs to another user"):
        folder = cache.cache_folder()
    assert folder != own_cache


def test_the_cache_has_a_limit(own_cache, monkeypatch):
    folder = cache.cache_folder() / "compiled"
    for k in range(6):
        made = piece(folder, f"piece{k}")
        os.utime(folder / f"piece{k}.seal", (k, k))
    size = cache.pieces()[0][1]
    monkeypatch.setenv("MADI_CACHE_MB", str(4.5 * size / 1e6))
    assert cache.prune() >= 2 * size
    kept = {made.name for made, _, _ in cache.pieces()}
    assert kept <= {"piece2", "piece3", "piece4", "piece5"}
    assert made.name in kept
    (own_cache / "somebody's.txt").write_text("not ours")
    assert cache.clear() > 0
    assert not cache.pieces()
    assert (own_cache / "somebody's.txt").exists()


@pytest.mark.parametrize("place", ["AppData/Local/madi/Cache", "Library/Caches/madi", ".cache/madi"])
def test_the_cache_is_where_the_system_keeps_caches(place, own_cache, tmp_path, monkeypatch):
    import platformdirs

    monkeypatch.delenv("MADI_CACHE_DIR")
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name, appauthor: str(tmp_path / place))
    assert cache.cache_folder() == (tmp_path / place).resolve()
    assert cache.is_kept()
    if hasattr(os, "getuid"):
        assert stat.S_IMODE((tmp_path / place).stat().st_mode) == 0o700


def test_a_cache_works_where_files_have_no_owners(own_cache, monkeypatch):
    """As on Windows."""
    monkeypatch.delattr(cache.os, "getuid", raising=False)
    assert cache.is_whole(piece(cache.cache_folder()))
