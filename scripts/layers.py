"""The layers of src/: which area stands on which. Includes and links point downwards only."""

# (name, areas, what they are), from the top. An area is a folder of src/, and of src/ops each folder.
LAYERS = (
    ("fronts", ("cli", "capi", "cxx", "python", "intercept", "daemon"), "how a user reaches it"),
    ("service", ("service",), "engines over HTTP"),
    ("engines", ("match", "graph", "tensors", "records"), "what it exists for"),
    ("operations", ("ops/*",), "one folder an operation"),
    ("kernel language", ("px",), "source to IR to C++, CUDA or interpreter"),
    ("kernel IR", ("ir",), "typed, hash-consed, printed canonically"),
    ("codecs", ("codec", "placement", "container", "arrow"),
     "coders, measured decisions, block files, Arrow"),
    ("devices", ("device",), "CPU, CUDA, hoistd: buffers, streams, transfers, kernels"),
    ("net", ("net",), "event loop, listening, HTTP"),
    ("forms", ("array", "takeover"), "element types and views; the take-over protocol"),
    ("base", ("base",), "results, files, threads, options, counters"),
)
# What an area does, in a newcomer's words; for the picture.
WORDS = {
    "cli": "command hoist", "capi": "libhoist, for C", "cxx": "the API of C++",
    "service": "sessions over HTTP", "python": "module hoist", "intercept": "hoist run", "daemon": "hoistd: a GPU",
    "px": "kernels in a small language", "match": "similarity search", "graph": "tensor operations",
    "tensors": "model weights, packed", "records": "text as columns",
    "ir": "typed kernels: checked, interpreted",
    "codec": "entropy, bit packing, parity", "placement": "chooses what runs where",
    "container": "files of checked blocks", "arrow": "Arrow's IPC format", "device": "CPU, CUDA, hoistd: memory, transfers, kernels",
    "net": "event loop, listening, HTTP", "array": "element types and views",
    "takeover": "what preload and engines agree on", "base": "results, files, threads, options, counters",
}
HEIGHTS = {area: len(LAYERS) - 1 - i for i, (_, areas, _) in enumerate(LAYERS) for area in areas}
# Files that lie in src/ops itself are what all operations share, so they rank just below them.
HEIGHTS["ops"] = HEIGHTS["ops/*"] - 0.5


def area_of(path, src):
    """The area that a path under src lies in: "base", "ops/sort"; None for src itself."""
    parts = path.relative_to(src).parts[:-1]
    if not parts:
        return None
    if parts[0] == "ops" and len(parts) > 1:
        return f"ops/{parts[1]}"
    return parts[0]


def layer_of(area):
    """The height of an area's layer; None for an unknown area."""
    return HEIGHTS.get("ops/*" if area.startswith("ops/") else area)
