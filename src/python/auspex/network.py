"""Collectives and fabrics. Fields are the keys of docs/json-output.md, with their units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ._result import Result


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A phase of a collective, over all of its rounds."""

    what: str
    rounds: int
    latency_s: float
    reduction_s: float
    bytes: float
    rate_bytes_per_s: float
    time_s: float
    bottleneck: str


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """Another algorithm."""

    algorithm: str
    levels: int
    time_s: float


@dataclass(frozen=True, kw_only=True)
class SizedCollective:
    """A collective of one size."""

    bytes: int
    time_s: float
    algorithm: str
    levels: int
    algorithm_bandwidth_bytes_per_s: float
    bus_bandwidth_bytes_per_s: float
    bottleneck: str
    phases: list[Phase]
    alternatives: list[Alternative]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Who takes part, where, with which transport."""

    kind: str
    ranks: int
    groups: int
    group_size: int
    stride: int
    alone: bool
    zipf: float
    nodes: int
    placement: str
    seed: int | None = None
    machine: str
    stack: str
    transport: str
    transport_date: str
    measured_on: str
    overrides: list[str]
    notes: list[str]
    version: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Collective(Result, Group, SizedCollective):
    """Of collective(): a row a phase."""

    _table: ClassVar = "phases"
    _headline: ClassVar = ("kind", "ranks", "bytes", "time_s", "bus_bandwidth_bytes_per_s", "bottleneck")


@dataclass(frozen=True, kw_only=True, repr=False)
class CollectiveSweep(Result, Group):
    """Of collective_sweep(): a row a size."""

    _table: ClassVar = "sweep"
    _headline: ClassVar = ("kind", "ranks", "nodes")

    sweep: list[SizedCollective]


@dataclass(frozen=True, kw_only=True)
class StatedTotal:
    """A total that the machine file states, beside what its links give."""

    name: str
    stated: float
    built: float
    difference: float
    matches: bool


@dataclass(frozen=True, kw_only=True, repr=False)
class Fabric(Result):
    """Of fabric(): a machine's network, built link by link. Where a stated total does not match, `stated` says so."""

    _table: ClassVar = "stated"
    _headline: ClassVar = ("machine", "kind", "nodes", "tiles", "bisection_bytes_per_s", "taper")

    machine: str
    file: str
    sha256: str
    overrides: list[str]
    version: str
    what_if: bool
    kind: str
    nodes: int
    tiles: int
    nics: int
    blocks: int
    pods: int
    switches: int
    spines: int
    cores: int
    links: dict[str, int]
    diameter_switches: int
    injection_bytes_per_s: float
    global_bytes_per_s: float
    bisection_bytes_per_s: float
    block_out_bytes_per_s: float
    block_injection_bytes_per_s: float
    taper: float
    stated: list[StatedTotal]
    pod_out_bytes_per_s: float | None = None
    pod_injection_bytes_per_s: float | None = None
    pod_uplinks_bytes_per_s: float | None = None
    pod_taper_of_nics: float | None = None
    pod_taper_of_uplinks: float | None = None
