#!/bin/sh
# Make the virtual environment; on Debian install python3-venv first if it is missing and we may.
set -eu
python=$1
venv=$2
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "Tacit needs Python 3.11 or newer; $python is older. Try: make PYTHON=python3.11" >&2
    exit 1
}
[ -x "$venv/bin/python" ] && [ -x "$venv/bin/pip" ] && exit 0
rm -rf "$venv"
if ! "$python" -m venv "$venv" >/dev/null 2>&1; then
    rm -rf "$venv"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null
        "$python" -m venv "$venv"
    else
        echo "Python's venv module is missing. Install it: sudo apt-get install python3-venv" >&2
        exit 1
    fi
fi
