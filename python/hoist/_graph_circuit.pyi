from typing import List, Optional, Tuple

_Element = Tuple[int, int, Tuple[Tuple[str, str], Tuple[str, str]]]

class Circuit:
    def text(self) -> str: ...
    def canonical(
        self, gates: bool
    ) -> Tuple[str, Optional[_Element], int, int, List[str]]: ...
    def evaluate(self) -> Tuple[bytes, List[int], List[str]]: ...

def parse(
    text: str, grammar: str, name: str
) -> Tuple[Optional[Circuit], List[Tuple[int, int, str, str]], str]: ...
