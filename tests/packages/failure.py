"""What a part of the packages' test raises."""


class Failure(Exception):
    """What failed, and what was printed."""

    def __init__(self, what, output=""):
        super().__init__(what)
        self.output = output
