// Keeps a text field of the viewer filled with the names of the keys that are held, from the keyboard, the buttons on
// the screen and a gamepad. The viewer itself reports presses only, not how long a key is held, and would move its
// camera with the same keys. "settings" is put before this text; running it again only renews the settings.
const page = (window.sportsuiteKeys ??= { held: new Map(), started: false });
page.settings = settings;

if (!page.started) {
  page.started = true;
  const SHORTEST_MS = 150; // the viewer sends a field at most every 50 ms: a shorter press could be missed
  const STICK = 0.4; // a stick rests within this

  const nameOf = (code) =>
    code.replace(/^(Key|Digit)/, "").replace(/^(Shift)(Left|Right)$/, "$1").toLowerCase();

  const field = () => {
    const label = [...document.querySelectorAll("label")].find((entry) => entry.textContent === page.settings.label);
    for (let box = label; box && box !== document.body; box = box.parentElement) {
      const input = box.querySelector("input");
      if (input) return input;
    }
    return null;
  };

  const show = () => {
    const input = field();
    if (input) {
      const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
      setter.call(input, [...page.held.keys()].join(" "));
      input.dispatchEvent(new Event("input", { bubbles: true }));
    } else {
      // the field isn't drawn yet: a key that is held already must not be lost
      page.later ??= setTimeout(() => {
        page.later = undefined;
        show();
      }, 100);
    }
    for (const button of document.querySelectorAll("[data-keys]"))
      button.toggleAttribute("data-held", button.dataset.keys.split(" ").every((key) => page.held.has(key)));
  };

  const press = (key, source) => {
    const entry = page.held.get(key) ?? { sources: new Set(), since: performance.now() };
    entry.sources.add(source);
    page.held.set(key, entry);
    show();
  };

  const release = (key, source) => {
    const entry = page.held.get(key);
    if (!entry?.sources.delete(source)) return;
    const drop = () => {
      if (page.held.get(key) !== entry || entry.sources.size) return;
      page.held.delete(key);
      show();
    };
    setTimeout(drop, Math.max(0, entry.since + SHORTEST_MS - performance.now()));
  };

  const releaseAll = () => {
    page.held.clear();
    show();
  };

  const TYPED = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";
  const typing = (target) => target instanceof Element && target.matches(TYPED);

  window.addEventListener(
    "keydown",
    (event) => {
      const key = nameOf(event.code);
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      if (!page.settings.keys.includes(key)) return;
      event.stopPropagation();
      event.preventDefault();
      if (!event.repeat) press(key, "keyboard");
    },
    true,
  );
  window.addEventListener("keyup", (event) => release(nameOf(event.code), "keyboard"), true);
  window.addEventListener("blur", releaseAll);
  document.addEventListener("visibilitychange", () => document.hidden && releaseAll());

  const pointers = new Map();
  document.addEventListener("pointerdown", (event) => {
    const button = event.target.closest?.("[data-keys]");
    if (!button) return;
    pointers.set(event.pointerId, button.dataset.keys.split(" "));
    for (const key of pointers.get(event.pointerId)) press(key, `pointer ${event.pointerId}`);
  });
  const lift = (event) => {
    for (const key of pointers.get(event.pointerId) ?? []) release(key, `pointer ${event.pointerId}`);
    pointers.delete(event.pointerId);
  };
  document.addEventListener("pointerup", lift);
  document.addEventListener("pointercancel", lift);

  const readGamepad = () => {
    const pad = [...navigator.getGamepads()].find((entry) => entry);
    if (!pad) return;
    const [right = 0, back = 0] = pad.axes;
    const stick = [back < -STICK, right < -STICK, back > STICK, right > STICK];
    const wanted = page.settings.stick.map((key, side) => [key, stick[side]]);
    for (const [button, key] of page.settings.buttons) wanted.push([key, !!pad.buttons[button]?.pressed]);
    for (const [key, down] of wanted) {
      const held = page.held.get(key)?.sources.has("gamepad") ?? false;
      if (down && !held) press(key, "gamepad");
      if (!down && held) release(key, "gamepad");
    }
  };
  setInterval(readGamepad, 50);
}
