#!/bin/sh
# Finds a Python that is new enough and lets it make the environments named as arguments.
# Usage: scripts/setup.sh [run] [mcp] [remote] [models] [dev] [acp-0.12] [acp-1.0rc] [fuzz] [node] [page]     (see scripts/environment.py)
here=$(dirname "$0")
found=
for python in python3 python3.14 python3.13 python3.12 python3.11; do
    command -v "$python" >/dev/null 2>&1 || continue
    found=yes
    if "$python" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        exec "$python" -I "$here/environment.py" "$@"
    fi
done
if [ -n "$found" ]; then
    echo "accord: Python 3.11 or newer is needed, and the python3 of this machine is older; install a newer one beside it." >&2
else
    echo "accord: python3 is missing; install Python 3.11 or newer." >&2
fi
exit 1
