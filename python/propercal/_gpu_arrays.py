"""Arrays on a GPU: their address, type, shape and stream, for python/core/core_source.c.  Arrays stay where
they are; only 16-bit numbers and tensors with gaps are copied, on the GPU.
"""

import functools
import importlib
import math
from typing import Any

from ._conversions import package_of
from ._errors import DataError

_GPU_TYPES = {"float16": "f4", "bfloat16": "f4", "float32": "f4", "float64": "f8", "bool": "b1",
              "uint8": "u1", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8"}  # fmt: skip


_DLPACK_CUDA = (2, 13)  # kDLCUDA and kDLCUDAManaged


def _gpu_part(name: str, address: int, kind: str, shape: tuple, stream: int, owner: Any) -> tuple:
    if len(shape) not in (1, 2) or 0 in shape:
        raise DataError(f"{name} has the shape {tuple(shape)}; give rows, and columns, at least one of each")
    columns = shape[1] if len(shape) == 2 else 0
    return ("gpu", address, kind, shape[0], columns, stream, owner)


@functools.cache
def _raw_stream_of() -> Any:
    """The function by which PyTorch's own compilers ask for the current stream of a GPU, by number and
    without an object; None if this PyTorch has none."""
    import torch

    return getattr(torch._C, "_cuda_getCurrentRawStream", None)


def _torch_stream(tensor: Any) -> int:
    """The current stream of a tensor's GPU."""
    raw = _raw_stream_of()
    if raw is None:
        import torch

        return torch.cuda.current_stream(tensor.device).cuda_stream
    return raw(tensor.get_device())


@functools.cache
def _torch_kind(dtype: Any) -> "tuple[str | None, bool]":
    """The kind of a type of PyTorch, None if it has none, and whether it is converted to float32."""
    word = str(dtype).removeprefix("torch.")
    return _GPU_TYPES.get(word), word in ("float16", "bfloat16")


def torch_on_gpu(name: str, tensor: Any) -> tuple:
    kind, half = _torch_kind(tensor.dtype)
    if kind is None:
        raise DataError(f"{name} has elements of type {str(tensor.dtype).removeprefix('torch.')}; give numbers")
    if half:
        tensor = tensor.detach().float()
    if not tensor.is_contiguous():
        tensor = tensor.contiguous()
    return _gpu_part(name, tensor.data_ptr(), kind, tensor.shape, _torch_stream(tensor), tensor)


def _apply_on_gpu(fitted: Any, described: tuple, empty_like: Any, address_of: Any) -> Any:
    """The calibrated probabilities in new memory of the same GPU; None if the fit needs the CPU."""
    _, address, kind, rows, columns, stream, owner = described
    if kind not in ("f4", "f8") or columns < 2:
        return None
    out = empty_like(owner)
    return out if fitted.apply_on_gpu(address, kind, rows, columns, stream, address_of(out)) else None


def calibrated_on_gpu(fitted: Any, given: "dict[str, Any]") -> Any:
    """The calibrated probabilities of a tensor of PyTorch or an array of CuPy with logits, computed on its
    GPU; None for other inputs."""
    scores = given.get("logits")
    if set(given) != {"logits"} or getattr(scores, "ndim", 0) != 2:
        return None
    if getattr(scores, "is_cuda", False):
        import torch

        described = torch_on_gpu("logits", scores.detach())
        return _apply_on_gpu(fitted, described, torch.empty_like, lambda out: out.data_ptr())
    if package_of(scores) == "cupy":
        import cupy

        with scores.device:
            described = from_cuda_interface("logits", scores)
            return _apply_on_gpu(fitted, described, cupy.empty_like, lambda out: out.data.ptr)
    return None


def dlpack_on_gpu(value: Any) -> bool:
    """True for an array on a GPU of NVIDIA that has no CUDA array interface, such as JAX's bfloat16."""
    try:
        return value.__dlpack_device__()[0] in _DLPACK_CUDA
    except Exception:  # no DLPack, or an array on several devices
        return False


def from_dlpack(name: str, value: Any) -> tuple:
    """Such an array, where it is, through PyTorch or CuPy, which order its work before ours."""
    for package, describe in (("torch", torch_on_gpu), ("cupy", from_cuda_interface)):
        try:
            module = importlib.import_module(package)
        except ImportError:
            continue
        return describe(name, module.from_dlpack(value))
    raise DataError(f"{name} is on a GPU; install PyTorch or CuPy to read it there, or pass a copy in memory")


def from_cuda_interface(name: str, value: Any) -> tuple:
    """An array of CuPy, JAX, Numba ... on a GPU."""
    given = value.__cuda_array_interface__
    if given["typestr"][1:] == "f2" and hasattr(value, "astype"):
        return from_cuda_interface(name, value.astype("float32"))
    if given.get("mask") is not None:
        raise DataError(f"{name} on the GPU has a mask; fill the masked elements first")
    if "stream" not in given and hasattr(value, "block_until_ready"):
        value.block_until_ready()  # JAX names no stream, so that nothing would order its work before ours
    kind, shape, strides = given["typestr"], tuple(given["shape"]), given.get("strides")
    size = int(kind[2:])
    steps = [size * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    if strides is not None and any(n > 1 and a != b for n, a, b in zip(shape, strides, steps)):
        raise DataError(f"{name} on the GPU is not contiguous; pass a contiguous copy")
    if kind[0] == ">" or kind[1] not in "fiub" or size > 8:
        raise DataError(f"{name} has elements of type {kind}; give numbers")
    return _gpu_part(name, given["data"][0], kind[1:], shape, given.get("stream") or 0, value)
