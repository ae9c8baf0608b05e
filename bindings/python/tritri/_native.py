"""Loads the extension module, or says which file is missing and where it was looked for."""
from __future__ import annotations

import os
import re

EXTENSION = "_tritri.abi3.so"


def explain(error: ImportError, package: str, environment=os.environ) -> str:
    """One sentence for an extension module that does not load."""
    if not os.path.exists(os.path.join(package, EXTENSION)):
        return f"tritri: {EXTENSION}: must be in the package's folder, which it is not: looked in {package}"
    named = re.search(r"lib\w+\.so[.\d]*", str(error))
    places = [package, os.path.normpath(os.path.join(package, "..", "..", "lib"))]
    places += [place for place in environment.get("LD_LIBRARY_PATH", "").split(":") if place]
    return (f"tritri: {named.group() if named else EXTENSION}: must be found and be built for this platform, got \"{error}\"; "
            f"looked in {', '.join(places)} and the system's library folders")


try:
    from . import _tritri as native
except ImportError as problem:
    raise ImportError(explain(problem, os.path.dirname(os.path.abspath(__file__)))) from problem
