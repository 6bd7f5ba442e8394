"""The examples of docs/python.md, and the cells of the notebook, one after another."""

import doctest
import json
import os
import unittest

from python_fixture import ROOT

NOTEBOOK = ROOT / "docs/tutorial.ipynb"


class Documents(unittest.TestCase):
    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)

    def test_the_examples_answer_what_they_say(self):
        failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False, encoding="utf-8")
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 15)

    def test_the_cells_of_the_notebook_run(self):
        cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
        self.assertGreater(len(cells), 8)
        names = {"__name__": "__main__"}
        for cell in cells:
            with self.subTest(cell["id"]):
                exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}:{cell['id']}", "exec"), names)

    def test_the_notebook_holds_no_outputs(self):
        for cell in json.loads(NOTEBOOK.read_text())["cells"]:
            self.assertFalse(cell.get("outputs"), cell["id"])
            self.assertIsNone(cell.get("execution_count"), cell["id"])


if __name__ == "__main__":
    unittest.main()
