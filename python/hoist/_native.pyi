from typing import Any, Callable, Hashable, Iterable, List, Optional, Sequence, Set, Tuple

__version__: str

Layers = List[Tuple[int, float, float]]
Wanted = Sequence[Tuple[int, Optional[float]]]  # numbers of tensors, qualities
Loaded = List[Tuple[Any, float, int]]  # bytes, quality, parts

class HoloReader:
    files: List[Tuple[str, str]]
    def __init__(self, path: str) -> None: ...
    def outline(self) -> List[Tuple[str, str, Tuple[int, ...], str, int]]: ...
    def describe(self, tensor: int) -> Tuple[str, str, Tuple[int, ...], str, Layers, str]: ...
    def decode(
        self,
        name: str,
        target: Optional[float] = None,
        layers: Optional[int] = None,
        fragments: Sequence[int] = ...,
    ) -> Tuple[Any, float, int]: ...
    def decode_part(self, tensor: int, ranges: Sequence[Tuple[int, int, int]]) -> Any: ...
    def load_onto(self, device: str, wanted: Wanted) -> Loaded: ...
    def skeleton(self, file: int) -> bytes: ...
    def metadata(self, file: int) -> List[Tuple[str, Any]]: ...

class ModelSource:
    files: List[Tuple[str, str]]
    def __init__(self, path: str) -> None: ...
    def outline(self) -> List[Tuple[str, str, Tuple[int, ...], str]]: ...
    def read(self, index: int) -> Any: ...
    def read_groups(self, indices: Sequence[int], most: int) -> List[Tuple[Any, List[int]]]: ...
    def read_part(self, index: int, ranges: Sequence[Tuple[int, int, int]]) -> Any: ...
    def load_onto(self, device: str, wanted: Wanted) -> Loaded: ...
    def place(self, index: int) -> Tuple[int, int, int, bool]: ...
    def skeleton(self, file: int) -> bytes: ...
    def metadata(self, file: int) -> List[Tuple[str, Any]]: ...

class QualityPolicy:
    def __init__(self, otherwise: float) -> None: ...
    def add(self, pattern: str, quality: float, priority: int = 0) -> None: ...
    def target(self, name: str) -> float: ...

class HoloWriter:
    def __init__(
        self,
        path: str,
        skeleton: bytes,
        size: int,
        encoding: str,
        fragments: int,
        parity: int,
        order: str,
        seed: int,
        precision: Optional[str],
    ) -> None: ...
    def add(self, name: str, dtype: str, shape: Sequence[int], bytes: Any) -> None: ...
    def finish(self) -> None: ...

