"""Builds the wheel of Auspex's module (PEP 517) with CMake and Python's own library alone.

Settings, as pip install . --config-settings=NAME=VALUE gives them:
  build-dir   CMake's build folder (default build/python). One that is configured already is taken as it is.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "src/python/auspex"
DATA = {"machines", "stacks", "workloads", "plans"}
NEEDS = (
    "g++, cmake, and the headers of Boost, nlohmann-json, oneTBB, OpenSSL, zlib, Eigen, pybind11 and Python; Debian: "
    "apt-get install g++ cmake ninja-build libboost-graph-dev libboost-program-options-dev nlohmann-json3-dev "
    "libtbb-dev libssl-dev zlib1g-dev libeigen3-dev pybind11-dev python3-dev"
)

Settings = dict[str, Any] | None


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return []


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    return []


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    module = _compile(config_settings or {})
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}-{re.sub(r'[-.]', '_', sysconfig.get_platform())}"
    name = f"auspex-{_version()}"
    contents = {f"auspex/{module.name}": module.read_bytes()}
    for file in sorted(PACKAGE.iterdir()):
        if file.suffix in (".py", ".pyi") or file.name == "py.typed":
            contents[f"auspex/{file.name}"] = file.read_bytes()
    for file in _data_files():
        contents[f"auspex/data/{file.relative_to(ROOT).as_posix()}"] = file.read_bytes()
    information = f"{name}.dist-info"
    contents[f"{information}/METADATA"] = _metadata().encode()
    contents[f"{information}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    contents[f"{information}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: auspex_build\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    wheel = f"{name}-{tag}.whl"
    _write_wheel(Path(wheel_directory) / wheel, contents, f"{information}/RECORD")
    return wheel


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """What git tracks."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    name = f"auspex-{_version()}"
    with tarfile.open(Path(sdist_directory) / f"{name}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for file in filter(None, listed.split("\0")):
            if (ROOT / file).is_file():
                archive.add(ROOT / file, f"{name}/{file}")
        _add_text(archive, f"{name}/PKG-INFO", _metadata())
    return f"{name}.tar.gz"


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(text.encode())
    archive.addfile(entry, io.BytesIO(text.encode()))


def _compile(settings: dict[str, Any]) -> Path:
    """The module's file."""
    folder = Path(os.path.abspath(settings.get("build-dir", ROOT / "build/python")))
    if shutil.which("cmake") is None:
        raise SystemExit(f"auspex: found no cmake; what is needed: {NEEDS}")
    if not (folder / "CMakeCache.txt").is_file():
        # Without the trainer, and so without what only it needs; for any processor of this kind.
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "BUILD_TESTING": "OFF",
            "AUSPEX_NATIVE": "OFF",
            "AUSPEX_PORTABLE": "ON",
            "AUSPEX_SHARED": "ON",
            "AUSPEX_PYTHON": "ON",
            "Python_EXECUTABLE": sys.executable,
        }
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        _run(["cmake", "-S", ROOT, "-B", folder, *generator, *(f"-D{key}={value}" for key, value in options.items())])
    _run(["cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1), "--target", "auspex_python"])
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    module = folder / "python/auspex" / f"_core{suffix}"
    if not module.is_file():
        raise SystemExit(
            f"auspex: found no {module}; expected a build folder for {sys.executable}: "
            "name another one with --config-settings=build-dir=DIR"
        )
    return module


def _run(command: list[Any]) -> None:
    if subprocess.run([str(word) for word in command]).returncode != 0:
        raise SystemExit(f"auspex: {command[0]} {command[1]} failed, as above; what is needed: {NEEDS}")


def _version() -> str:
    found = re.search(r"project\(auspex VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit("auspex: found no version in CMakeLists.txt")
    return found.group(1)


def _metadata() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {_version()}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
    ]
    for extra, packages in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {package}; extra == "{extra}"' for package in packages]
    return "\n".join(lines) + "\n\n" + (ROOT / "docs/python.md").read_text(encoding="utf-8")


def _data_files() -> Iterator[Path]:
    for folder in sorted(DATA):
        for file in sorted((ROOT / folder).rglob("*")):
            is_of_this_computer = folder == "machines" and file.name.startswith("local")
            if file.suffix in (".json", ".csv") and file.is_file() and not is_of_this_computer:
                yield file


def _write_wheel(path: Path, contents: dict[str, bytes], record: str) -> None:
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(data)}")
            _add(archive, name, data)
        _add(archive, record, ("\n".join([*lines, f"{record},,"]) + "\n").encode())


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name)  # of a fixed date: the same files give the same wheel
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
    archive.writestr(entry, data)
