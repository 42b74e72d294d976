"""Reading npz files of unknown origin: never unpickled, never more memory than the file may claim."""

from __future__ import annotations

import io
import math
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sportsuite.errors import BadInputError

__all__ = ["MAX_BYTES", "read_bytes", "read_npy", "read_npz", "write_npz"]

MAX_BYTES = 512 * 2**20
"""Largest motion file, and largest content of one, that is read (ours: an hour at 120 Hz of 53 joints is 0.4 GB)."""

_LONGEST = 120
"""Characters of another library's message that are passed on (ours)."""

_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)


def read_bytes(path: str | Path, what: str = "motion file", limit: int = MAX_BYTES) -> bytes:
    """Read a file whole.

    Args:
        path: The file.
        what: What it is, for the error's text.
        limit: Largest size that is read [bytes].

    Raises:
        BadInputError: If it is missing, is no regular file, can't be read or is larger than ``limit``.
    """
    path = Path(path)
    if not path.is_file():
        raise BadInputError(f"{what} {path}: {'expected a file, not a folder' if path.is_dir() else 'there is none'}")
    try:
        size = path.stat().st_size
        if size > limit:
            raise BadInputError(f"{what} {path}: it has {size:,} bytes, expected at most {limit:,}")
        return path.read_bytes()
    except OSError as error:
        raise BadInputError(f"{what} {path}: can't be read: {error.strerror or error}") from None


def read_npz(path: str | Path, what: str = "npz file", limit: int = MAX_BYTES) -> dict[str, np.ndarray]:
    """Read all arrays of an npz file.

    Args:
        path: The file.
        what: What it is, for the errors' text.
        limit: Most bytes that all arrays together may have, unpacked.

    Returns:
        Arrays by name. None holds Python objects.

    Raises:
        BadInputError: If the file is missing, cut off, damaged or too large, or holds pickled objects.
    """
    content = io.BytesIO(read_bytes(path, what, limit))
    try:
        with zipfile.ZipFile(content) as archive:
            members = archive.infolist()
            total = sum(member.file_size for member in members)
            if total > limit:
                raise BadInputError(f"{what} {path}: unpacked it has {total:,} bytes, expected at most {limit:,}")
            arrays = {}
            for member in members:
                with archive.open(member) as stream:
                    # a header may claim less than there is: read no more than it claims
                    arrays[member.filename.removesuffix(".npy")] = read_npy(stream.read(member.file_size))
            return arrays
    except BadInputError as error:
        text = str(error)
        raise BadInputError(text if text.startswith(what) else f"{what} {path}: {text}") from None
    except _ZIP_ERRORS as error:
        raise BadInputError(
            f"{what} {path}: expected an npz file; it is cut off or damaged ({_brief(error)})"
        ) from None


def read_npy(data: bytes) -> np.ndarray:
    """Read one array in numpy's npy format.

    Args:
        data: The npy file's bytes.

    Returns:
        A writable array.

    Raises:
        BadInputError: If the bytes aren't a whole npy file, or hold pickled objects.
    """
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = header(stream)
    except (ValueError, EOFError, SyntaxError, TypeError, OverflowError, MemoryError, RecursionError) as error:
        raise BadInputError(f"expected an array in npy format ({_brief(error)})") from None
    if dtype.hasobject:
        raise BadInputError("an array holds pickled Python objects, which could run code; expected numbers or text")
    rest = data[stream.tell() :]
    wanted = math.prod(shape) * dtype.itemsize
    if any(size < 0 for size in shape) or len(rest) != wanted:
        raise BadInputError(f"an array of shape {shape} should have {wanted:,} bytes, found {len(rest):,}")
    if not wanted:
        return np.zeros(shape, dtype)
    return np.frombuffer(rest, dtype).reshape(shape, order="F" if fortran else "C").copy()


def _brief(error: Exception) -> str:
    """The start of a library's message: some quote what they found, be it thousands of bytes."""
    text = " ".join(str(error).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def write_npz(path: str | Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a packed npz file in one step: its name never stands for half a file.

    Args:
        path: Where to; an existing file is replaced. Its folder is made if there is none.
        arrays: Arrays by name, none of Python objects.

    Raises:
        BadInputError: If nothing can be written there.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp", delete=False) as file:
            try:
                np.savez_compressed(file, allow_pickle=False, **arrays)
                file.flush()
                os.fsync(file.fileno())
                # temporary files are private by default; a clip is like any other file of the user
                umask = os.umask(0)
                os.umask(umask)
                os.chmod(file.name, 0o666 & ~umask)
                os.replace(file.name, path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise BadInputError(f"{path}: can't be written: {error.strerror or error}") from None
