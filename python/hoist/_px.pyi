from typing import Any, List, Optional, Tuple

_Extents = Optional[Tuple[int, int, int]]
_Parameter = Tuple[str, str, str]
_Diagnostic = Tuple[bool, int, int, str, str, str]

def read_text(
    text: str, name: str
) -> Tuple[Optional[List[Tuple[str, List[_Parameter]]]], List[_Diagnostic], str]: ...

class Program:
    def __init__(self, name: str, text: str, target: str, check_bounds: bool) -> None: ...
    def launch(
        self,
        kernel: str,
        arguments: Tuple[Any, ...],
        blocks: _Extents,
        threads: _Extents,
    ) -> Optional[Tuple[str, int, int, str, int, int]]: ...
