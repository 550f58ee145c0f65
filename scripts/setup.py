"""setup.py: gives `pip install ./scripts` the version in the Makefile; pyproject.toml has the rest."""
import pathlib
import re

import setuptools

makefile = pathlib.Path(__file__).resolve().parent.parent / "Makefile"
setuptools.setup(version=re.search(r"^VERSION\s*:=\s*(\S+)", makefile.read_text(), re.MULTILINE)[1])
