#!/usr/bin/env bash
# For RUSTC_WORKSPACE_WRAPPER: compiles with clippy, for which a warning is an error. `cargo clippy` compiles all dependencies for
# itself alone, and those of the drivers take longer than all else.
exec clippy-driver "$@" -D warnings
