"""The controls of a task in the browser viewer: keys, buttons on the screen, sliders, and what the task is doing.

The viewer's own hotkeys know presses only. So that a key can be held, a small script (``keys.js``) writes the names of
all held keys into a text field of the panel, which the viewer sends like any other; it rides on the panel's HTML.
"""

from __future__ import annotations

import html
import json
import math
import threading
from collections import deque
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from sportsuite.viewer.controls import (
    Control,
    Steerable,
    check_controls,
    direction_of,
    held_keys,
    pressed,
    steerable_term,
    turned,
)

__all__ = ["KEYS_LABEL", "ControlPanel", "panel_html", "panel_of"]

KEYS_LABEL = "Keys held"
"""Label of the text field that the script fills."""

_STYLE = """
.pad {display: grid; grid-template-columns: repeat(3, 2.6em); gap: 0.25em; margin: 0.4em 0.75em; user-select: none}
.row {display: flex; flex-wrap: wrap; gap: 0.25em; margin: 0.4em 0.75em 0.8em; user-select: none}
.pad span, .row span {border: 1px solid #8888; border-radius: 0.3em; padding: 0.3em 0.6em; text-align: center;
  cursor: pointer; touch-action: none}
[data-held] {background: #4a90d9; color: white}
kbd {font-size: 0.75em; opacity: 0.7}
"""


class ControlPanel:
    """Shows a term's controls and hands over what the person does; call :meth:`update` before every step.

    Args:
        server: The viser server.
        term: What is steered.

    Raises:
        BadInputError: If two controls share a name or a key.
    """

    def __init__(self, server: Any, term: Steerable):
        self._server, self._term = server, term
        self._controls = check_controls(term.controls())
        self._lock = threading.Lock()
        self._texts: deque[str] = deque()
        self._numbers: dict[str, float] = {}
        self._held: frozenset[str] = frozenset()
        self._driver: int | None = None
        self._shown = ""
        with server.gui.add_folder("Controls", order=-1.0):
            self._status = server.gui.add_markdown("")
            server.gui.add_html(panel_html(self._controls))
            self._add_sliders()
            self._follow = server.gui.add_checkbox("Follow", True, hint="The camera goes along with the character.")
            self._keys = server.gui.add_text(KEYS_LABEL, "", disabled=True)
        self._keys.on_update(self._take_keys)
        server.on_client_disconnect(self._forget_client)

    def update(self, subject: np.ndarray | None = None) -> None:
        """Hand over what was done since the last call, and show what the task is doing.

        Args:
            subject: What the cameras go along with, world frame [m], shape (3,).
        """
        with self._lock:
            texts, numbers = list(self._texts), dict(self._numbers)
            self._texts.clear()
            self._numbers.clear()
        for name, value in numbers.items():
            self._term.set_control(name, value)
        before = self._held
        for text in texts:
            self._press(held_keys(text))
        self._hold(before)
        self._show_status()
        if subject is not None and self._follow.value:
            self._move_cameras(subject)

    def _press(self, held: frozenset[str]) -> None:
        for control in self._controls:
            if control.kind == "press" and pressed(control, self._held, held):
                self._term.set_control(control.name, True)
        self._held = held

    def _hold(self, before: frozenset[str]) -> None:
        for control in self._controls:
            if control.kind == "hold":
                down = any(key in self._held for key in control.keys)
                if down != any(key in before for key in control.keys):
                    self._term.set_control(control.name, down)
            elif control.kind == "direction":
                local = direction_of(control, self._held)
                # given anew while it is held, since the camera may turn
                if any(local) or any(direction_of(control, before)):
                    self._term.set_control(control.name, turned(local, self._heading()))

    def _heading(self) -> tuple[float, float]:
        """Where the camera of who steers looks, in the ground plane; along x if that can't be told."""
        client = self._server.get_clients().get(self._driver)
        if client is None:
            return 1.0, 0.0
        x, y, _ = client.camera.look_at - client.camera.position
        length = math.hypot(x, y)
        return (x / length, y / length) if length > 1e-6 else (1.0, 0.0)

    def _move_cameras(self, subject: np.ndarray) -> None:
        for client in self._server.get_clients().values():
            shift = subject - client.camera.look_at
            shift[2] = 0.0
            if np.abs(shift).max() > 1e-3:
                with client.atomic():
                    # the point that is looked at goes along
                    client.camera.position = client.camera.position + shift

    def _show_status(self) -> None:
        text = "  \n".join(f"{label}: **{value}**" for label, value in self._term.status().items())
        if text != self._shown:
            self._status.content = self._shown = text

    def _add_sliders(self) -> None:
        for control in self._controls:
            if control.kind == "number":
                slider = self._server.gui.add_slider(
                    control.label, control.low, control.high, control.step, control.default
                )
                slider.on_update(self._taker_of(control.name))

    def _taker_of(self, name: str) -> Any:
        async def take(event: Any) -> None:
            with self._lock:
                self._numbers[name] = float(event.target.value)

        return take

    # coroutines run one after the other: keys stay in their order
    async def _take_keys(self, event: Any) -> None:
        if event.client is not None:
            with self._lock:
                self._driver = event.client.client_id
                self._texts.append(event.target.value)

    async def _forget_client(self, client: Any) -> None:
        with self._lock:
            gone = client.client_id == self._driver
            if gone:
                self._texts.append("")
        if gone:
            self._keys.value = ""


