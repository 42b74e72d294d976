"""Headless Chromium for tests: a page that is driven through the DevTools protocol, with no further package."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BINARY = os.environ.get("CHROMIUM") or next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
"""The browser, or None; the variable CHROMIUM names another."""

_CODES = {"ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "ShiftLeft": 16, "Escape": 27, "Space": 32}
"""Key codes of keys without a letter."""


class Page:
    """One page. Keys are real input: they take the way of a keyboard's through the browser."""

    def __init__(self, socket: Any):
        self._socket = socket
        self._number = 0

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol and wait for its answer."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv(timeout=60))
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def evaluate(self, script: str) -> Any:
        """Evaluate an expression in the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def text(self) -> str:
        """What the page shows as text."""
        return self.evaluate("document.body ? document.body.innerText : ''")

    def listens(self) -> bool:
        """Whether the page's script waits for keys."""
        return bool(self.evaluate("Boolean(window.sportsuiteKeys?.started)"))

    def press(self, code: str) -> None:
        """Hold a key down, named by its code such as ``KeyW``."""
        self._key("rawKeyDown", code)

    def release(self, code: str) -> None:
        """Let a key go."""
        self._key("keyUp", code)

    def _key(self, kind: str, code: str) -> None:
        letter = code.removeprefix("Key").lower() if code.startswith("Key") else code
        number = ord(letter.upper()) if len(letter) == 1 else _CODES[code]
        self.call("Input.dispatchKeyEvent", type=kind, code=code, key=letter, windowsVirtualKeyCode=number)

    def mouse(self, kind: str, selector: str) -> None:
        """Press (``mousePressed``) or release the left button in the middle of an element."""
        box = self.evaluate(
            f"(() => {{const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]})()"
        )
        self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def screenshot(self, path: Path) -> None:
        """Save what the page looks like as a PNG."""
        import base64

        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


@contextlib.contextmanager
def open_page(url: str, profile: Path, size: tuple[int, int] = (640, 720)) -> Iterator[Page]:
    """Open a page in a browser of its own.

    Args:
        url: Address.
        profile: Empty folder for the browser's files.
        size: Width and height of the window [pixels].
    """
    from websockets.sync.client import connect

    assert BINARY is not None
    command = [
        BINARY,
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        f"--window-size={size[0]},{size[1]}",
        "about:blank",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = _port(profile / "DevToolsActivePort", process)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
            target = next(entry for entry in json.load(answer) if entry["type"] == "page")
        with connect(target["webSocketDebuggerUrl"], max_size=None, proxy=None) as socket:
            page = Page(socket)
            # a window that loses the focus releases all keys
            page.call("Emulation.setFocusEmulationEnabled", enabled=True)
            page.call("Page.navigate", url=url)
            yield page
    finally:
        process.terminate()
        process.wait(timeout=30)


def _port(file: Path, process: subprocess.Popen, seconds: float = 60.0) -> int:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if file.is_file() and file.read_text().strip():
            return int(file.read_text().split()[0])
        time.sleep(0.1)
    raise AssertionError(f"the browser did not start (exit code {process.poll()})")
