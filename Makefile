# Every target sets up what it needs: a fresh clone needs no other step.
PYTHON := .venv/bin/python
# one thread per library: spinning OpenMP threads beside the physics threads slow both down
export OMP_NUM_THREADS ?= 1

.PHONY: setup demo test check format lock assets clean

setup: .venv/.ready

.venv/.ready: requirements.lock pyproject.toml scripts/setup.sh
	@scripts/setup.sh

demo: setup  ## play the shipped Trap policy, print its metrics, write demo.mp4
	@$(PYTHON) scripts/demo.py

test: setup
	@$(PYTHON) -m pytest

check: setup
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/pyright
	@.venv/bin/codespell sportsuite sportsuite_tasks plugins scripts tests docs README.md CONTRIBUTING.md CHANGELOG.md

format: setup
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .

lock: setup  ## write requirements.lock from what is installed now
	@.venv/bin/python scripts/lock.py

assets: setup
	@$(PYTHON) scripts/build_assets.py

clean:
	rm -rf .venv .bootstrap build dist
