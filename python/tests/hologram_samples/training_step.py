def train_step_with_hologram(model, inputs, targets, optimizer):
    """Training step using hologram for forward pass"""

    # Convert to hologram buffers
    exec_handle = hg.new_executor()

    # Flatten model inputs
    inputs_flat = inputs.flatten().tolist()
    inputs_handle = hg.executor_allocate_buffer(exec_handle, len(inputs_flat))
    hg.buffer_copy_from_slice(exec_handle, inputs_handle, json.dumps(inputs_flat))

    # Forward pass using hologram operations
    # (Apply linear transformations, activations, etc.)
    hidden_handle = hg.executor_allocate_buffer(exec_handle, 128)
    output_handle = hg.executor_allocate_buffer(exec_handle, 10)

    # For demonstration - actual implementation would use GEMM
    # hg.gemm_f32(...) for matrix multiplications

    # Compute loss
    loss_handle = hg.executor_allocate_buffer(exec_handle, 3)
    targets_flat = targets.flatten().tolist()
    targets_handle = hg.executor_allocate_buffer(exec_handle, len(targets_flat))
    hg.buffer_copy_from_slice(exec_handle, targets_handle, json.dumps(targets_flat))

    loss = hg.mse_loss_f32(exec_handle, output_handle, targets_handle, loss_handle, len(targets_flat))

    # Cleanup
    hg.buffer_cleanup(inputs_handle)
    hg.buffer_cleanup(hidden_handle)
    hg.buffer_cleanup(output_handle)
    hg.buffer_cleanup(targets_handle)
    hg.buffer_cleanup(loss_handle)
    hg.executor_cleanup(exec_handle)

    return loss
