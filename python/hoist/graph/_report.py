"""What a program is: nodes, kernels, bytes."""

from typing import Any, Dict, NamedTuple, Tuple


class Kernel(NamedTuple):
    """One loop over memory. `nodes` names its operations; `bytes` it reads and writes.

    code: "precompiled", "measuring", "compiled"; or why it stays precompiled: "nothing to compile",
        "not faster", "other bits", "no memory to compare".
    precompiled_us, compiled_us: the best of the calls that measured both; 0 where none has.
    """

    nodes: Tuple[str, ...]
    bytes: int
    code: str = "precompiled"
    precompiled_us: float = 0.0
    compiled_us: float = 0.0


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
    native: whether kernels are compiled for this CPU: "off", "waiting" until it has run for long,
        "compiling", "measuring", "done" or "failed".
    native_error: why it failed.
    """

    nodes_traced: int
    nodes_left: int
    rewrites: int
    kernels: Tuple[Kernel, ...]
    bytes_moved: int
    arena_bytes: int
    results_in_place: int
    gpus: Tuple[Gpu, ...] = ()
    native: str = "off"
    native_error: str = ""

    def __str__(self) -> str:
        share = 100 * len(self.kernels) / self.nodes_traced if self.nodes_traced else 0
        lines = [
            f"{self.nodes_traced} nodes traced, {self.nodes_left} left, "
            f"{len(self.kernels)} kernel{'s' if len(self.kernels) != 1 else ''} ({share:.0f} %)",
            f"{self.bytes_moved} bytes moved, {self.arena_bytes} planned between kernels",
        ]
        for i, kernel in enumerate(self.kernels):
            line = f"  {i}: {' '.join(kernel.nodes)} ({kernel.bytes} bytes)"
            if kernel.compiled_us:
                line += (
                    f" {kernel.code}: {kernel.precompiled_us:.1f} us precompiled,"
                    f" {kernel.compiled_us:.1f} us compiled"
                )
            lines.append(line)
        if self.native_error:
            lines.append(f"kernels stay precompiled: {self.native_error}")
        for gpu in self.gpus:
            lines.append(
                f"on {gpu.device}: {gpu.launches} launch{'es' if gpu.launches != 1 else ''}, "
                f"{gpu.arena_bytes} bytes between them"
            )
        return "\n".join(lines)


def report_of(facts: Dict[str, Any]) -> Report:
    kernels = tuple(
        Kernel(tuple(nodes), size, code, precompiled / 1e3, compiled / 1e3)
        for nodes, size, code, precompiled, compiled in facts["kernels"]
    )
    gpus = tuple(Gpu(*one) for one in facts["gpus"])
    return Report(**{**facts, "kernels": kernels, "gpus": gpus})
