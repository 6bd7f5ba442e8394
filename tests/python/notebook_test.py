"""Runs docs/tutorial.ipynb in a kernel, as Jupyter does. Exit code 77: what that needs is not installed."""

import os
import sys

from python_fixture import ROOT

try:
    import ipykernel  # noqa: F401
    import nbclient
    import nbformat
except ImportError as missing:
    print(f"skipped: {missing}; Debian: python3-nbclient python3-nbformat python3-ipykernel")
    sys.exit(77)

os.chdir(ROOT)
notebook = nbformat.read("docs/tutorial.ipynb", as_version=4)
nbformat.validate(notebook)
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
shown = [output["data"] for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs if "data" in output]
tables = [data for data in shown if "<table" in data.get("text/html", "")]
print(f"{len(tables)} results shown as tables")
sys.exit(0 if len(tables) >= 3 else 1)
