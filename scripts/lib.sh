# lib.sh: what fuzz, test and tandem share: the machine, the environment, the build.
#
# Everything here is safe to repeat and quick when there is nothing to do.  All
# of it talks on stderr, so that a command's stdout stays its own.

TD_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
: "${HOME:=$(unset HOME; echo ~)}" # whoever starts us may have taken it away
export HOME
TD_CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/tandem"
TD_LOCK_FILE="${TANDEM_LOCK_FILE:-$TD_ROOT/requirements.lock}"
TD_STAMP=tandem-environment-complete

td_say() { printf 'tandem: %s\n' "$*" >&2; }

# The environment failed, not the programs: exit 3, with one line.
td_die() {
    td_say "$*"
    exit 3
}

# ---- system packages -------------------------------------------------------------

# The packages of src/tandem/packages.txt that are not there, one a line.
td_missing_packages() {
    local package check
    while IFS='|' read -r package check _; do
        package="${package%% *}"
        case "$package" in '' | '#'*) continue ;; esac
        # shellcheck disable=SC2086
        td_check $check || echo "$package"
    done <"$TD_ROOT/src/tandem/packages.txt"
}

# td_check KIND ARG...: the words of a line's middle column.
td_check() { "td_check_$1" "${@:2}"; }

td_check_commands() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || return 1
    done
}

td_check_header() { [ -f "/usr/include/$1" ] || [ -f "/usr/local/include/$1" ]; }

# A library of the compiler's, where this machine's clang looks for it.
td_check_runtime() {
    [ -f "$(clang -print-file-name="libclang_rt.$1-$(uname -m).a" 2>/dev/null)" ]
}

td_check_version() {
    local version
    version="$("$1" --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')" || return 1
    [ -n "$version" ] && [ "$(printf '%s\n' "$2" "$version" | sort -V | head -n 1)" = "$2" ]
}

td_may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

td_install_packages() {
    td_say "installing system packages with apt-get: $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q >&2 </dev/null &&
        apt-get install -q -y --no-install-recommends "$@" >&2 </dev/null ||
        td_die "apt-get could not install them; the line to type: apt-get update && apt-get install $*"
}

td_system() {
    local missing
    missing="$(td_missing_packages | tr '\n' ' ')"
    [ -n "$missing" ] || return 0
    # Words of the list are package names: split on purpose.
    # shellcheck disable=SC2086
    if td_may_install; then
        td_install_packages $missing
    else
        td_die "missing system packages; type: sudo apt-get update && sudo apt-get install $missing"
    fi
    missing="$(td_missing_packages | tr '\n' ' ')"
    [ -z "$missing" ] || td_die "still missing after the installation: $missing"
}

# ---- Python ----------------------------------------------------------------------

# td_python_fault PYTHON: why it cannot be used, in a few words; nothing if it can.
td_python_fault() {
    "$1" -I - 2>/dev/null <<'PY' || echo "does not run"
import importlib.util, os, sys, sysconfig
get = sysconfig.get_config_var
def fault():
    if sys.version_info[:2] != (3, 11) or sys.implementation.name != "cpython":
        return f"is {sys.implementation.name} {sys.version.split()[0]}"
    library = os.path.join(get("LIBDIR") or "", get("LDLIBRARY") or "?")
    multiarch = os.path.join(get("LIBDIR") or "", get("MULTIARCH") or "", get("LDLIBRARY") or "?")
    if not get("Py_ENABLE_SHARED") and not library.endswith(".so"):
        return "has only a static libpython"
    if not any(map(os.path.exists, (library, multiarch))):
        return "has no shared libpython beside it"
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        return "has no headers (Python.h)"
    if not all(map(importlib.util.find_spec, ("venv", "ensurepip"))):
        return "has no venv and ensurepip"
print(fault() or "", end="")
PY
}

td_python_candidates() {
    command -v python3.11 || true
    command -v python3 || true
    local path
    for path in /usr/bin/python3.11 /usr/local/bin/python3.11 "$HOME"/.pyenv/versions/3.11*/bin/python3.11 \
        /opt/python*/bin/python3.11; do
        if [ -x "$path" ]; then echo "$path"; fi
    done
}

td_python_search() {
    local path
    while read -r path; do
        if [ -z "$(td_python_fault "$path")" ]; then
            TD_PYTHON="$path"
            return 0
        fi
    done < <(td_python_candidates)
    return 1
}

# Sets TD_PYTHON: Python 3.11 with headers, a shared libpython and venv.
td_find_python() {
    local fault how="Python 3.11 with a shared libpython"
    if [ -n "${TANDEM_BASE_PYTHON:-}" ]; then
        fault="$(td_python_fault "$TANDEM_BASE_PYTHON")"
        [ -z "$fault" ] || td_die "TANDEM_BASE_PYTHON: $TANDEM_BASE_PYTHON $fault; $how is needed"
        TD_PYTHON="$TANDEM_BASE_PYTHON"
        return 0
    fi
    td_python_search && return 0
    if td_may_install && apt-cache show libpython3.11-dev >/dev/null 2>&1; then
        td_install_packages python3.11 python3.11-venv libpython3.11-dev
        td_python_search && return 0
    fi
    td_die "$how was not found; on Debian 12: sudo apt-get install python3.11 python3.11-venv libpython3.11-dev;" \
        "elsewhere build one with ./configure --enable-shared and set TANDEM_BASE_PYTHON=PATH"
}

