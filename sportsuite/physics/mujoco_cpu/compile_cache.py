"""Keeps the compiled loop on disk, in the user's own cache folder.

Numba's default puts compiled code next to the source file, which an installed package may not allow, and gives up with
an error where it finds no place at all. Here the place is the user's cache folder, and having none only costs the
compile time again in every process.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Return the folder for compiled code: ``NUMBA_CACHE_DIR`` if set, else the platform's user cache folder."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "sportsuite" / "numba"


def _package_stamp() -> str:
    """Hash of this package's sources and of MuJoCo's version, whose struct offsets compiled code may hold."""
    digest = hashlib.sha256(version("mujoco").encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _make_cache(function: Any, folder: Path) -> Any:
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserWideCacheLocator

    class Locator(UserWideCacheLocator):
        """Places the files in ``folder``; numba checks that it can be written."""

        def __init__(self, py_func: object, py_file: str) -> None:
            super().__init__(py_func, py_file)
            self._cache_path = str(folder / self.get_suitable_cache_subpath(py_file))

        def get_source_stamp(self) -> str:
            """Every file that the compiled code may have come from counts, not only the function's own."""
            return _package_stamp() + str(super().get_source_stamp())

    class Implementation(CompileResultCacheImpl):
        """Numba's way of storing compiled functions, at our place."""

        _locator_classes = [Locator]

    class LoopCache(FunctionCache):
        """Numba's function cache, at our place."""

        _impl_class = Implementation

    return LoopCache(function)


def enable(*functions: Any) -> bool:
    """Make numba functions load from, and be stored in, the user's cache folder.

    Args:
        *functions: Functions made by ``numba.njit``; those that are compiled already are left alone.

    Returns:
        Whether they are cached. Where no folder can be written they are not, which is logged and costs a few seconds
        of compiling per process.
    """
    try:
        folder = cache_folder()
        for function in (f for f in functions if not f.signatures):
            function._cache = _make_cache(function.py_func, folder)
    except (RuntimeError, OSError, ImportError, AttributeError) as error:
        logger.info("compiled physics loop is not cached (%s); it is compiled anew in every process", error)
        return False
    return True


def compile_callback(function: Callable[..., object], signature: Any) -> Any:
    """Compile a C callback, from the user's cache folder if it is there.

    Args:
        function: Python function in what numba understands; values it encloses are constants of the compiled code.
        signature: Its numba signature.

    Returns:
        Numba's callback; its ``address`` is a C function pointer. It must be kept alive.
    """
    import numba
    from numba.core.ccallback import CFunc
    from numba.core.sigutils import normalize_signature

    callback = CFunc(function, normalize_signature(signature), locals={}, options={})
    try:
        callback._cache = _make_cache(function, cache_folder())
        callback.compile()
    except (RuntimeError, OSError, AttributeError) as error:
        logger.info("compiled collision function is not cached (%s)", error)
        return numba.cfunc(signature)(function)
    return callback
