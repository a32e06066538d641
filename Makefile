# The one command surface. `make` lists it.
PYTHON ?= python3
# What leads a Python astray, or keeps it from starting.
unexport PYTHONHOME PYTHONPATH PYTHONSTARTUP
# Each process would compile our modules again; tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE

# The interpreter that comes first has .venv; where PYTHON names one of another version, that has .venv-VERSION.
VENV   := .venv
ifneq ($(origin PYTHON),file)
MADE   := $(shell sed -n 's/^version = //p' .venv/pyvenv.cfg 2>/dev/null)
NAMED  := $(shell $(PYTHON) -I -c 'import platform; print(platform.python_version())')
$(if $(NAMED),,$(error PYTHON=$(PYTHON) does not run))
VENV   := .venv$(if $(MADE),$(addprefix -,$(filter-out $(MADE),$(NAMED))))
endif
BIN    := $(VENV)/bin

# Runs tests, lint among them, and fails on what they leave behind.
TESTS  := $(BIN)/python -m tests.supervised

# On two quiet cores, after the installation. Pages that name a time have it from here (tests/test_tiers.py).
TIME_up        := 1 minute
TIME_check     := 1 minute
TIME_test      := 3 minutes
TIME_test-all  := 25 minutes
TIME_test-real := 40 minutes
SAY = @echo "On two quiet cores this takes $(TIME_$@).$(if $(wildcard $(VENV)/.installed-dev),, The installation before it took its own time.)"

CANARY  := .venv-canary/bin/pip --disable-pip-version-check install --quiet --no-compile
CANARY_TESTS ?= tests/contract tests/components tests/provider tests/sandbox/aws
RELEASE := $(BIN)/python -m tests.release
PYTHONS ?= $(BIN)/python
ENGINE  ?= docker
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# --only-binary: no setup program of another package runs.
# --no-compile: of pulumi-aws a hundredth is ever imported; compiling all of it takes half of the time and of the disk.
SAFE   := --quiet --require-hashes --only-binary :all:
PIP    := $(BIN)/pip --disable-pip-version-check install $(SAFE) --no-compile
# uv installs the same lock files in a tenth of the time. It does not read the settings of pip: its index is passed on.
# Where there is no uv for a machine, or it fails, pip installs.
INDEX  := sed -n "s/^[^ ]*\.index-url='\(.*\)'$$/\1/p" | tail -n 1
UV     := export UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$($(BIN)/pip config list | $(INDEX))}"; \
	[ -n "$$UV_DEFAULT_INDEX" ] || unset UV_DEFAULT_INDEX; $(VENV)/.uv/bin/uv pip install --python $(BIN)/python
INSTALL = { $(UV) $(SAFE) -r $(1) 2>$(VENV)/.uv/log || $(PIP) -r $(1); }
EDITED := --no-deps --no-build-isolation --editable . --editable infra/nomad_csi_sandbox

# What `make test-all` explores and draws more of than `make test`.
THOROUGH := HYPOTHESIS_PROFILE=default HCL_EXAMPLES=1000 SOAK_INTERLEAVINGS=200 \
	SOAK_OPERATIONS=4 SOAK_SEQUENCES=20

.DEFAULT_GOAL := help
.PHONY: help install install-dev up preview env down lint check test test-all test-real test-seconds soak coverage mutants bench proto format clean
.PHONY: accept-aws accept-aws-sweep canary image workflows dist dist-check dist-install release-check release-tag publish site-publish

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E -e 's/:.*##/\t/' $(foreach each,up check test test-all test-real,-e 's/TIME_$(each)$$/$(TIME_$(each))/') | expand -t 14

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version). Say which with: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.uv/lock: requirements-ci.lock | $(BIN)/python
	@mkdir -p $(@D)
	@sed -n '/^uv==/,/[^\]$$/p' requirements-ci.lock > $@
	@$(PIP) --upgrade --target $(@D) -r $@ 2>/dev/null || echo "there is no uv for this machine: pip installs, which takes longer" >&2

