"""Strict changes to an environment config: a misspelt path, field or parameter never passes silently.

Isaac Lab accepts unknown fields inside a term and unknown ``params`` keys without a word. :func:`apply_overrides`
refuses them when they are set by path, :func:`check_cfg` finds those that came in any other way (``isaaclab train
env.x=...``, plain code).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from sportsuite.errors import BadInputError, nearest

_MANAGER_ARGS = {"env", "env_ids", "self"}


def apply_overrides(cfg: Any, overrides: Iterable[str] | Mapping[str, Any]) -> None:
    """Set fields of a config by dotted path, in place.

    Args:
        cfg: A configclass instance.
        overrides: ``"path.to.field=value"`` strings (values in YAML, as OmegaConf reads them), or a mapping from path
            to value.

    Raises:
        BadInputError: If a path names no field (the nearest is given) or a value's type differs from the field's.
    """
    for path, value in _pairs(overrides):
        _set(cfg, path, value)


def _pairs(overrides: Iterable[str] | Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    if isinstance(overrides, Mapping):
        yield from overrides.items()
        return
    for text in overrides:
        path, equals, raw = text.partition("=")
        if not equals or not path:
            raise BadInputError(f"override {text!r}: expected 'path.to.field=value'")
        yield path.strip(), _parse(path, raw)


def _parse(path: str, raw: str) -> Any:
    try:
        value = OmegaConf.create(f"value: {raw}" if raw.strip() else "value: ''")
        return OmegaConf.to_container(value, resolve=False)["value"]  # type: ignore[index,call-overload]
    except (OmegaConfBaseException, ValueError, KeyError, TypeError) as error:
        raise BadInputError(f"override {path}={raw}: the value is not valid YAML") from error
    except Exception as error:  # yaml's own scanner and parser errors share no importable base with OmegaConf's
        if type(error).__module__.startswith("yaml"):
            raise BadInputError(f"override {path}={raw}: the value is not valid YAML") from error
        raise


def _set(cfg: Any, path: str, value: Any) -> None:
    *parents, leaf = path.removeprefix("env.").split(".")
    node, walked = cfg, ""
    for name in parents:
        node, walked = _child(node, name, walked, path), f"{walked}.{name}".lstrip(".")
    current = _child(node, leaf, walked, path)
    converted = _convert(path, value, current)
    if isinstance(node, dict):
        node[leaf] = converted
    elif isinstance(node, list):
        node[int(leaf)] = converted
    else:
        setattr(node, leaf, converted)


def _child(node: Any, name: str, walked: str, path: str) -> Any:
    names = _names(node)
    if name not in names:
        where = f"{walked!r}" if walked else "the config"
        near = nearest(name, names)
        hint = f"nearest: {', '.join(near)}" if near else f"it has: {', '.join(sorted(names)) or 'no fields'}"
        raise BadInputError(f"override {path!r}: {where} has no field {name!r}; {hint}")
    if isinstance(node, dict):
        return node[name]
    return node[int(name)] if isinstance(node, list) else getattr(node, name)


def _names(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [str(key) for key in node]
    if isinstance(node, list):
        return [str(index) for index in range(len(node))]
    if hasattr(node, "__dataclass_fields__"):
        # properties and methods are no fields; private ones are not offered
        return [name for name in node.__dataclass_fields__ if not name.startswith("_")]
    return []


def _convert(path: str, value: Any, current: Any) -> Any:
    """Fit a value to the type of the field's current value, or say what was expected."""
    if current is None or value is None:
        return value
    if isinstance(current, bool):
        return _expect(path, value, bool, "true or false")
    if isinstance(current, float):
        return float(_expect(path, value, (int, float), "a number"))
    if isinstance(current, int):
        return _expect(path, value, int, "a whole number")
    if isinstance(current, str):
        return _expect(path, value, str, "a text")
    if isinstance(current, (tuple, list)):
        items = _expect(path, value, (list, tuple), "a list such as [1, 2]")
        if isinstance(current, tuple) and len(items) != len(current):
            raise BadInputError(f"override {path}={value}: expected {len(current)} values such as {list(current)}")
        # an empty field says nothing about its items; a list may grow, its last item stands for the new ones
        likes = [current[min(i, len(current) - 1)] if current else None for i in range(len(items))]
        return type(current)(_convert(path, item, like) for item, like in zip(items, likes, strict=True))
    if isinstance(current, dict):
        return dict(_expect(path, value, dict, "a mapping such as {name: value}"))
    raise BadInputError(f"override {path}={value}: this is a {type(current).__name__} section; set one of its fields")


def _expect(path: str, value: Any, kinds: type | tuple[type, ...], wording: str) -> Any:
    # bool is an int in Python, and never what a number field means
    if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
        raise BadInputError(f"override {path}={value}: expected {wording}, got {type(value).__name__}")
    return value


def check_cfg(cfg: Any, path: str = "") -> None:
    """Refuse fields that a config's class does not declare and parameters that a term's function does not take.

    Args:
        cfg: A configclass instance, walked to its leaves.
        path: Where ``cfg`` stands, for messages.

    Raises:
        BadInputError: On the first stray field or parameter, with the nearest valid name.
    """
    if not hasattr(cfg, "__dataclass_fields__"):
        return
    fields = set(cfg.__dataclass_fields__)
    for name, value in vars(cfg).items():
        where = f"{path}.{name}".lstrip(".")
        # a scene or group gains terms by assignment: those are configs themselves
        if name not in fields and not name.startswith("_") and not hasattr(value, "__dataclass_fields__"):
            raise BadInputError(_stray("field", name, fields, path or type(cfg).__name__))
        if name == "params" and isinstance(value, dict):
            _check_params(getattr(cfg, "func", None), value, path)
        check_cfg(value, where)


def _check_params(func: Any, params: dict[str, Any], path: str) -> None:
    if not callable(func):
        return
    target = func.__call__ if inspect.isclass(func) else func
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return
    if any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        return
    known = set(signature.parameters) - _MANAGER_ARGS
    for name in params:
        if name not in known:
            raise BadInputError(_stray("parameter", name, known, path))


def _stray(kind: str, name: str, known: set[str], where: str) -> str:
    near = nearest(name, known)
    hint = f"nearest: {', '.join(near)}" if near else f"known: {', '.join(sorted(known)) or 'none'}"
    return f"{where!r} has no {kind} {name!r}; {hint}"
