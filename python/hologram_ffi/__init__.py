"""Tensor operations on handles: a drop-in for the module of that name, from Hoist.

    import hologram_ffi as hg

    executor = hg.new_executor()
    a = hg.executor_allocate_buffer(executor, 1000)
    numpy.asarray(hg.buffer_view(a))[:] = 1.0               # no copy, no JSON
    hg.vector_add_f32(executor, a, a, a, 1000)

Functions may be called from any thread; accesses to one buffer are the caller's to order. Long ones
release the interpreter's lock. They raise the classes of hologram_ffi.errors, and TypeError and
ValueError for arguments of a wrong type or range.
"""

from hologram_ffi._native import *  # noqa: F403
from hologram_ffi._native import ArrayView
from hologram_ffi.errors import (
    Exhausted,
    InternalError,
    InvalidHandle,
    InvalidJson,
    InvalidOperation,
)

__all__ = [
    "ArrayView",
    "Exhausted",
    "InternalError",
    "InvalidHandle",
    "InvalidJson",
    "InvalidOperation",
    "binary_cross_entropy_loss_f32",
    "buffer_as_mut_ptr",
    "buffer_as_ptr",
    "buffer_canonicalize_all",
    "buffer_class_index",
    "buffer_cleanup",
    "buffer_copy",
    "buffer_copy_from_bytes",
    "buffer_copy_from_canonical_slice",
    "buffer_copy_from_slice",
    "buffer_copy_to_slice",
    "buffer_element_size",
    "buffer_fill",
    "buffer_from_array",
    "buffer_is_boundary",
    "buffer_is_empty",
    "buffer_is_linear",
    "buffer_length",
    "buffer_pool",
    "buffer_size_bytes",
    "buffer_to_bytes",
    "buffer_to_vec",
    "buffer_verify_canonical",
    "buffer_view",
    "clear_all_registries",
    "cross_entropy_loss_f32",
    "executor_allocate_boundary_buffer",
    "executor_allocate_buffer",
    "executor_cleanup",
    "gelu_f32",
    "gemm_f32",
    "get_version",
    "matvec_f32",
    "mse_loss_f32",
    "new_executor",
    "new_executor_auto",
    "new_executor_with_backend",
    "reduce_max_f32",
    "reduce_min_f32",
    "reduce_sum_f32",
    "scalar_add_f32",
    "scalar_mul_f32",
    "sigmoid_f32",
    "softmax_f32",
    "tanh_f32",
    "tensor_broadcast_shapes",
    "tensor_buffer",
    "tensor_cleanup",
    "tensor_contiguous",
    "tensor_from_buffer",
    "tensor_from_buffer_with_strides",
    "tensor_is_broadcast_compatible_with",
    "tensor_is_contiguous",
    "tensor_matmul",
    "tensor_narrow",
    "tensor_ndim",
    "tensor_numel",
    "tensor_offset",
    "tensor_permute",
    "tensor_reshape",
    "tensor_select",
    "tensor_shape",
    "tensor_slice",
    "tensor_strides",
    "tensor_transpose",
    "tensor_view",
    "tensor_view_1d",
    "vector_abs_f32",
    "vector_add_f32",
    "vector_clip_f32",
    "vector_div_f32",
    "vector_max_f32",
    "vector_min_f32",
    "vector_mul_f32",
    "vector_neg_f32",
    "vector_relu_f32",
    "vector_sub_f32",
]
