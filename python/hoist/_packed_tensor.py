"""Matrices of PyTorch that stay packed: a subclass of torch.Tensor that linear layers and embeddings
take as it is."""

import importlib
from typing import Any, Dict, List, Optional, Tuple

from hoist import _packed, _packed_direct, _packed_ops
from hoist._packed_calls import embedding, linear
from hoist._packed_fallback import constant, unpacked_call
from hoist.errors import Corrupt, InvalidArgument, Unsupported

torch: Any = importlib.import_module("torch")
functional: Any = importlib.import_module("torch.nn.functional")
_FakeTensor: Any = importlib.import_module("torch._subclasses.fake_tensor").FakeTensor

_NO_TRAINING = (
    "packed weights cannot be trained: set requires_grad to False (model.requires_grad_(False) "
    "before load_state_dict(..., assign=True))"
)
_Form = Tuple[int, int, int, Optional[str]]


def check_exact_like(exact_like: Optional[str]) -> None:
    if exact_like not in (None, "cublas"):
        raise InvalidArgument(f'exact_like of {exact_like!r}: None or "cublas"')


class PackedTensor(torch.Tensor):  # type: ignore[misc]
    """A bfloat16 matrix, shape (rows, columns), that is packed in memory and bit for bit what it was
    made of.

    `torch.nn.functional.linear` and `embedding` use it as it is, and so do `torch.nn.Linear` and
    `Embedding`. Every other function gets it unpacked, with a RuntimeWarning the first time.
    It is constant: what would change it, or train it, raises. `copy_` alone packs other weights of
    the same shape in its place.

    `exact_like="cublas"`: `linear` unpacks it and multiplies as with plain weights, so that the bits
    are those of plain weights.
    """

    @staticmethod
    def __new__(
        cls: Any,
        packed: Any,
        rows: int,
        columns: int,
        escapes: int,
        exact_like: Optional[str] = None,
    ) -> Any:
        return torch.Tensor._make_wrapper_subclass(
            cls, (rows, columns), dtype=torch.bfloat16, device=packed.device, requires_grad=False
        )

    def __init__(
        self,
        packed: Any,
        rows: int,
        columns: int,
        escapes: int,
        exact_like: Optional[str] = None,
    ):
        self._packed = packed
        self._escapes = escapes
        self._exact_like = exact_like
        self._matrix: Optional[_packed_direct.Matrix] = None

    @classmethod
    def pack(cls, weights: Any, exact_like: Optional[str] = None) -> "PackedTensor":
        """Packs a bfloat16 matrix, on its device, whether it gains or not."""
        check_exact_like(exact_like)
        made, why = packed_or_reason(weights, exact_like, only_if_worth=False)
        if made is None:
            raise InvalidArgument(f"cannot pack: {why}")
        return made

    def unpack(self) -> Any:
        """The plain weights, in memory of their own."""
        matrix = self.direct()
        plain = None if matrix is None else matrix.unpack()
        if plain is not None:
            return plain
        return torch.ops.hoist.unpack(self._packed, *self.form())

    def direct(self) -> Optional[_packed_direct.Matrix]:
        """For calls that go past PyTorch's dispatcher; None where something looks at operators."""
        if not _packed_direct.is_possible():
            return None
        matrix, packed = self._matrix, self._packed
        # Another thread may have replaced the weights since: a matrix of others is made anew.
        if matrix is None or not matrix.is_of(packed):
            matrix = self._matrix = _packed_direct.matrix_of(packed, *self.form())
        return matrix

    def form(self) -> Tuple[int, int, int]:
        """What the operators of `hoist._packed_ops` want besides the bytes."""
        rows, columns = self.shape
        return rows, columns, self._escapes

    @property
    def packed_memory(self) -> Any:
        """Shape (packed_bytes,) uint8."""
        return self._packed

    @property
    def packed_bytes(self) -> int:
        return int(self._packed.numel())

    @property
    def exact_like(self) -> Optional[str]:
        return self._exact_like

    def replace(self, weights: Any) -> None:
        """Packs other weights of the same shape in place of these."""
        made = PackedTensor.pack(weights.to(device=self.device, dtype=torch.bfloat16))
        self._packed, self._escapes = made._packed, made._escapes
        self._matrix = None

    def like_this(self, packed: Any = None, **other: Any) -> "PackedTensor":
        """The same weights, in these bytes or in the same, in the same mode or another."""
        mode = other.get("exact_like", self._exact_like)
        packed = self._packed if packed is None else packed
        rows, columns = self.shape
        return PackedTensor(packed, rows, columns, self._escapes, mode)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return (
            f"PackedTensor(shape={tuple(self.shape)}, device={str(self.device)!r}, "
            f"packed_bytes={self.packed_bytes})"
        )

    def __deepcopy__(self, memo: Dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = _as(self, self.like_this(self._packed.clone()))
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        if isinstance(self._packed, _FakeTensor):  # of a compiler, which looks for what it has seen
            return super().__reduce_ex__(protocol)
        # Files hold plain weights: the packed form is one of memory.
        plain = self.unpack()
        return _from_plain, (plain, _sum(plain), self._exact_like, _is_parameter(self))

    def __tensor_flatten__(self) -> Tuple[List[str], _Form]:
        rows, columns = self.shape
        return ["_packed"], (rows, columns, self._escapes, self._exact_like)

    @staticmethod
    def __tensor_unflatten__(
        inner: Dict[str, Any], form: _Form, size: Any, stride: Any
    ) -> "PackedTensor":
        return PackedTensor(inner["_packed"], *form)

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is functional.linear:
            return _linear(*args, **kwargs)
        if func is functional.embedding:
            return embedding(*args, **kwargs)
        if func in _CHANGING:
            _check_change(func, *args, **kwargs)
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None
    ) -> Any:
        kwargs = kwargs or {}
        own = _OWN.get(func)
        answer = NotImplemented if own is None else own(*args, **kwargs)
        return unpacked_call(PackedTensor, func, args, kwargs) if answer is NotImplemented else answer


