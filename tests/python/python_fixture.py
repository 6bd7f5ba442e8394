"""What tests of the module share."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOB = {"machine": "aurora", "stack": "optimus", "workload": "mula-7b-a1b", "plan": "mula-7b-a1b", "tiles": 48}
TIMES = ("elapsed_s", "sensitivity_elapsed_s", "plans_per_s")
"""The program's own times: all that differs between equal calls."""


def without_times(value):
    """A document without the program's own times."""
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key not in TIMES}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


def of_command_line(*arguments):
    """What auspex prints with --json."""
    done = subprocess.run([os.environ["AUSPEX"], *arguments, "--json"], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def flags(**parameters):
    """Flags of plain values, by hand: what the module makes is not asked."""
    return [word for name, value in parameters.items() for word in (f"--{name}", str(value))]
