"""Tensor operations on handles: y = relu(x w), and its sum, by the drop-in hologram_ffi.

    python3 hologram_buffers.py      needs NumPy
"""

import hologram_ffi as hg
import numpy as np

ROWS, INNER, COLUMNS = 2, 3, 2


def buffer_of(executor, values):
    handle = hg.executor_allocate_buffer(executor, values.size)
    np.asarray(hg.buffer_view(handle))[:] = values.ravel()  # no copy, no JSON
    return handle


def main():
    executor = hg.new_executor()
    x = buffer_of(executor, np.array([[1, 2, 3], [-4, -5, -6]], np.float32))
    w = buffer_of(executor, np.array([[1, 0], [0, 1], [1, 1]], np.float32))
    y = hg.executor_allocate_buffer(executor, ROWS * COLUMNS)
    hg.gemm_f32(executor, x, w, y, ROWS, COLUMNS, INNER)
    hg.vector_relu_f32(executor, y, y, ROWS * COLUMNS)
    print(np.asarray(hg.buffer_view(y)).reshape(ROWS, COLUMNS).tolist())
    total = hg.executor_allocate_buffer(executor, 3)  # reductions take scratch memory
    print("sum:", hg.reduce_sum_f32(executor, y, total, ROWS * COLUMNS))
    for handle in (x, w, y, total):
        hg.buffer_cleanup(handle)
    hg.executor_cleanup(executor)


if __name__ == "__main__":
    main()
