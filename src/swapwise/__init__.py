"""Choose variables under structure, fast, with a proof of how good the choice is."""

from swapwise.constraints.laminar import Laminar
from swapwise.constraints.partition import Partition
from swapwise.constraints.uniform import Uniform

__all__ = ["Laminar", "Partition", "Uniform"]
