"""The panel without a browser, and with one: keys pressed in headless Chromium reach the term."""

import asyncio
import contextlib
import html
import math
import re
import socket
import time
from types import SimpleNamespace

import numpy as np
import pytest

from sportsuite.viewer.browser import ADDRESS
from sportsuite.viewer.control_panel import KEYS_LABEL, ControlPanel, panel_html
from tests.viewer.chromium import BINARY, open_page
from tests.viewer.fake_term import CONTROLS, FakeTerm

viser = pytest.importorskip("viser", reason="the extra 'viser' is not installed")
needs_browser = pytest.mark.skipif(BINARY is None, reason="no Chromium is installed (apt-get install chromium)")

HALF = math.sqrt(0.5)
PATIENCE_S = 120.0  # a software renderer on a busy machine


@contextlib.contextmanager
def panel_on_a_server(term):
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port = probe.getsockname()[1]
    server = viser.ViserServer(host=ADDRESS, port=port, verbose=False)
    try:
        yield ControlPanel(server, term), server, f"http://{ADDRESS}:{port}"
    finally:
        server.stop()


def until(holds, panel, what):
    """Step until something holds."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        panel.update()
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError(f"never: {what}")


@pytest.fixture
def panel():
    """A panel whose events are made by hand."""
    with panel_on_a_server(FakeTerm()) as (made, _, _):
        yield made


def say(panel, text, client=0):
    event = SimpleNamespace(client=SimpleNamespace(client_id=client), target=SimpleNamespace(value=text))
    asyncio.run(panel._take_keys(event))


def test_what_happened_between_two_steps_is_not_lost(panel):
    for text in ("w", "w k", "w", "w shift", "w shift space", "shift", ""):
        say(panel, text)
    panel.update()
    # two presses, and nothing is held any more
    assert panel._term.calls == [("kick", True), ("kick", True)]


def test_holding_is_told_once_and_directions_again(panel):
    say(panel, "w shift")
    panel.update()
    assert panel._term.calls == [("go", (1.0, 0.0)), ("run", True)]
    panel.update()
    assert panel._term.calls[2:] == [("go", (1.0, 0.0))]
    say(panel, "shift")
    panel.update()
    panel.update()
    assert panel._term.calls[3:] == [("go", (0.0, 0.0))]
    say(panel, "")
    panel.update()
    assert panel._term.calls[4:] == [("run", False)]


def test_nobody_at_the_keys_leaves_the_term_alone(panel):
    panel.update()
    assert panel._term.calls == []


def test_who_leaves_lets_go(panel):
    say(panel, "w", client=3)
    panel.update()
    asyncio.run(panel._forget_client(SimpleNamespace(client_id=4)))
    panel.update()
    assert panel._term.last("go") == (1.0, 0.0)
    asyncio.run(panel._forget_client(SimpleNamespace(client_id=3)))
    panel.update()
    assert panel._term.last("go") == (0.0, 0.0)


def test_buttons_and_script_are_in_the_html():
    text = panel_html(CONTROLS)
    assert re.findall(r'data-keys="([^"]*)"', text) == [
        *("w a", "w", "w d", "a", "d", "s a", "s", "s d"),
        *("shift", "k"),
    ]
    script = html.unescape(re.search(r'onerror="([^"]*)"', text)[1])
    assert f'"label": "{KEYS_LABEL}"' in script and '"buttons": [[0, "k"]]' in script
    assert "addEventListener" in script


@needs_browser
def test_keys_in_a_browser_reach_the_term(tmp_path):
    term = FakeTerm()
    with panel_on_a_server(term) as (panel, server, url), open_page(url, tmp_path) as page:
        until(lambda: "Skill: move" in page.text() and page.listens(), panel, "the panel is shown")
        (client,) = server.get_clients().values()
        view = client.camera.look_at - client.camera.position
        place = client.camera.position
        ahead = view[:2] / math.hypot(*view[:2])
        left = np.array([-ahead[1], ahead[0]])

        def goes(direction):
            return lambda: term.last("go") is not None and np.allclose(term.last("go"), direction, atol=1e-3)

        page.press("KeyW")
        until(goes(ahead), panel, "forward")
        page.press("ArrowLeft")
        until(goes(HALF * (ahead + left)), panel, "forward and left")
        page.press("ShiftLeft")
        until(lambda: term.last("run") is True, panel, "run")
        page.release("KeyW")
        until(goes(left), panel, "left")
        page.release("ArrowLeft")
        page.release("ShiftLeft")
        until(lambda: term.last("go") == (0.0, 0.0) and term.last("run") is False, panel, "stop")
        # the viewer's own use of these keys is off: the camera has stayed
        assert client.camera.position == pytest.approx(place, abs=1e-6)

        page.press("Space")
        page.release("Space")
        until(lambda: "Skill: kick" in page.text(), panel, "the skill changes")
        assert [name for name, _ in term.calls].count("kick") == 1

        page.mouse("mousePressed", '[data-keys="s d"]')
        until(goes(-HALF * (ahead + left)), panel, "back and right, on the screen")
        until(lambda: "Skill: move" in page.text(), panel, "the skill changes back")
        page.mouse("mouseReleased", '[data-keys="s d"]')
        until(lambda: term.last("go") == (0.0, 0.0), panel, "stop")

        page.evaluate(
            "navigator.getGamepads = () => [{axes: [0, 1], buttons: [{pressed: true}]}]; document.activeElement.blur()"
        )
        until(goes(-ahead), panel, "back, by stick")
        assert [name for name, _ in term.calls].count("kick") == 2
        page.evaluate("navigator.getGamepads = () => []; window.dispatchEvent(new Event('blur'))")
        until(lambda: term.last("go") == (0.0, 0.0), panel, "stop")

        panel.update(np.array([5.0, -2.0, 0.9]))
        until(lambda: abs(client.camera.look_at[0] - 5.0) < 1e-3, panel, "the camera goes along")
        time.sleep(0.3)
        assert client.camera.look_at[:2] == pytest.approx((5.0, -2.0), abs=1e-3)
        assert client.camera.look_at - client.camera.position == pytest.approx(view, abs=1e-3)

        page.press("KeyD")
        until(goes(-left), panel, "right")
    # the browser is gone with the key held
    until(lambda: term.last("go") == (0.0, 0.0), panel, "stop")