class TensorDescription:
    def __init__(
        self,
        encoding: str,
        dtype: str,
        shape: Sequence[int],
        parameters: bytes,
        fragment_bytes: Sequence[int],
        prefixes: Sequence[Tuple[float, float]],
        common: float = 0.0,
        energies: Sequence[float] = ...,
    ) -> None: ...
    @property
    def encoding(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> Tuple[int, ...]: ...
    @property
    def parameters(self) -> bytes: ...
    @property
    def fragment_bytes(self) -> List[int]: ...
    @property
    def prefixes(self) -> List[Tuple[float, float]]: ...
    def quality(self, fragments: Iterable[int]) -> float: ...
    def fragments_for(self, target: float) -> int: ...

class TensorDecoder:
    fragments: int
    can_reconstruct: bool
    quality: float
    description: TensorDescription
    def __init__(self, description: TensorDescription, limit: int) -> None: ...
    def add_fragment(self, fragment: int, bytes: Any) -> None: ...
    def reconstruct(self) -> Any: ...

class HoloContext:
    device: str
    def __init__(self, device: str, streams: int) -> None: ...
    def stream(
        self,
        depth: int,
        description: TensorDescription,
        fetch: Callable[[int], Any],
        min_quality: float,
        order: Optional[Sequence[int]],
        on_fragment: Optional[Callable[[int, float], Any]],
        dtype: Optional[str],
    ) -> Tuple[Any, float, int]: ...

class HoloLoader:
    fragments: int
    can_reconstruct: bool
    quality: float
    description: TensorDescription
    def __init__(self, context: HoloContext, description: TensorDescription) -> None: ...
    def feed(self, fragment: int, bytes: Any) -> float: ...
    def finalize(self, dtype: Optional[str]) -> Any: ...

class MultiHoloContext:
    device: str
    def __init__(self, devices: Sequence[str]) -> None: ...
    def reconstruct(
        self, description: TensorDescription, fragments: Sequence[Tuple[int, Any]]
    ) -> Any: ...

class Scorer:
    name: str
    is_count: bool
    def __new__(cls, name: str) -> "Scorer": ...
    def __call__(
        self,
        s1: Optional[Sequence[Hashable]],
        s2: Optional[Sequence[Hashable]],
        *,
        processor: Optional[Callable[[Any], Sequence[Hashable]]] = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> Any: ...  # int where is_count, else float

def element_types() -> List[Tuple[str, str, str]]: ...
def write_file(path: str, pieces: Sequence[Any]) -> None: ...
def encode_tensor(
    dtype: str,
    shape: Sequence[int],
    bytes: Any,
    encoding: str,
    fragments: int,
    seed: int,
    essential_share: float,
    max_rank: int,
    precision: Optional[str],
) -> Tuple[TensorDescription, List[bytes]]: ...
def pair_scores(
    queries: Any,
    choices: Any,
    scorer: Scorer,
    processor: Optional[Callable[[Any], Any]],
    cutoff: Optional[float],
    multiplier: float,
    threads: int,
    allocate: Callable[[int, int], Any],
) -> Any: ...

class SequencePair:
    def __init__(self, b: Any, autojunk: bool, junk: Optional[Set[Any]]) -> None: ...
    def set_first(self, a: Any) -> None: ...
    def ratio(self) -> float: ...
    def quick_ratio(self) -> float: ...
    def matching_blocks(self) -> List[Tuple[int, int, int]]: ...
    def opcodes(self) -> List[Tuple[str, int, int, int, int]]: ...
    def longest_match(
        self, a_begin: int, a_end: int, b_begin: int, b_end: int
    ) -> Tuple[int, int, int]: ...
    def close(self, items: Any, cutoff: float) -> List[Tuple[float, Any]]: ...

def is_missing(item: Any) -> bool: ...

class FuzzFunction:
    def __init__(self, name: str) -> None: ...
    def __call__(self, s1: Any, s2: Any, **options: Any) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

def fuzz_extract(
    name: str,
    query: Any,
    choices: Any,
    processor: Optional[Callable[[Any], Any]],
    cutoff: Optional[float],
    weights: Optional[Tuple[int, int, int]],
    prefix_weight: float,
    limit: int,
) -> List[Tuple[Any, Any, int]]: ...
class PreparedQuery:
    def __init__(
        self,
        name: str,
        query: Any,
        cutoff: Optional[float],
        weights: Optional[Tuple[int, int, int]],
        prefix_weight: float,
    ) -> None: ...
    def score(self, choice: Any) -> Any: ...

def fuzz_best(
    name: str,
    query: Any,
    choices: Any,
    has_keys: bool,
    processor: Optional[Callable[[Any], Any]],
    cutoff: Optional[float],
    weights: Optional[Tuple[int, int, int]],
    prefix_weight: float,
) -> Optional[Tuple[Any, Any, Any]]: ...
def fuzz_matrix(
    name: str,
    queries: Any,
    choices: Any,
    processor: Optional[Callable[[Any], Any]],
    pairwise: bool,
    cutoff: Optional[float],
    weights: Optional[Tuple[int, int, int]],
    prefix_weight: float,
    multiplier: float,
    threads: int,
    allocate: Callable[[int, int], Any],
) -> Any: ...
def partial_alignment(a: Any, b: Any, cutoff: float) -> Tuple[float, int, int, int, int]: ...
def edit_script(a: Any, b: Any, replaces: bool) -> Tuple[List[Tuple[str, int, int]], int, int]: ...
