#!/bin/sh
# Makes .venv from requirements.lock. Needs only git, make and some Python 3.11+ with pip: the right Python (3.12) and
# the installer (uv) are found or fetched here, nothing outside this folder is changed.
set -eu
cd "$(dirname "$0")/.."

find_uv() {
    if command -v uv >/dev/null 2>&1; then command -v uv; return; fi
    [ -x .bootstrap/bin/uv ] || bootstrap_uv >&2
    echo "$PWD/.bootstrap/bin/uv"
}

bootstrap_uv() {
    for python in python3.12 python3.13 python3.11 python3 python; do
        # --target leaves the interpreter's own packages alone, also where the system marks itself as externally managed
        if "$python" -m pip --version >/dev/null 2>&1; then
            "$python" -m pip install --quiet --disable-pip-version-check --target .bootstrap uv && return
        fi
    done
    echo "setup: no Python with pip was found on the path; install python3 and python3-pip" && exit 1
}

find_python() {
    # an inactive pyenv version is not on the path under its own name
    for candidate in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12*/bin/python3.12; do
        [ -x "$candidate" ] && echo "$candidate" && return
    done
    echo 3.12
}

UV=$(find_uv)
[ -x .venv/bin/python ] || "$UV" venv --quiet --python "$(find_python)" .venv
# compiled here once, or every start would compile thousands of files where Python may not write beside them
"$UV" pip install --quiet --compile-bytecode --python .venv/bin/python --requirement requirements.lock
"$UV" pip install --quiet --python .venv/bin/python --no-deps --editable .
# one step here compiles the physics' kernels into the user's caches, which would make the first start a minute longer;
# where that fails, "sportsuite doctor" says why
.venv/bin/sportsuite zero SportSuite-Trap-v0 --num-envs 1 --steps 1 >/dev/null 2>&1 || echo "setup: no first step; see sportsuite doctor"
touch .venv/.ready
