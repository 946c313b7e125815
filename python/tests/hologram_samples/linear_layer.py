def linear_layer_hologram(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Linear layer using hologram runtime"""

    exec_handle = hg.new_executor()

    # Convert inputs
    x_np = x.flatten().tolist()
    W_np = weight.flatten().tolist()

    x_handle = hg.executor_allocate_buffer(exec_handle, len(x_np))
    W_handle = hg.executor_allocate_buffer(exec_handle, len(W_np))

    hg.buffer_copy_from_slice(exec_handle, x_handle, json.dumps(x_np))
    hg.buffer_copy_from_slice(exec_handle, W_handle, json.dumps(W_np))

    # For actual GEMM, you'd need tensor operations or manual matrix multiply
    # This is a simplified example

    # Cleanup
    hg.buffer_cleanup(x_handle)
    hg.buffer_cleanup(W_handle)
    hg.executor_cleanup(exec_handle)

    # Manual numpy for now
    x_mat = x.numpy()
    W_mat = weight.numpy()
    y_mat = np.dot(W_mat, x_mat.T).T

    return torch.from_numpy(y_mat)
