"""What ``sportsuite doctor`` looks at: each check is a function of facts, so that it can be tested on any machine."""

from __future__ import annotations

import ctypes.util
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from sportsuite.errors import SportSuiteError
from sportsuite.plugins.manager import Inventory
from sportsuite.plugins.terms import module_file

__all__ = [
    "FAIL",
    "OK",
    "WARN",
    "Check",
    "asset_checks",
    "cpu_check",
    "display_check",
    "extra_checks",
    "ffmpeg_check",
    "gpu_checks",
    "memory_check",
    "package_checks",
    "plugin_checks",
    "python_check",
    "warp_cache_check",
]

OK, WARN, FAIL = "ok", "warn", "fail"

_FEW_CORES = 4
"""Up to this many cores, OpenMP threads that spin beside the physics threads slow a run down tenfold (measured)."""

_LITTLE_MEMORY_GIB = 4.0
"""Below this, making an environment may fail (ours: torch, warp and a few worlds take about 2 GiB)."""

_NCCL_REMEDY = (
    "if distributed training dies with 'an illegal memory access' in ProcessGroupNCCL, set NCCL_SHM_DISABLE=1, "
    "NCCL_IB_DISABLE=1 and NCCL_ALGO=Ring; if it hangs, try NCCL_P2P_DISABLE=1; CUDA_DEVICE_ORDER=PCI_BUS_ID makes "
    "CUDA and the renderer count the GPUs alike"
)
_NCCL_VARIABLES = ("NCCL_SHM_DISABLE", "NCCL_IB_DISABLE", "NCCL_ALGO", "NCCL_P2P_DISABLE", "CUDA_DEVICE_ORDER")

_EXTRAS = {"viser": "viser", "rerun": "rerun", "video": "moviepy", "ovphysx": "ovphysx", "isaacsim": "isaacsim"}
"""Module that shows whether an optional extra is installed."""


@dataclass(frozen=True)
class Check:
    """One finding."""

    name: str
    status: str
    found: str
    remedy: str = ""


def python_check(version: tuple[int, int] = sys.version_info[:2]) -> Check:
    """Compare the interpreter with the one that Isaac Lab's wheels are built for."""
    found = f"{version[0]}.{version[1]} ({platform.system()} {platform.machine()})"
    good = version == (3, 12)
    return Check(
        "python", OK if good else FAIL, found, "" if good else "use Python 3.12; 'make setup' finds or fetches it"
    )


def package_checks(requirements: Iterable[str] | None = None) -> list[Check]:
    """Compare installed versions with the ones that this distribution asks for.

    Args:
        requirements: Requirement strings; those of the installed distribution if None.
    """
    if requirements is None:
        try:
            requirements = importlib.metadata.requires("sportsuite") or []
        except importlib.metadata.PackageNotFoundError:
            return [Check("sportsuite", FAIL, "not installed", "run 'make setup' or pip install it")]
    return [check for text in requirements if (check := _package_check(text)) is not None]


def _package_check(text: str) -> Check | None:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return Check(text, WARN, "requirement can't be read")
    if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
        return None
    wanted = f"{requirement.name}{requirement.specifier}"
    try:
        installed = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return Check(requirement.name, FAIL, "not installed", f"pip install '{wanted}'")
    if requirement.specifier.contains(installed, prereleases=True):
        return Check(requirement.name, OK, installed)
    return Check(requirement.name, FAIL, f"{installed}, wanted {requirement.specifier}", f"pip install '{wanted}'")


def extra_checks() -> list[Check]:
    """Say which optional parts are installed; none of them is needed."""
    return [
        Check(f"extra {extra}", OK, "installed")
        if importlib.util.find_spec(module) is not None
        else Check(f"extra {extra}", OK, "not installed (optional)", f"pip install 'sportsuite[{extra}]'")
        for extra, module in _EXTRAS.items()
    ]


def cpu_check(cores: int, environ: Mapping[str, str]) -> Check:
    """Look at the cores that this process may use and at the threads that libraries start."""
    threads = environ.get("OMP_NUM_THREADS")
    found = f"{cores} cores, OMP_NUM_THREADS={threads or 'unset'}"
    if threads is None and cores <= _FEW_CORES:
        return Check("cpu", WARN, found, "export OMP_NUM_THREADS=1: spinning threads slow the physics down")
    return Check("cpu", OK, found)


def memory_check(available_gib: float | None) -> Check:
    """Look at the memory that is free for this process [GiB]."""
    if available_gib is None:
        return Check("memory", WARN, "unknown")
    found = f"{available_gib:.1f} GiB available"
    if available_gib < _LITTLE_MEMORY_GIB:
        return Check(
            "memory", WARN, found, f"below {_LITTLE_MEMORY_GIB:.0f} GiB use few worlds (num_envs) or free some"
        )
    return Check("memory", OK, found)


