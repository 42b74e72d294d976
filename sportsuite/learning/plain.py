"""Turns configs into plain types that YAML and ``torch.load(weights_only=True)`` can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from enum import Enum
from typing import Any

import torch
from isaaclab.utils.string import callable_to_string

__all__ = ["to_plain"]


def to_plain(value: Any) -> Any:
    """Convert a config to dicts, lists, strings, numbers, booleans and None.

    Classes and functions become ``"module:name"``, tuples and tensors become lists, fields that were never set are left
    out, anything else becomes its text.

    Args:
        value: A configclass instance, a mapping, or any value in one.
    """
    if isinstance(value, Enum):
        return to_plain(value.value)
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float, str):
        # a subclass, such as a numpy float or a lazily resolved string, would not be plain
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items() if not _is_unset(item)}
    if isinstance(value, (list, tuple, set)):
        return [to_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return to_plain({name: item for name, item in vars(value).items() if not name.startswith("_")})
    if callable(value):
        return _callable_text(value)
    return str(value)


def _is_unset(value: Any) -> bool:
    return isinstance(value, type(MISSING))


def _callable_text(value: Any) -> str:
    try:
        return callable_to_string(value)
    except (AttributeError, ValueError):
        return repr(value)
