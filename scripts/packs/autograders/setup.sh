#!/usr/bin/env bash
# Gradescope runs this once, as root, when it makes the container's image. It makes an environment
# with NumPy beside this folder, and closes this folder to all users but root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
umask 022
export DEBIAN_FRONTEND=noninteractive

# Set `python` to a Python that can make environments and is new enough for the package.
find_python() {
    for python in python3.14 python3.13 python3.12 python3.11 python3; do
        "$python" -c "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))" \
            2>/dev/null && return
    done
    return 1
}

if ! find_python; then
    apt-get -qq update
    # On Ubuntu 22.04 python3 is older, and a newer one has packages of its own.
    apt-get -qq install -y python3 python3-venv
    find_python || apt-get -qq install -y python3.11 python3.11-venv
    find_python || { echo "error: no Python 3.11 or newer can be installed" >&2; exit 1; }
fi
"$python" -m venv ../python
../python/bin/python -m pip install -q --require-hashes -r requirements.txt
"$python" -m zipfile -e {{ wheel }} package
chmod -R go= .