def panel_of(env: Any) -> ControlPanel | None:
    """Make the panel of an environment that is shown in the browser; None if no term of it can be steered.

    Args:
        env: The environment, not wrapped, built with :func:`sportsuite.viewer.browser.show_in_browser`, and reset.
    """
    term = steerable_term(env)
    # Isaac Lab's viewer has no public way to its server
    servers = [getattr(getattr(viewer, "_viewer", None), "_server", None) for viewer in env.sim.visualizers]
    server = next((found for found in servers if found is not None), None)
    return None if term is None or server is None else ControlPanel(server, term)


def panel_html(controls: Sequence[Control]) -> str:
    """Return the buttons on the screen, and the script that reads keys.

    Args:
        controls: The controls; numbers are left out.
    """
    pads = [_pad(control) for control in controls if control.kind == "direction"]
    buttons = [_button(control) for control in controls if control.kind in ("hold", "press")]
    script = f"{{const settings = {json.dumps(_settings(controls))};\n{_script()}}}"
    # scripts in HTML that is put into a page don't run, handlers do
    runner = f'<img alt="" style="display: none" src="data:," onerror="{html.escape(script)}">'
    return f'<style>{_STYLE}</style>{"".join(pads)}<div class="row">{"".join(buttons)}</div>{runner}'


def _pad(control: Control) -> str:
    forward, left, back, right = control.keys[:4]
    cells = [
        (f"{forward} {left}", "↖"),
        (forward, "↑"),
        (f"{forward} {right}", "↗"),
        (left, "←"),
        ("", ""),
        (right, "→"),
        (f"{back} {left}", "↙"),
        (back, "↓"),
        (f"{back} {right}", "↘"),
    ]
    return f'<div class="pad">{"".join(_cell(keys, sign) for keys, sign in cells)}</div>'


def _cell(keys: str, sign: str) -> str:
    return f'<span data-keys="{html.escape(keys)}">{sign}</span>' if keys else "<i></i>"


def _button(control: Control) -> str:
    key, label, keys = (html.escape(text) for text in (control.keys[0], control.label, " ".join(control.keys)))
    return f'<span data-keys="{key}">{label} <kbd>{keys}</kbd></span>'


def _settings(controls: Sequence[Control]) -> dict[str, Any]:
    stick = next((control.keys[:4] for control in controls if control.kind == "direction"), ())
    return {
        "label": KEYS_LABEL,
        "keys": [key for control in controls for key in control.keys],
        "stick": stick,
        "buttons": [(control.gamepad, control.keys[0]) for control in controls if control.gamepad is not None],
    }


def _script() -> str:
    return resources.files("sportsuite.viewer").joinpath("keys.js").read_text(encoding="utf-8")
