"""A network of two layers as one program: what it was fused into, and its text in a file.

    python3 mlp.py [mlp.graph]      needs NumPy; writes that file, which must not exist
"""

import sys

import numpy as np

from hoist import graph


@graph.compile
def mlp(x, w1, b1, w2, b2):
    hidden = graph.gelu(x @ w1 + b1)
    return graph.softmax(hidden @ w2 + b2)


def main():
    rng = np.random.default_rng(0)
    shapes = ((32, 64), (64, 64), (64,), (64, 8), (8,))
    arrays = [rng.standard_normal(shape, dtype=np.float32) / 8 for shape in shapes]
    y = mlp(*arrays)
    print("rows sum to 1:", np.allclose(y.sum(axis=1), 1))
    print(mlp.report())

    # Later calls write into an array that there is.
    again = np.empty_like(y)
    mlp(*arrays, out=again)
    print("same:", np.array_equal(y, again))

    path = sys.argv[1] if len(sys.argv) > 1 else "mlp.graph"
    program = mlp.programs[-1]
    program.save(path)
    loaded = graph.load(path)
    print("loaded:", loaded.name, np.array_equal(loaded(*arrays), y))


if __name__ == "__main__":
    main()
