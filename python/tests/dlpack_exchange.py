"""Stand-ins for arrays of other libraries: one that has DLPack alone, and one that has DLPack's exchange
API, as a type written in C has it."""

import ctypes


class DlpackAlone:
    """An array that has neither buffers nor NumPy's interface."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("manager", ctypes.c_void_p),
    ("deleter", Deleter),
    ("flags", ctypes.c_uint64),
    ("tensor", Tensor),
]
FromObject = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(Managed))
)
ViewOfObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))


class Api(ctypes.Structure):
    pass


Api._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("previous", ctypes.POINTER(Api)),
    ("allocate", ctypes.c_void_p),
    ("from_object", FromObject),
    ("to_object", ctypes.c_void_p),
    ("view_of_object", ViewOfObject),
    ("current_stream", ctypes.c_void_p),
]

taken = {}  # managed tensors that nobody has dropped yet, by address; they keep their arrays


@ViewOfObject
def view_of_object(exchanged, out):
    array = exchanged.array
    exchanged.views += 1
    exchanged.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    exchanged.strides = (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))
    code = {"f": 2, "b": 6}[array.dtype.kind]
    out[0] = Tensor(
        array.ctypes.data, 1, 0, array.ndim, code, array.itemsize * 8, 1,
        exchanged.shape, exchanged.strides, 0,
    )  # fmt: skip
    return 0


@Deleter
def drop(managed):
    del taken[ctypes.addressof(managed.contents)]


@FromObject
def from_object(exchanged, out):
    managed = Managed(1, 1, None, drop, 0 if exchanged.array.flags.writeable else 1)
    view_of_object(exchanged, ctypes.pointer(managed.tensor))
    taken[ctypes.addressof(managed)] = managed, exchanged
    out[0] = ctypes.pointer(managed)
    return 0


API = Api(1, 1, None, None, from_object, None, view_of_object, None)
CAPSULE = b"dlpack_exchange_api"  # lives as long as what it names
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Exchanged(DlpackAlone):
    """Gives DLPack's exchange API as PyTorch's tensors do. `views` counts its use."""

    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(API), CAPSULE, None)
    views = 0
