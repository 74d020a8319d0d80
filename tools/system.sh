#!/bin/sh
# What the tests need from the system, by name: installed where we may, asked for where we may not.
set -eu
missing=""
for program in "$@"; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq && apt-get install -y -qq $missing >/dev/null
else
    echo "The tests need:$missing. Install: sudo apt-get install$missing" >&2
    exit 1
fi