# ---- the locked environment --------------------------------------------------------

# Sets TD_ENV: the folder of the environment for this lock file and interpreter.
td_environment_name() {
    local key
    [ -f "$TD_LOCK_FILE" ] || td_die "no lock file $TD_LOCK_FILE"
    key="$({
        cat "$TD_LOCK_FILE"
        "$TD_PYTHON" -I -c 'import os, sys; print(sys.version, os.path.realpath(sys.executable), os.uname().machine)'
    } | sha256sum | cut -c 1-16)"
    TD_ENV="$TD_CACHE/$key"
}

# Trusted is what was finished: the stamp is written last, names its own folder,
# and its interpreter still runs (the Python it was made from may be gone).
td_environment_fits() {
    [ "$(cat "$TD_ENV/$TD_STAMP" 2>/dev/null)" = "$TD_ENV" ] && [ -x "$TD_ENV/bin/python" ]
}

td_announce_download() {
    local size=2500 need=8000 free
    [ "$(uname -m)" = x86_64 ] || { size=250 need=1500; }
    td_say "making the locked environment (torch 2.1.2 and what it needs) in $TD_ENV"
    td_say "about $size MB are downloaded, less what pip has in its cache; it takes $need MB of disk while it is made"
    free="$(df -Pm "$TD_CACHE" | awk 'NR == 2 { print $4 }')"
    [ "$free" -ge "$need" ] ||
        td_die "only $free MB are free in $TD_CACHE, $need are needed; make room or set XDG_CACHE_HOME"
}

# Made beside its place and moved there when complete.  pip writes the folder's
# name into the scripts in bin/, hence the rewriting.
td_make_environment() {
    local partial="$TD_ENV.partial"
    rm -rf "$partial" "$TD_ENV"
    "$TD_PYTHON" -m venv "$partial" >&2 || td_die "could not make a virtual environment with $TD_PYTHON"
    "$partial/bin/python" -m pip install --disable-pip-version-check --require-hashes --only-binary :all: \
        -r "$TD_LOCK_FILE" >&2 </dev/null ||
        td_die "pip could not install the locked environment (above); what it downloaded is kept: run this again"
    grep -lIF "$partial" "$partial"/bin/* | xargs -r sed -i "s|$partial|$TD_ENV|g"
    "$partial/bin/python" -I -c 'import torch, numpy; assert torch.__version__.startswith("2.1.2")' ||
        td_die "the environment was made, but torch 2.1.2 cannot be imported from it"
    printf '%s' "$TD_ENV" >"$partial/$TD_STAMP"
    mv "$partial" "$TD_ENV"
    td_say "the environment is ready"
}

# Sets TD_ENV and TD_ENV_PYTHON, making the environment if need be.  One maker at
# a time; who waited finds it made.
td_environment() {
    td_find_python
    td_environment_name
    TD_ENV_PYTHON="$TD_ENV/bin/python"
    td_environment_fits && return 0
    mkdir -p "$TD_CACHE" || td_die "cannot make $TD_CACHE"
    exec 8>"$TD_ENV.lock"
    flock -n 8 || {
        td_say "another set-up of the same environment is running; waiting for it"
        flock 8
    }
    if ! td_environment_fits; then
        td_announce_download
        td_make_environment
    fi
    exec 8>&-
}

# ---- the build ---------------------------------------------------------------------

# td_build PRESET [TARGET...]: configures when the machine or the place changed,
# then builds what is out of date.
td_build() {
    local preset="$1" dir="$TD_ROOT/build/$1" made_for target quiet=()
    shift
    made_for="$TD_ENV_PYTHON $(command -v cmake) $TD_ROOT"
    mkdir -p "$dir" || td_die "cannot make $dir"
    exec 9>"$dir.lock"
    flock 9
    if [ "$(cat "$dir/made-for" 2>/dev/null)" != "$made_for" ] || [ ! -f "$dir/build.ninja" ]; then
        td_say "configuring build/$preset"
        (cd "$TD_ROOT" && cmake --fresh --preset "$preset" -DPython3_EXECUTABLE="$TD_ENV_PYTHON" >&2) || return 1
        printf '%s' "$made_for" >"$dir/made-for"
        td_say "building build/$preset"
    else
        quiet=(-- --quiet)
    fi
    local targets=()
    for target in "$@"; do targets+=(--target "$target"); done
    (cd "$TD_ROOT" && cmake --build "build/$preset" "${targets[@]}" "${quiet[@]}" >&2) || return 1
    exec 9>&-
}

# td_exec PRESET PROGRAM ARG...: becomes PROGRAM with the package of that build.
td_exec() {
    # Objects whose hash is random would differ between two starts.
    export PYTHONHASHSEED=0 TANDEM_ROOT="$TD_ROOT" TANDEM_BUILD="$TD_ROOT/build/$1"
    export PYTHONPATH="$TANDEM_BUILD/python${PYTHONPATH:+:$PYTHONPATH}"
    shift
    exec "$@"
}
