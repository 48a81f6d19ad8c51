"""Variables of a Dataset whose numbers are computed when they are first read, as xarray does it with those of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from madi.results.later import Waiting


class Unread(BackendArray):  # type: ignore[misc]
    """What is waiting, as xarray sees an array of a file."""

    def __init__(self, waiting: Waiting):
        self.waiting, self.shape, self.dtype = waiting, waiting.shape, np.dtype(float)

    def __getitem__(self, key: Any) -> Any:
        basic = indexing.IndexingSupport.BASIC
        return indexing.explicit_indexing_adapter(key, self.shape, basic, lambda where: self.waiting.get()[where])

    def __reduce__(self) -> Any:  # files and other processes get the numbers
        return indexing.NumpyIndexingAdapter, (self.waiting.get(),)


def unread(dims: Sequence[str], waiting: Waiting, attrs: Mapping[str, Any]) -> xr.Variable:
    """The variable."""
    lazy = indexing.MemoryCachedArray(indexing.LazilyIndexedArray(Unread(waiting)))
    return xr.Variable(dims, lazy, attrs, fastpath=True)


def still_unread(variable: Any) -> Waiting | None:
    """What stands for the numbers of a Dataset's variable as long as nobody has read them."""
    inner = variable.variable._data
    for _ in range(2):
        inner = getattr(inner, "array", None)
    return inner.waiting if isinstance(inner, Unread) and inner.shape == variable.shape else None
