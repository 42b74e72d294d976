"""Where libmujoco keeps what the compiled loop reads: struct offsets and function addresses.

MuJoCo's Python package ships tables that describe its C structs (``mujoco.introspect``). The offsets come from those
tables, so they follow the installed release, and are checked once against a tiny model before anything relies on them.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np

_SCALARS: dict[str, type] = {
    "mjtNum": ctypes.c_double,
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "int": ctypes.c_int,
    "mjtSize": ctypes.c_int64,
    "mjtByte": ctypes.c_uint8,
    "mjtBool": ctypes.c_uint8,
    "size_t": ctypes.c_size_t,
    "uintptr_t": ctypes.c_size_t,
    "uint64_t": ctypes.c_uint64,
}

# A ball on a plane: one contact, so that every offset the loop uses holds a value that can be compared.
_PROBE_MODEL = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 0.09"><freejoint/><geom size="0.1" friction="0.7 0.02 0.003"/></body></worldbody></mujoco>"""


class StepFunctions(NamedTuple):
    """Addresses of libmujoco's functions; each takes a model and a data.

    Attributes:
        step: ``mj_step``.
        forward: ``mj_forward``.
        check_acc: ``mj_checkAcc``.
        rne_post: ``mj_rnePostConstraint``.
        integrate: ``mj_Euler`` or ``mj_implicit``.
    """

    step: int
    forward: int
    check_acc: int
    rne_post: int
    integrate: int


class DataOffsets(NamedTuple):
    """Byte offsets inside ``mjData``, and the size of one ``mjWarningStat``."""

    ncon: int
    contact: int
    ne: int
    nf: int
    nl: int
    nefc: int
    nisland: int
    efc_force: int
    solver_niter: int
    warning: int
    warning_number: int
    warning_size: int


class ContactOffsets(NamedTuple):
    """Byte offsets inside ``mjContact``, and its size."""

    dist: int
    pos: int
    frame: int
    includemargin: int
    friction: int
    solref: int
    solreffriction: int
    solimp: int
    dim: int
    geom: int
    efc_address: int
    size: int


def _ctype(node: Any) -> Any:
    """Return the ctypes type of one node of MuJoCo's introspection tables."""
    if hasattr(node, "extents"):
        ctype = _ctype(node.inner_type)
        for extent in reversed(node.extents):
            ctype = ctype * extent
        return ctype
    if hasattr(node, "inner_type"):
        return ctypes.c_void_p
    if hasattr(node, "fields"):
        return _structure("anonymous", node.fields)
    return _SCALARS[node.name] if node.name in _SCALARS else struct_type(node.name)


def _structure(name: str, nodes: Sequence[Any]) -> type[ctypes.Structure]:
    return type(name, (ctypes.Structure,), {"_fields_": [(node.name, _ctype(node.type)) for node in nodes]})


@functools.cache
def struct_type(name: str) -> type[ctypes.Structure]:
    """Build the ctypes mirror of one MuJoCo struct.

    Args:
        name: C name, for example ``"mjData"``.

    Returns:
        A ``ctypes.Structure`` whose fields carry the offsets of the installed release.

    Raises:
        RuntimeError: The release has no such struct, or one with a field of an unknown type.
    """
    from mujoco.introspect.structs import STRUCTS  # half a second to import, so only where it is needed

    try:
        return _structure(name, STRUCTS[name].fields)
    except (KeyError, AttributeError) as error:
        raise RuntimeError(f"MuJoCo {mujoco.__version__} has no struct {name!r} that can be read: {error}") from None


def offset(struct: type[ctypes.Structure], field: str) -> int:
    """Return the byte offset of a field.

    Args:
        struct: Mirror made by :func:`struct_type`.
        field: Name of the field.

    Raises:
        RuntimeError: The struct has no such field.
    """
    if not hasattr(struct, field):
        raise RuntimeError(f"MuJoCo {mujoco.__version__} has no {struct.__name__}.{field}; expected release 3.12")
    return getattr(struct, field).offset


@functools.cache
def data_offsets() -> DataOffsets:
    """Return the offsets inside ``mjData``, checked against a stepped model.

    Raises:
        RuntimeError: The struct tables and the library disagree.
    """
    data, stat = struct_type("mjData"), struct_type("mjWarningStat")
    plain = {name: offset(data, name) for name in DataOffsets._fields if hasattr(data, name)}
    offsets = DataOffsets(**plain, warning_number=offset(stat, "number"), warning_size=ctypes.sizeof(stat))
    _check(offsets, contact_offsets())
    return offsets


