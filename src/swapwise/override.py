"""``override`` of Python 3.12's ``typing``: the method is documented where it is declared first."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import override
else:

    def override(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


__all__ = ["override"]
