"""A step of an LSTM as one program, run over a sequence, and compared with NumPy.

    python3 lstm.py      needs NumPy
"""

import numpy as np

from hoist import graph

INPUT, HIDDEN, BATCH, STEPS = 32, 64, 4, 50


@graph.compile
def step(x, h, c, w, u, b):
    """The gates are input, forget, cell and output, side by side in w, u and b."""
    gates = x @ w + h @ u + b
    i, f, g, o = (gates[:, k * HIDDEN : (k + 1) * HIDDEN] for k in range(4))
    c = graph.sigmoid(f) * c + graph.sigmoid(i) * graph.tanh(g)
    return graph.sigmoid(o) * graph.tanh(c), c


def numpy_step(x, h, c, w, u, b):
    gates = x @ w + h @ u + b
    i, f, g, o = np.split(gates, 4, axis=1)

    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def main():
    rng = np.random.default_rng(1)

    def normal(*shape):
        return rng.standard_normal(shape, dtype=np.float32) / 8

    sequence = normal(STEPS, BATCH, INPUT)
    weights = normal(INPUT, 4 * HIDDEN), normal(HIDDEN, 4 * HIDDEN), normal(4 * HIDDEN)
    h = c = np.zeros((BATCH, HIDDEN), np.float32)
    expected_h, expected_c = h, c
    for x in sequence:
        h, c = step(x, h, c, *weights)
        expected_h, expected_c = numpy_step(x, expected_h, expected_c, *weights)
    print("as NumPy:", np.allclose(h, expected_h, atol=1e-5))
    report = step.report()
    print(f"{report.nodes_traced} operations, {len(report.kernels)} kernels a step")


if __name__ == "__main__":
    main()
