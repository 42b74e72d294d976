"""Write a trained policy as an ONNX file, compared with the original.

  sportsuite export logs/rsl_rl/football_trap/2026-01-31_12-00-00/model_500.pt --output trap.onnx

The file has one input "obs", the observation groups one after another, and one output "actions"; its metadata tell
which.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sportsuite.cli import _output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("checkpoint", type=Path, help="checkpoint, whole or stripped")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.onnx", help="file to write")
    parser.add_argument(
        "--trust", action="append", default=[], metavar="PACKAGE", help="package whose networks the file may name"
    )
    _output.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Export and say what was written."""
    from sportsuite.export.onnx import export_onnx

    described = export_onnx(args.checkpoint, args.output, tuple(args.trust))
    if args.json:
        _output.print_json({"file": str(args.output), **described})
        return 0
    seen = " + ".join(f"{group['group']} ({group['size']})" for group in described["observations"])
    _output.write_line(f"{args.output}: {described['task']}, obs = {seen}, at {described['control_hz']:g} Hz")
    _output.write_line(f"largest difference from the original {described['difference']:.1e}")
    return 0
