"""Which kinds of generalised linear models there are for data in chunks."""

from __future__ import annotations

from typing import Any

from swapwise.objectives.logistic import Logistic
from swapwise.objectives.poisson import Poisson
from swapwise.objectives.streamed_likelihood import StreamedLikelihood


class StreamedLogistic(Logistic, StreamedLikelihood):
    """What ``Logistic`` is on data in chunks; see :class:`StreamedLikelihood`."""


class StreamedPoisson(Poisson, StreamedLikelihood):
    """What ``Poisson`` is on data in chunks; see :class:`StreamedLikelihood`."""


def streamed_kind(kind: type[Any]) -> type[Any]:
    """Return what a model is on data in chunks.

    >>> streamed_kind(Poisson).__name__
    'StreamedPoisson'
    """
    if issubclass(kind, StreamedLikelihood):
        return kind
    if kind is Logistic:
        return StreamedLogistic
    if kind is Poisson:
        return StreamedPoisson
    raise TypeError(f"{kind.__name__} needs data in memory, got data in chunks: give X as an array")
