"""Memory and function pointers for compiled code, from addresses that are known only at run time.

A pointer that were a constant of the compiled code would forbid keeping that code on disk.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

_njit: Any = numba.njit
# For functions that only compiled code calls: the way in from Python, which would take most of the time to compile, is
# left out.
compiled: Any = _njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)

# For the type checker: what the decorator returns is called with other arguments than the function it decorates.
_intrinsic: Any = intrinsic


@_intrinsic
def pointer(typingctx: Any, address: Any) -> Any:
    """``pointer(address)``: an integer address as the untyped pointer that ``numba.carray`` takes."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), codegen


@_intrinsic
def call(typingctx: Any, function: Any, model: Any, data: Any) -> Any:
    """``call(function, model, data)``: call ``void f(const mjModel*, mjData*)`` at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        void_p = ir.IntType(8).as_pointer()
        target = builder.inttoptr(args[0], ir.FunctionType(ir.VoidType(), [void_p, void_p]).as_pointer())
        builder.call(target, [builder.inttoptr(args[1], void_p), builder.inttoptr(args[2], void_p)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@_intrinsic
def take(typingctx: Any, address: Any, amount: Any) -> Any:
    """``take(address, amount)``: atomically add to the int64 at an address; gives what it held before."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", place, args[1], "seq_cst")

    return types.int64(types.int64, types.int64), codegen


@compiled
def int_at(address: int) -> int:
    """Read the C int at an address."""
    return carray(pointer(address), 1, np.int32)[0]


@compiled
def address_at(address: int) -> int:
    """Read the pointer (or 64-bit integer) at an address."""
    return carray(pointer(address), 1, np.int64)[0]


@compiled
def put_int(address: int, value: int) -> None:
    """Write a C int."""
    carray(pointer(address), 1, np.int32)[0] = value
