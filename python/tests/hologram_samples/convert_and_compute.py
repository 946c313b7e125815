import torch
import hologram_ffi as hg
import json

# Create PyTorch tensors
x_torch = torch.randn(1000)

# Convert to Hologram buffers
exec_handle = hg.new_executor()
x_handle = hg.executor_allocate_buffer(exec_handle, len(x_torch))
hg.buffer_copy_from_slice(exec_handle, x_handle, json.dumps(x_torch.tolist()))

# Apply ReLU
y_handle = hg.executor_allocate_buffer(exec_handle, len(x_torch))
hg.vector_relu_f32(exec_handle, x_handle, y_handle, len(x_torch))

# Convert back to PyTorch
result_json = hg.buffer_to_vec(exec_handle, y_handle)
y_torch = torch.tensor(json.loads(result_json))

# Verify with PyTorch
y_torch_expected = torch.relu(x_torch)
print(f"Match: {torch.allclose(y_torch, y_torch_expected)}")