def packed_or_reason(
    weights: Any, exact_like: Optional[str] = None, *, only_if_worth: bool = True
) -> Tuple[Optional[PackedTensor], str]:
    """The matrix packed, or None and why it had better stay plain."""
    if isinstance(weights, PackedTensor):
        return weights, ""
    if weights.layout != torch.strided or weights.dim() != 2:
        return None, "not a dense matrix"
    if weights.dtype != torch.bfloat16:
        return None, f"of {weights.dtype}: only bfloat16 is packed"
    if weights.device.type not in ("cpu", "cuda"):
        return None, f"on {weights.device.type}: only memory of the CPU or a CUDA GPU is packed"
    plain = weights.detach().contiguous()
    stream = _packed_ops.stream_of(plain)
    plan = _packed.Plan(plain, stream)
    if only_if_worth and plan.reason is not None:
        return None, plan.reason
    memory = torch.empty(plan.bytes, dtype=torch.uint8, device=plain.device)
    plan.pack(plain, memory, stream)
    return PackedTensor(memory, plan.rows, plan.columns, plan.escapes, exact_like), ""


def parameter_of(packed: PackedTensor) -> Any:
    return torch.nn.Parameter(packed, requires_grad=False)


def _is_parameter(tensor: Any) -> bool:
    return isinstance(tensor, torch.nn.Parameter)


def _as(model: Any, packed: PackedTensor) -> Any:
    return parameter_of(packed) if _is_parameter(model) else packed


def _sum(plain: Any) -> int:
    return int(plain.view(torch.int16).sum(dtype=torch.int64)) if plain.numel() else 0


def _from_plain(plain: Any, total: int, exact_like: Optional[str], is_parameter: bool) -> Any:
    if _sum(plain) != total:  # torch.save's older format fills tensors only after they are made
        raise Corrupt("packed weights in a file of torch.save's older format, or a damaged one")
    packed = PackedTensor.pack(plain, exact_like)
    return parameter_of(packed) if is_parameter else packed


def _linear(input: Any, weight: Any, bias: Any = None) -> Any:
    if not isinstance(weight, PackedTensor) or isinstance(input, PackedTensor):
        return unpacked_call(PackedTensor, functional.linear, (input, weight, bias), {})
    return linear(input, weight, bias)


_set_requires_grad: Any = torch.Tensor.requires_grad.__set__
_set_data: Any = torch.Tensor.data.__set__
_CHANGING = (
    torch.Tensor.requires_grad_,
    _set_requires_grad,
    _set_data,
    torch.Tensor.__setitem__,
)


def _check_change(func: Any, tensor: Any, *args: Any, **kwargs: Any) -> None:
    if not isinstance(tensor, PackedTensor):
        return
    if func == _set_data:
        raise Unsupported(
            "packed weights stay bfloat16, and packed: a module that has them has no other type"
        )
    if func == torch.Tensor.__setitem__:
        raise Unsupported(constant("__setitem__"))
    if args[0] if args else kwargs.get("requires_grad", True):
        raise Unsupported(_NO_TRAINING)


def _copied_onto(
    tensor: PackedTensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Optional[bool] = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Any:
    """`to`, where it changes no more than the device."""
    is_same = layout in (None, torch.strided) and dtype in (None, torch.bfloat16)
    if not is_same or pin_memory:
        return NotImplemented
    device = tensor.device if device is None else device
    moved = tensor._packed.to(device, non_blocking=non_blocking, copy=True)
    return tensor.like_this(moved)


def _copied_into(to: Any, source: Any, non_blocking: bool = False) -> Any:
    if isinstance(to, PackedTensor):
        if to.shape != source.shape:
            raise InvalidArgument(
                f"weights of shape {tuple(source.shape)} in place of packed ones of {tuple(to.shape)}"
            )
        to.replace(source.unpack() if isinstance(source, PackedTensor) else source)
        return to
    return to.copy_(source.unpack(), non_blocking)


def _same(tensor: PackedTensor) -> PackedTensor:
    return tensor.like_this()


_aten = torch.ops.aten
# What packed tensors do themselves, of what reaches them below autograd.
_OWN: Dict[Any, Any] = {
    _aten.detach.default: _same,
    _aten.alias.default: _same,
    _aten.clone.default: lambda tensor, memory_format=None: tensor.like_this(tensor._packed.clone()),
    _aten._to_copy.default: _copied_onto,
    _aten.copy_.default: _copied_into,
    _aten.linear.default: _linear,
    _aten.embedding.default: lambda weight, indices, *rest: embedding(indices, weight),
}
torch.serialization.add_safe_globals([_from_plain])
