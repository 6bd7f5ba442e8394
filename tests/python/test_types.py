"""Types and signatures: functions against the flags of their commands, stubs against what is compiled, mypy where it is."""

import ast
import inspect
import re
import shutil
import subprocess
import typing
import unittest

import auspex
from auspex import _core, commands
from python_fixture import ROOT

COMMANDS = {
    **{name: [name] for name in ("describe", "predict", "scale", "memory", "place", "ablate", "diff", "fabric", "emit", "scenario", "schedule", "campaign", "startup")},
    "program": ["program"],
    "plan": ["plan", "plan_sizes", "plan_vary", "plan_deadline"],
    "collective": ["collective", "collective_sweep"],
    "list": ["list_inputs"],
    "version": ["version"],
    **{command: ["import_"] for command in commands.IMPORTS.values()},
}
LEFT_OUT = {
    "plan": {"against"},  # judgements of tables: commands only
    "collective": {"against"},
    "program": {"check-executor", "pipeline-csv"},  # other answers than a program
}
NOT_THERE = {
    "explore", "train", "validate", "verify", "endure", "calibrate", "compare", "manual", "import chakra", "import nccl-tests", "import osu",
    "data blend", "data prepare", "data show", "data export-megatron",
}
PACKAGE = ROOT / "src/python/auspex"


def parameters_of(function):
    names = set(inspect.signature(function).parameters)
    return {"no-sensitivity" if name == "sensitivity" else name.replace("_", "-") for name in names}


class Signatures(unittest.TestCase):
    def test_parameters_are_the_flags_of_the_command(self):
        for command, functions in COMMANDS.items():
            with self.subTest(command):
                flags = set(_core.flags()[command]) - {"json"} - LEFT_OUT.get(command, set())
                parameters = set().union(*(parameters_of(getattr(auspex, function)) for function in functions))
                if functions == ["import_"]:
                    parameters -= {"format"}
                    self.assertLessEqual(flags, parameters)
                else:
                    self.assertEqual(parameters, flags)

    def test_every_command_is_there_or_named(self):
        there = {name for name in _core.flags() if not name.startswith("completion")}
        self.assertLessEqual(there - set(COMMANDS), NOT_THERE)
        self.assertLessEqual(set(COMMANDS), there)

    def test_every_parameter_and_answer_has_a_type(self):
        for name in (name for functions in COMMANDS.values() for name in functions):
            with self.subTest(name):
                function = getattr(auspex, name)
                hints = typing.get_type_hints(function)
                self.assertEqual(set(hints), set(inspect.signature(function).parameters) | {"return"})
                self.assertTrue(function.__doc__)

    def test_stubs_have_the_signatures_of_what_is_compiled(self):
        # pybind11 writes them into the first line: "answer(command: str, flags: List[str]) -> str"
        stub = ast.parse((PACKAGE / "_core.pyi").read_text())
        stubs = {
            node.name: ([(one.arg, ast.unparse(one.annotation)) for one in node.args.args], ast.unparse(node.returns))
            for node in stub.body
            if isinstance(node, ast.FunctionDef)
        }
        compiled = {name for name, value in vars(_core).items() if inspect.isbuiltin(value)}
        self.assertEqual(set(stubs), compiled)
        for name, (arguments, answer) in stubs.items():
            head = getattr(_core, name).__doc__.splitlines()[0]
            found = re.fullmatch(rf"{name}\((.*)\) -> (.*)", head)
            plain = lambda text: text.replace("List", "list").replace("Dict", "dict")
            self.assertEqual(plain(found[1]), ", ".join(f"{argument}: {kind}" for argument, kind in arguments), head)
            self.assertEqual(plain(found[2]), re.sub(r"\[.*", "", answer), head)
        variables = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
        self.assertEqual(variables, {"__version__"})

    def test_the_package_is_typed(self):
        self.assertTrue((PACKAGE / "py.typed").is_file())
        if shutil.which("mypy") is None:
            self.skipTest("mypy is not installed")
        files = [PACKAGE, ROOT / "src/python/packaging/auspex_build.py"]
        done = subprocess.run(
            ["mypy", "--strict", "--ignore-missing-imports", "--python-version", "3.11", "--cache-dir", "/dev/null", *map(str, files)],
            cwd=ROOT, capture_output=True, text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
