"""Check this machine and installation, and say what to do about each problem.

Takes some seconds, most of them to load torch. Exit code 1 if something is broken, 0 if there are only warnings.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from sportsuite.cli import _checks, _output
from sportsuite.cli._checks import Check
from sportsuite.plugins.manager import inventory

_HEAVY = ("torch", "warp", "isaaclab")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _output.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Run all checks and print them."""
    checks = all_checks()
    counts = Counter(check.status for check in checks)
    if args.json:
        summary = {status: counts[status] for status in (_checks.OK, _checks.WARN, _checks.FAIL)}
        _output.print_json({"checks": [asdict(check) for check in checks], "summary": summary})
    else:
        rows = [(check.status, check.name, check.found, check.remedy or None) for check in checks]
        _output.print_rows(("", "WHAT", "FOUND", "WHAT TO DO"), rows)
        _output.write_line(f"{counts[_checks.FAIL]} broken, {counts[_checks.WARN]} warnings")
    return 1 if counts[_checks.FAIL] else 0


def all_checks() -> list[Check]:
    """Look at everything, cheapest first."""
    # asked before torch is loaded for the GPU check
    loaded_by_plugins = [name for name in _HEAVY if name in sys.modules]
    return [
        _checks.python_check(),
        *_checks.package_checks(),
        *_checks.extra_checks(),
        _checks.cpu_check(len(os.sched_getaffinity(0)), os.environ),
        _checks.memory_check(_available_memory_gib()),
        _checks.display_check(os.environ),
        _checks.ffmpeg_check(),
        _checks.warp_cache_check(os.environ),
        *_checks.asset_checks(),
        *_checks.plugin_checks(inventory(), loaded_by_plugins),
        *_checks.gpu_checks(*_cuda_devices(), os.environ),
    ]


def _available_memory_gib() -> float | None:
    """Memory that this process may still take [GiB]: the machine's or, where lower, its control group's."""
    amounts = [value for value in (_machine_memory(), _group_memory()) if value is not None]
    return min(amounts) / 2**30 if amounts else None


def _machine_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return None


def _group_memory() -> int | None:
    folder = Path("/sys/fs/cgroup")
    try:
        return int((folder / "memory.max").read_text()) - int((folder / "memory.current").read_text())
    except (OSError, ValueError):
        # no control groups of version 2, or no limit ("max")
        return None


def _cuda_devices() -> tuple[list[str] | None, str | None]:
    try:
        import torch
    except Exception as error:
        return None, f"torch can't be loaded: {type(error).__name__}: {error}"
    try:
        return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())], None
    except RuntimeError as error:
        return [], f"CUDA can't be used: {error}"
