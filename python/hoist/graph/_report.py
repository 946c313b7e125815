"""What a program is: nodes, kernels, bytes."""

from typing import Any, Dict, NamedTuple, Tuple


class Kernel(NamedTuple):
    """One loop over memory. `nodes` names its operations; `bytes` it reads and writes."""

    nodes: Tuple[str, ...]
    bytes: int


class Gpu(NamedTuple):
    """A program's code on a GPU: launches of a run, bytes for results between them, and runs that were
    replayed as one launch."""

    device: str
    launches: int
    arena_bytes: int
    replays: int


class Report(NamedTuple):
    """Facts of a program.

    nodes_traced: primitive operations as the function called them (GELU is nine); views (reshape,
        permute_dims, broadcast_to, slices), inputs and constants do not count.
    nodes_left: after canonicalisation.
    rewrites: rules that canonicalisation used.
    kernels: in the order in which they run.
    bytes_moved: by all kernels, each element of an array once a kernel.
    arena_bytes: planned for results between kernels.
    results_in_place: results that take the place of an input.
    gpus: on which it has run. All else is about the CPU.
    """

    nodes_traced: int
    nodes_left: int
    rewrites: int
    kernels: Tuple[Kernel, ...]
    bytes_moved: int
    arena_bytes: int
    results_in_place: int
    gpus: Tuple[Gpu, ...] = ()

    def __str__(self) -> str:
        share = 100 * len(self.kernels) / self.nodes_traced if self.nodes_traced else 0
        lines = [
            f"{self.nodes_traced} nodes traced, {self.nodes_left} left, "
            f"{len(self.kernels)} kernel{'s' if len(self.kernels) != 1 else ''} ({share:.0f} %)",
            f"{self.bytes_moved} bytes moved, {self.arena_bytes} planned between kernels",
        ]
        for i, kernel in enumerate(self.kernels):
            lines.append(f"  {i}: {' '.join(kernel.nodes)} ({kernel.bytes} bytes)")
        for gpu in self.gpus:
            lines.append(
                f"on {gpu.device}: {gpu.launches} launch{'es' if gpu.launches != 1 else ''}, "
                f"{gpu.arena_bytes} bytes between them"
            )
        return "\n".join(lines)


def report_of(facts: Dict[str, Any]) -> Report:
    kernels = tuple(Kernel(tuple(nodes), size) for nodes, size in facts["kernels"])
    gpus = tuple(Gpu(*one) for one in facts["gpus"])
    return Report(**{**facts, "kernels": kernels, "gpus": gpus})