$(VENV)/.installed: requirements.lock pyproject.toml infra/nomad_csi_sandbox/pyproject.toml $(VENV)/.uv/lock | $(BIN)/python
	@echo "installing into $(VENV), about 300 MB, once; this is quiet for up to a minute or two" >&2
	@$(call INSTALL,requirements.lock)
	@{ $(UV) --quiet $(EDITED) 2>$(VENV)/.uv/log; } || $(BIN)/pip --disable-pip-version-check install --quiet $(EDITED)
	@touch $@

$(VENV)/.installed-dev: requirements-dev.lock $(VENV)/.installed
	@echo "installing the tools for tests and lint into $(VENV)"
	@$(call INSTALL,requirements-dev.lock)
	@touch $@

$(VENV)/.installed-measure: requirements-measure.lock $(VENV)/.installed-dev
	@$(call INSTALL,requirements-measure.lock)
	@touch $@

$(VENV)/.installed-ci: requirements-ci.lock $(VENV)/.installed-dev
	@$(call INSTALL,requirements-ci.lock)
	@touch $@

install: $(VENV)/.installed          ## what runs, into .venv, from pinned versions
install-dev: $(VENV)/.installed-dev  ## that, and what tests and lints

up: install                          ## the whole job in the sandbox: nothing to sign up for; TIME_up
	@$(BIN)/nomad-csi sandbox up
preview: install                     ## what `make up` would change
	@$(BIN)/nomad-csi sandbox preview
env: install                         ## address and token of the sandbox's Nomad, for a shell: eval "$(make -s env)"
	@$(BIN)/nomad-csi sandbox status --env
down: install                        ## end it and remove everything in it, protected volumes too
	@$(BIN)/nomad-csi sandbox down

lint: install-dev                    ## style, types, layers; every run of tests has it, too
	$(BIN)/python -m pytest -n0 --quiet tests/test_lint.py
check: install-dev                   ## before a commit: lint, and the tests of what is pure; TIME_check
	$(SAY)
	$(TESTS) --numprocesses auto --tier check
test: install-dev                    ## lint, and the tests that every change must pass: what CI runs; TIME_test
	$(SAY)
	$(TESTS) --numprocesses auto --tier test
test-all: install-dev                ## lint, and every test; TIME_test-all
	$(SAY)
	$(THOROUGH) $(TESTS) --numprocesses auto --tier all
test-real: install-dev               ## what needs a real nomad, pulumi or driver on PATH; TEST_WITHOUT="docker ..." names what may be absent; TIME_test-real
	$(SAY)
	TEST_WITHOUT="$${TEST_WITHOUT-}" $(BIN)/python -m pytest --numprocesses 3 --tier real
test-seconds: install-dev            ## every test, and record the seconds of each file, by which the longest are started first
	$(THOROUGH) $(BIN)/python -m pytest --numprocesses auto --tier all --record-seconds
soak: install-dev                    ## hours: kills, interleavings, throttled EC2, hostile texts; numbers are printed
	$(BIN)/python -m tests.fuzz --cpu-s 600
	NOMAD_CSI_HOSTILE_SPECS=5000 $(BIN)/python -m pytest tests/hcl/test_hostile_specs.py
	HCL_EXAMPLES=20000 $(BIN)/python -m pytest tests/hcl
	SOAK_INTERLEAVINGS=10000 SOAK_EBS_VOLUMES=300 $(BIN)/python -m pytest -s --timeout=7200 tests/volumes/test_deletion_interleavings.py tests/volumes/test_races.py tests/e2e/test_ebs_day_two.py
	SOAK_OPERATIONS=5 SOAK_SEQUENCES=200 SOAK_REAL_WALKS=100 SOAK_REAL_SEQUENCES=40 $(BIN)/python -m pytest -s --timeout=14400 tests/model tests/walk tests/real/walk
