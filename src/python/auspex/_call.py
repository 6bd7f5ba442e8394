"""From parameters to flags, and from answers to documents."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _core
from .errors import InputError, InternalError

Input = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""A machine, stack, workload or plan: the name of one that came with Auspex ("aurora"), a file, or the content of one."""
Path_ = Union[str, "os.PathLike[str]"]
Overrides = Union[Mapping[str, Any], Sequence[str]]
"""{"plan.pp": 4, "machine.node.nic.bandwidth": "30 GB/s"}, or ["plan.pp=4"]."""
Count = Union[int, float, str]
"""A number, or a text with a unit: "100B" tokens, "1 GiB", "14d"."""

_HERE = Path(__file__).resolve().parent


def _data_folder() -> str:
    """Beside the package in an installation; the repository where the package is a link into it."""
    for folder in (_HERE / "data", *_HERE.parents[2:3]):
        if (folder / "machines").is_dir() and (folder / "workloads").is_dir():
            return str(folder)
    return ""


_core.set_up(_data_folder(), InputError, InternalError)


def _word(value: Any) -> str:
    """A value as the command line has it."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e18:
        return str(int(value))
    return json.dumps(value, allow_nan=False)


def _text(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        try:
            return json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} (inline)", f"found what is no JSON: {error}; expected text, numbers, lists, dicts") from None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(_word(one) for one in value)
    return _word(value)


def _pairs(value: Any, between: str = "=") -> list[str]:
    """Values of a flag that may be repeated: {"plan.pp": 4} or ["plan.pp=4"]."""
    if isinstance(value, Mapping):
        return [f"{key}{between}{_word(one)}" for key, one in value.items()]
    return [value] if isinstance(value, str) else list(value)


def flags_of(parameters: Mapping[str, Any]) -> list[str]:
    """Each parameter that is given as its flag."""
    flags: list[str] = []
    for name, value in parameters.items():
        if name == "sensitivity":
            name, value = "no_sensitivity", not value
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            flags.append(flag)
        elif name in ("set", "slow"):
            for pair in _pairs(value):
                flags += (flag, pair)
        else:
            flags += (flag, _text(name, value))
    return flags


def answer_to(command: str, parameters: Mapping[str, Any]) -> str:
    """The JSON text that the command answers with."""
    return _core.answer(command, flags_of(parameters))