@functools.cache
def contact_offsets() -> ContactOffsets:
    """Return the offsets inside ``mjContact``."""
    contact = struct_type("mjContact")
    plain = {name: offset(contact, name) for name in ContactOffsets._fields if name != "size"}
    return ContactOffsets(**plain, size=ctypes.sizeof(contact))


def option_address(model: mujoco.MjModel, field: str) -> int:
    """Return the address of a scalar of ``model.opt``.

    ``gravity`` is the one vector whose address the Python binding shows; the scalar's follows from the offsets.

    Args:
        model: Compiled model.
        field: Name inside ``mjOption``, for example ``"impratio"``.
    """
    option = struct_type("mjOption")
    return model.opt.gravity.ctypes.data - offset(option, "gravity") + offset(option, field)


def meaninertia_address(model: mujoco.MjModel) -> int:
    """Return the address of ``model.stat.meaninertia``."""
    stat = struct_type("mjStatistic")
    return model.stat.center.ctypes.data - offset(stat, "center") + offset(stat, "meaninertia")


@functools.cache
def library() -> ctypes.CDLL:
    """Open the libmujoco that the ``mujoco`` package itself has loaded.

    Raises:
        RuntimeError: The package holds no such library.
    """
    folder = Path(mujoco.__file__).parent
    names = sorted(
        path for pattern in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll") for path in folder.glob(pattern)
    )
    if not names:
        raise RuntimeError(f"no libmujoco in {folder}; expected the library that the mujoco wheel ships")
    return ctypes.CDLL(str(names[0]))


def step_functions(integrator: int) -> StepFunctions:
    """Return the addresses of the functions the compiled loop calls.

    Args:
        integrator: ``mjtIntegrator`` of the model; not RK4.

    Raises:
        RuntimeError: The library lacks one of them.
    """
    integrate = "mj_Euler" if integrator == mujoco.mjtIntegrator.mjINT_EULER else "mj_implicit"
    names = ("mj_step", "mj_forward", "mj_checkAcc", "mj_rnePostConstraint", integrate)
    try:
        addresses = [ctypes.cast(getattr(library(), name), ctypes.c_void_p).value for name in names]
    except AttributeError as error:
        raise RuntimeError(f"MuJoCo {mujoco.__version__} does not export a needed function: {error}") from None
    return StepFunctions(*(int(address or 0) for address in addresses))


def _read(address: int, ctype: Any) -> Any:
    return ctype.from_address(address).value


def _check(data_at: DataOffsets, contact_at: ContactOffsets) -> None:
    """Compare every kind of offset with what the Python binding reports for a ball on a plane."""
    model = mujoco.MjModel.from_xml_string(_PROBE_MODEL)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    base = data._address
    first = int(_read(base + data_at.contact, ctypes.c_void_p) or 0)
    pairs = [
        (_read(base + data_at.ncon, ctypes.c_int), data.ncon),
        (_read(base + data_at.nefc, ctypes.c_int), data.nefc),
        (_read(base + data_at.nisland, ctypes.c_int), data.nisland),
        (_read(base + data_at.solver_niter, ctypes.c_int), int(data.solver_niter[0])),
        (_read(base + data_at.efc_force, ctypes.c_void_p), data.efc_force.ctypes.data),
        (_read(first + contact_at.dist, ctypes.c_double), float(data.contact.dist[0])),
        (_read(first + contact_at.friction + 8 * 2, ctypes.c_double), float(data.contact.friction[0, 2])),
        (_read(first + contact_at.dim, ctypes.c_int), int(data.contact.dim[0])),
        (_read(first + contact_at.geom + 4, ctypes.c_int), int(data.contact.geom[0, 1])),
        (_read(first + contact_at.efc_address, ctypes.c_int), int(data.contact.efc_address[0])),
        (_read(option_address(model, "impratio"), ctypes.c_double), float(model.opt.impratio)),
        (_read(meaninertia_address(model), ctypes.c_double), float(model.stat.meaninertia)),
        (contact_at.size, data.contact.dist.strides[0]),
    ]
    if any(read != expected for read, expected in pairs) or not np.isfinite(float(data.contact.dist[0])):
        raise RuntimeError(
            f"MuJoCo {mujoco.__version__} lays out mjData or mjContact otherwise than its own struct tables say;"
            " native stepping would read the wrong memory. Use the newton_mjwarp preset, or MuJoCo 3.12."
        )
