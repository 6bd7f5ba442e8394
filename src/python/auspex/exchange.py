"""Files of other projects, scenarios, and what there is. Fields are the keys of docs/json-output.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ._result import Result
from .results import Named


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A setting of another framework, and the field that it comes from."""

    name: str
    value: str
    field_: str = field(metadata={"key": "from"})


@dataclass(frozen=True, kw_only=True, repr=False)
class Emission(Result):
    """Of emit(): a plan as another framework takes it. `text` is what to write to a file."""

    _table: ClassVar = "settings"
    _headline: ClassVar = ("format", "workload", "plan", "tiles")

    format: str
    workload: str
    plan: str
    tiles: int
    settings: list[Setting]
    notes: list[str]
    text: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Imported(Result):
    """Of import_(): a workload or plan, as predict() takes it, and what was left out or taken for granted."""

    _headline: ClassVar = ("format", "parameters", "active_parameters", "ranks")

    format: str
    content: dict[str, Any]
    notes: list[str]
    parameters: float | None = None
    active_parameters: float | None = None
    active_parameters_without_embedding: float | None = None
    ranks: int | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Scenario(Result):
    """Of scenario(): all inputs of a job in one JSON text."""

    _headline: ClassVar = ("file",)

    file: str
    text: str


@dataclass(frozen=True, kw_only=True, repr=False)
class PipelineSchedule(Result):
    """Of schedule(): an order of passes, played."""

    _headline: ClassVar = ("order", "ranks", "micro_batches", "makespan_s", "bubble_rate")

    order: str
    version: str
    ranks: int
    stages: int
    micro_batches: int
    times: dict[str, float]
    makespan_s: float
    span_s: float
    bubble_rate: float
    in_flight: list[int]
    in_flight_until_weights: list[int]


@dataclass(frozen=True, kw_only=True, repr=False)
class Program(Result, Named):
    """Of program(): blocks of operations, and the order in which each stage runs them; a row an operation."""

    _table: ClassVar = "blocks.operations"
    _headline: ClassVar = ("micro_batches", "chunks")

    micro_batches: int
    chunks: int
    blocks: list[dict[str, Any]]
    roles: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A name that the functions take, its file, and what it is."""

    name: str
    file: str
    text: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Listing(Result):
    """Of list_inputs(): what came with Auspex, and what is in the working directory."""

    machines: list[Listed] | None = None
    stacks: list[Listed] | None = None
    workloads: list[Listed] | None = None
    plans: list[Listed] | None = None

    def rows(self, table: str = "") -> list[dict[str, Any]]:
        """Without a table all of them, with the folder that each is in."""
        if table:
            return super().rows(table)
        return [{"of": of, **entry} for of, entries in self.to_dict().items() for entry in entries]