def gpu_checks(gpus: list[str] | None, problem: str | None, environ: Mapping[str, str]) -> list[Check]:
    """Look at CUDA devices.

    Args:
        gpus: Names of the usable devices; None where torch could not be loaded.
        problem: What went wrong while asking, if anything.
        environ: The environment, for NCCL's variables.
    """
    if problem is not None:
        return [Check("gpu", FAIL if gpus is None else WARN, problem, "reinstall torch, or update the NVIDIA driver")]
    if not gpus:
        return [Check("gpu", OK, "none usable: everything runs on the CPU", "for a GPU, install an NVIDIA driver")]
    checks = [Check("gpu", OK, ", ".join(gpus))]
    if len(gpus) > 1:
        values = ", ".join(f"{name}={environ.get(name, 'unset')}" for name in _NCCL_VARIABLES)
        checks.append(Check("multi-gpu", WARN, f"{len(gpus)} GPUs; {values}", _NCCL_REMEDY))
    return checks


def warp_cache_check(environ: Mapping[str, str]) -> Check:
    """Look for compiled physics kernels: without them the first start takes about a minute longer."""
    version = _installed("warp-lang")
    folder = Path(environ.get("WARP_CACHE_PATH") or _cache_home(environ) / "warp" / version)
    parent = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(parent, os.W_OK):
        return Check("warp cache", FAIL, f"{folder} can't be written", "set WARP_CACHE_PATH to a folder that can")
    kernels = sum(1 for _ in folder.glob("wp_*")) if folder.is_dir() else 0
    return Check(
        "warp cache", OK, f"{kernels} kernels in {folder}", "" if kernels else "the first start takes a minute longer"
    )


def display_check(environ: Mapping[str, str], has_egl: bool | None = None) -> Check:
    """Look for a display, or for EGL, through which video and images are made without one."""
    display = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    if display:
        return Check("display", OK, display)
    if has_egl is None:
        has_egl = ctypes.util.find_library("EGL") is not None
    if has_egl:
        return Check("display", OK, "none; EGL renders off screen")
    remedy = "for video install libegl1 (Mesa or NVIDIA); the browser viewer works without"
    return Check("display", WARN, "none, and no EGL library", remedy)


def ffmpeg_check() -> Check:
    """Look for the program that encodes video."""
    found = shutil.which("ffmpeg")
    if found is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe

            found = get_ffmpeg_exe()
        except (ImportError, RuntimeError):
            return Check("ffmpeg", WARN, "not found", "pip install imageio-ffmpeg, or install ffmpeg, to write videos")
    return Check("ffmpeg", OK, found)


def asset_checks() -> list[Check]:
    """Compare the shipped files with their manifest."""
    from sportsuite.assets import assets_root, file_sha256, read_manifest

    try:
        root = assets_root()
        manifest = read_manifest(root)
    except SportSuiteError as error:
        return [Check("assets", FAIL, str(error), "reinstall sportsuite")]
    wrong = [
        name
        for name, record in manifest.items()
        if not (root / name).is_file() or file_sha256(root / name) != record.sha256
    ]
    if wrong:
        return [
            Check(
                "assets", FAIL, f"missing or changed: {', '.join(wrong[:3])}", "reinstall sportsuite, or 'make assets'"
            )
        ]
    return [Check("assets", OK, f"{len(manifest)} files as listed in {root}")]


def plugin_checks(found: Inventory, heavy_modules: Iterable[str] = ()) -> Iterator[Check]:
    """Look at every installed sport and at the modules its tasks name.

    Args:
        found: The sports.
        heavy_modules: Modules that declaring the sports has loaded though it should not, such as torch.
    """
    for failure in found.failures:
        name = failure.origin.name
        remedy = f"update or uninstall {failure.origin.distribution}, or set SPORTSUITE_DISABLE_PLUGINS={name}"
        yield Check(f"sport {name}", FAIL, failure.cause, remedy)
    for name, loaded in found.plugins.items():
        problems = list(dict.fromkeys(_missing_modules(found, name)))
        remedy = f"reinstall {loaded.origin.distribution}" if problems else ""
        state = "; ".join(problems) or f"{len(loaded.plugin.tasks)} tasks from {loaded.origin.distribution}"
        yield Check(f"sport {name}", FAIL if problems else OK, state, remedy)
    for module in heavy_modules:
        yield Check(
            "plugins", WARN, f"declaring the sports loads {module}", "a plugin should name modules, not import them"
        )


def _missing_modules(found: Inventory, sport: str) -> Iterator[str]:
    for task in found.tasks.values():
        if task.sport == sport:
            for reference in [
                task.spec.env_cfg,
                *task.spec.agent_cfgs.values(),
                task.spec.evaluation or task.spec.env_cfg,
            ]:
                try:
                    module_file(reference.partition(":")[0])
                except SportSuiteError as error:
                    yield str(error)


def _installed(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _cache_home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
