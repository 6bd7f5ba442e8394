"""pip install . without a package index, into a folder of its own, and a prediction from there. Exit code 77: no pip.

usage: wheel_test.py BUILD_FOLDER
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import auspex
from python_fixture import JOB, ROOT

if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
    print("skipped: no pip; Debian: python3-pip")
    sys.exit(77)

PROGRAM = """
import json, sys
import auspex
print(json.dumps([auspex.__file__, auspex.version()["data"], auspex.predict(**json.loads(sys.argv[1])).step_time_s]))
"""

with tempfile.TemporaryDirectory() as folder:
    target = Path(folder) / "of anyone"
    install = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", target, ROOT]
    subprocess.run([sys.executable, *install, f"--config-settings=build-dir={sys.argv[1]}"], check=True, cwd=folder)
    environment = {**os.environ, "PYTHONPATH": str(target)}
    environment.pop("AUSPEX_DATA", None)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(JOB)], check=True, cwd=folder, env=environment, capture_output=True, text=True
    )
    module, data, step_time_s = json.loads(done.stdout)
    assert Path(module).is_relative_to(target), module
    assert Path(data).is_relative_to(target), data
    assert step_time_s == auspex.predict(**JOB).step_time_s, step_time_s
    assert not list(target.rglob("machines/local*")), "a machine of this computer is in the wheel"
    assert (target / "auspex/py.typed").is_file()