coverage: $(VENV)/.installed-measure  ## lines and branches that the tests run, by file
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest --numprocesses auto --tier $${TIER:-test}
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
mutants: $(VENV)/.installed-measure   ## hours: break the modules that hold data, and see that a test notices; SUBJECTS="compare ..." for some
	HCL_EXAMPLES=25 $(BIN)/python -m tests.mutants $(SUBJECTS)
bench: install-dev                   ## measurements, as ratios against a baseline of the same run
	$(BIN)/python -m benchmarks
proto: install-dev                   ## write csi/v1 again from proto/
	$(BIN)/python -m tests.csi.proto_code
accept-aws: $(VENV)/.installed       ## the main job in your AWS account and Nomad: ZONE=us-east-1a PLUGIN=plugin.yaml; asks first
	@$(BIN)/python -m tests.acceptance run --zone "$(ZONE)" $(if $(PLUGIN),--plugin "$(PLUGIN)")
accept-aws-sweep: $(VENV)/.installed ## remove what a run left: RUN=accept-...; without RUN the storage of runs that have expired
	@$(BIN)/python -m tests.acceptance sweep --run "$(RUN)" $(if $(PLUGIN),--plugin "$(PLUGIN)")
canary:                              ## tests with the newest pulumi, pulumi-aws and moto, and the nomad and pulumi on PATH
	@$(PYTHON) -m venv --clear .venv-canary
	@$(CANARY) --upgrade pip
	@$(CANARY) --group test --group build --editable infra/nomad_csi_sandbox --editable .
	@$(CANARY) --upgrade --no-deps moto pulumi pulumi-aws
	@.venv-canary/bin/pip --disable-pip-version-check list | grep -E '^(moto|pulumi|pulumi_aws|pulumi-aws) '
	.venv-canary/bin/python -m pytest --numprocesses auto $(CANARY_TESTS)
workflows: $(VENV)/.installed-ci     ## check .github/ and action.yml with zizmor and actionlint (which needs go)
	$(BIN)/zizmor --offline --no-progress .github action.yml
	go run $(ACTIONLINT)
dist: $(VENV)/.installed-ci          ## both wheels and sdists of the commit, SBOM, schemas, notes: dist/release, dist/assets
	$(RELEASE) dist
dist-check: $(VENV)/.installed-ci    ## build once more, compare byte for byte; check what an index would refuse or show wrong
	$(RELEASE) check
dist-install: $(VENV)/.installed-ci  ## the main job from the wheels, in a new environment; PYTHONS="python3.11 ..." names others
	$(RELEASE) install $(PYTHONS)
image: $(VENV)/.installed-ci         ## lint the Dockerfile, build it, list what is in it, run it; ENGINE=buildah IMAGE_OPTIONS="..."
	$(BIN)/hadolint Dockerfile examples/image/Dockerfile
	$(RELEASE) image $(ENGINE) $(IMAGE_OPTIONS)
release-check: dist dist-check dist-install workflows  ## all of that: what a release needs but an account
release-tag: $(VENV)/.installed-ci   ## what keeps this commit from being released as TAG
	@$(RELEASE) tag $(TAG)
publish: $(VENV)/.installed-ci       ## upload dist/release to a package index; PUBLISH="--dry-run ..." adds options of uv publish
	$(BIN)/uv publish $(PUBLISH) dist/release/*
site-publish: $(VENV)/.installed-ci  ## commit the site of this version to the branch gh-pages; SITE=--push sends it
	PATH="$(abspath $(BIN)):$$PATH" NO_MKDOCS_2_WARNING=1 mike deploy --update-aliases $(SITE) "$$($(RELEASE) version)" latest
format: install-dev                  ## lay out the code
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --quiet --fix .
clean:                               ## remove the environments
	rm -rf .venv .venv-*
