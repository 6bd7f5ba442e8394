"""The commands of `auspex` as functions: parameters are its flags, answers its JSON as dataclasses.

All of them release the interpreter while they work, and may be called by several threads at once. Ctrl-C ends them:
searches, samples and sizes at once, a single step when it is done. `auspex COMMAND --help` says what each flag means.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _core
from ._call import Count, Input, Overrides, Path_, answer_to
from .campaigns import Campaign, Startup
from .errors import InputError
from .exchange import Emission, Imported, Listing, PipelineSchedule, Program, Scenario
from .network import Collective, CollectiveSweep, Fabric
from .results import Ablation, Description, Difference, MemoryCourse, Placements, Prediction, RunDifference, Scaling
from .searches import PlanDeadline, PlanSearch, PlanSizes, PlanVariation

IMPORTS = {
    "hf": "import hf",
    "megatron-lm": "import megatron",
    "optimus": "import optimus",
    "torchtitan": "import torchtitan",
    "deepspeed": "import deepspeed",
}
"""Formats that import_() reads, and the commands that do."""


def describe(
    workload: Input,
    plan: Input | None = None,
    *,
    tiles: int | None = None,
    nodes: int | None = None,
    machine: Input | None = None,
    set: Overrides | None = None,
) -> Description:
    """Parameters, FLOP and bytes of a workload, and the layout that a plan gives it."""
    return Description._of(answer_to("describe", locals()))


def predict(
    machine: Input | None = None,
    stack: Input | None = None,
    workload: Input | None = None,
    plan: Input | None = None,
    *,
    tiles: int | None = None,
    nodes: int | None = None,
    global_batch: int | None = None,
    scenario: Path_ | None = None,
    set: Overrides | None = None,
    lens: str | None = None,
    seed: int | None = None,
    samples: int | None = None,
    slow: Mapping[str, float] | Sequence[str] | None = None,
    tokens: Count | None = None,
    sensitivity: bool = True,
    advice: int | None = None,
    trace: Path_ | None = None,
    trace_ranks: Sequence[int] | str | None = None,
    chakra: Path_ | None = None,
    chakra_roles: bool = False,
    chakra_limit: Count | None = None,
    out: Path_ | None = None,
    csv: Path_ | None = None,
) -> Prediction:
    """Simulate one training step: time, losses, memory, causes. `sensitivity=False` leaves out the interval."""
    return Prediction._of(answer_to("predict", locals()))


def scale(
    machine: Input | None = None,
    stack: Input | None = None,
    workload: Input | None = None,
    plan: Input | None = None,
    *,
    tiles: int | Sequence[int] | None = None,
    nodes: int | Sequence[int] | None = None,
    global_batch: int | None = None,
    scenario: Path_ | None = None,
    set: Overrides | None = None,
    mode: str | None = None,
    tokens: Count | None = None,
    sensitivity: bool = True,
    advice: int | None = None,
    out: Path_ | None = None,
    csv: Path_ | None = None,
) -> Scaling:
    """Predict several sizes: how efficiency falls and why. The first size is the reference."""
    return Scaling._of(answer_to("scale", locals()))


def memory(
    machine: Input | None = None,
    stack: Input | None = None,
    workload: Input | None = None,
    plan: Input | None = None,
    *,
    tiles: int | None = None,
    nodes: int | None = None,
    global_batch: int | None = None,
    scenario: Path_ | None = None,
    set: Overrides | None = None,
    out: Path_ | None = None,
    csv: Path_ | None = None,
) -> MemoryCourse:
    """What fills a tile's memory, stage by stage and label by label, and how it comes and goes over the step."""
    return MemoryCourse._of(answer_to("memory", locals()))


def place(
    machine: Input | None = None,
    stack: Input | None = None,
    workload: Input | None = None,
    plan: Input | None = None,
    *,
    placements: Sequence[str] | str,
    tiles: int | None = None,
    nodes: int | None = None,
    global_batch: int | None = None,
    scenario: Path_ | None = None,
    set: Overrides | None = None,
    out: Path_ | None = None,
    csv: Path_ | None = None,
) -> Placements:
    """Compare placements of one job: contiguous, scattered, random[:SEED], scheduled[:FREE[:SEED]]."""
    return Placements._of(answer_to("place", locals()))


def ablate(
    machine: Input | None = None,
    stack: Input | None = None,
    workload: Input | None = None,
    plan: Input | None = None,
    *,
    tiles: int | None = None,
    nodes: int | None = None,
    global_batch: int | None = None,
    scenario: Path_ | None = None,
    set: Overrides | None = None,
    out: Path_ | None = None,
    csv: Path_ | None = None,
) -> Ablation:
    """Compare expert kernels and optimizer sharding: loop and sharded against fused and ep-aware."""
    return Ablation._of(answer_to("ablate", locals()))


def diff(
    before: Input | Prediction,
    after: Input | Prediction,
    *,
    machine: Input | None = None,
    stack: Input | None = None,
    workload: Input | None = None,
    plan: Input | None = None,
    tiles: int | None = None,
    nodes: int | None = None,
    global_batch: int | None = None,
    set: Overrides | None = None,
    step: int | None = None,
    rank: int | None = None,
    out: Path_ | None = None,
    csv: Path_ | None = None,
) -> Difference | RunDifference:
    """Set two plans, machines, stacks, workloads or predictions side by side, or a plan's prediction beside a trace."""
    given = dict(locals())
    for side in ("before", "after"):
        if isinstance(given[side], Prediction):
            given[side] = given[side].to_dict()
    answer = answer_to("diff", given)
    return RunDifference._of(answer) if "trace" in _core.members(answer)[0] else Difference._of(answer)


def _seconds(value: Count) -> str:
    return value if isinstance(value, str) else f"{value!r} s"


_RUN_TIMES = ("step", "mtbf", "stall", "write", "restart", "detect", "watchdog", "replenish", "swap", "walltime", "queue_wait", "deadline", "time_limit")


def _with_times(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Times of runs: texts as they are, numbers as seconds."""
    return {name: _seconds(value) if name in _RUN_TIMES and value is not None else value for name, value in parameters.items()}


def plan(
    machine: Input,
    workload: Input,
    *,
    tiles: int | None = None,
    nodes: int | None = None,
    stack: Input | None = None,
    global_batch: int | None = None,
    plan: Input | None = None,
    where: Sequence[str] | str | None = None,
    set: Overrides | None = None,
    top: int | None = None,
    exhaustive: bool = False,
    time_limit: Count | None = None,
    what_if: bool = False,
    tokens: Count | None = None,
    objective: str | None = None,
    walltime: Count | None = None,
    queue_wait: Count | None = None,
    spares: int | str | None = None,
    mtbf: Count | None = None,
    stall: Count | None = None,
    write: Count | None = None,
    restart: Count | None = None,
    swap: Count | None = None,
    failed_starts: float | None = None,
    replenish: Count | None = None,
    maintenance: str | None = None,
    checkpoint_every: Count | None = None,
    without: Sequence[str] | str | None = None,
    samples: int | None = None,
    seed: int | None = None,
    checkpoint: Path_ | None = None,
    resume: Path_ | None = None,
    scenario: Path_ | None = None,
    out: Path_ | None = None,
    format: str | None = None,
    csv: Path_ | None = None,
) -> PlanSearch:
    """Pick the layout: the fastest plans that fit, or with objective="finish-by" those whose run of so many tokens is over first."""
    return PlanSearch._of(answer_to("plan", _with_times(locals())))


def plan_sizes(
    machine: Input,
    workload: Input,
    *,
    tiles: Sequence[int] | str | None = None,
    nodes: Sequence[int] | str | None = None,
    objective: str | None = None,
    stack: Input | None = None,
    global_batch: int | None = None,
    plan: Input | None = None,
    where: Sequence[str] | str | None = None,
    set: Overrides | None = None,
    exhaustive: bool = False,
    what_if: bool = False,
    tokens: Count | None = None,
    walltime: Count | None = None,
    queue_wait: Count | None = None,
    spares: int | str | None = None,
    mtbf: Count | None = None,
    stall: Count | None = None,
    write: Count | None = None,
    restart: Count | None = None,
    swap: Count | None = None,
    failed_starts: float | None = None,
    replenish: Count | None = None,
    maintenance: str | None = None,
    checkpoint_every: Count | None = None,
    without: Sequence[str] | str | None = None,
    samples: int | None = None,
    seed: int | None = None,
    out: Path_ | None = None,
    format: str | None = None,
    csv: Path_ | None = None,
) -> PlanSizes:
    """The best plan of each of several sizes, [24, 48] or "12..384", and the one that the objective picks."""
    return PlanSizes._of(answer_to("plan", _with_times(locals())))


def plan_deadline(
    machine: Input,
    workload: Input,
    *,
    deadline: str,
    tokens: Count,
    tiles: Sequence[int] | str | None = None,
    nodes: Sequence[int] | str | None = None,
    stack: Input | None = None,
    global_batch: int | None = None,
    plan: Input | None = None,
    where: Sequence[str] | str | None = None,
    set: Overrides | None = None,
    exhaustive: bool = False,
    what_if: bool = False,
    format: str | None = None,
    csv: Path_ | None = None,
) -> PlanDeadline:
    """The smallest of several sizes that trains so many tokens in this time, such as "14d"."""
    return PlanDeadline._of(answer_to("plan", locals()))


def plan_vary(
    machine: Input,
    workload: Input,
    *,
    vary: Mapping[str, Sequence[Any]] | str,
    tiles: int | None = None,
    nodes: int | None = None,
    stack: Input | None = None,
    global_batch: int | None = None,
    plan: Input | None = None,
    where: Sequence[str] | str | None = None,
    set: Overrides | None = None,
    exhaustive: bool = False,
    what_if: bool = False,
    out: Path_ | None = None,
    csv: Path_ | None = None,
) -> PlanVariation:
    """Search once for each value of a field: {"machine.tile.hbm_capacity": ["64 GB", "128 GB"]}."""
    given = dict(locals())
    if isinstance(vary, Mapping):
        if len(vary) != 1:
            raise InputError("vary", f"found {len(vary)} fields; expected one")
        (path, values), = vary.items()
        given["vary"] = f"{path}=" + ",".join(str(value) for value in values)
    return PlanVariation._of(answer_to("plan", given))


def collective(
    machine: Input,
    kind: str,
    ranks: int,
    *,
    stack: Input | None = None,
    bytes: Count | None = None,
    algorithm: str | None = None,
    levels: int | None = None,
    groups_of: int | None = None,
    stride: int | None = None,
    alone: bool = False,
    zipf: float | None = None,
    placement: str | None = None,
    seed: int | None = None,
    set: Overrides | None = None,
    out: Path_ | None = None,
    csv: Path_ | None = None,
) -> Collective:
    """Time one collective: algorithms, phases, what bounds it."""
    return Collective._of(answer_to("collective", locals()))


def collective_sweep(
    machine: Input,
    kind: str,
    ranks: int,
    *,
    bytes: Sequence[Count] | str,
    stack: Input | None = None,
    algorithm: str | None = None,
    levels: int | None = None,
    groups_of: int | None = None,
    stride: int | None = None,
    alone: bool = False,
    zipf: float | None = None,
    placement: str | None = None,
    seed: int | None = None,
    set: Overrides | None = None,
    out: Path_ | None = None,
    csv: Path_ | None = None,
) -> CollectiveSweep:
    """The same over several sizes: [8, "64KiB"], or all powers of two in "8:1GiB"."""
    return CollectiveSweep._of(answer_to("collective", locals()))


def fabric(machine: Input, *, set: Overrides | None = None, out: Path_ | None = None) -> Fabric:
    """A machine's network: what its links give, beside what the machine file states."""
    return Fabric._of(answer_to("fabric", locals()))


def program(
    machine: Input | None = None,
    stack: Input | None = None,
    workload: Input | None = None,
    plan: Input | None = None,
    *,
    tiles: int | None = None,
    nodes: int | None = None,
    global_batch: int | None = None,
    scenario: Path_ | None = None,
    set: Overrides | None = None,
) -> Program:
    """The operations of a step, block by block, and the order in which each pipeline stage runs the blocks."""
    return Program._of(answer_to("program", locals()))


def schedule(
    order: Path_,
    times: Mapping[str, Count] | Sequence[str] | str,
    *,
    pp: int | None = None,
    micro_batches: int | None = None,
    virtual_stages: int | None = None,
    overlap: Mapping[str, Count] | str | None = None,
    in_flight: int | None = None,
    kept_for_weights: float | None = None,
    svg: Path_ | None = None,
    csv: Path_ | None = None,
) -> PipelineSchedule:
    """An order of pipeline passes, by its name or as a file, played with given times: {"F": "18.5 ms", "B": …, "W": …, "send": …}."""
    given = dict(locals())
    for name in ("times", "overlap"):
        if isinstance(given[name], Mapping):
            given[name] = [f"{key}={_seconds(value)}" for key, value in given[name].items()]
    return PipelineSchedule._of(answer_to("schedule", given))


def campaign(
    machine: Input | None = None,
    stack: Input | None = None,
    workload: Input | None = None,
    plan: Input | None = None,
    *,
    tiles: int | None = None,
    nodes: int | None = None,
    global_batch: int | None = None,
    scenario: Path_ | None = None,
    set: Overrides | None = None,
    tokens: Count | None = None,
    sensitivity: bool = True,
    bare: bool = False,
    step: Count | None = None,
    steps: Count | None = None,
    mtbf: Count | None = None,
    failures: str | None = None,
    stall: Count | None = None,
    write: Count | None = None,
    restart: Count | None = None,
    checkpoint_every: Count | None = None,
    detect: Count | None = None,
    silent: float | None = None,
    soft: float | None = None,
    watchdog: Count | None = None,
    failed_starts: float | None = None,
    machines: int | None = None,
    daily_failure: float | None = None,
    spares: int | str | None = None,
    replenish: Count | None = None,
    swap: Count | None = None,
    lemons: str | None = None,
    slow_nodes: str | None = None,
    walltime: Count | None = None,
    queue_wait: Count | None = None,
    maintenance: str | None = None,
    without: Sequence[str] | str | None = None,
    samples: int | None = None,
    seed: int | None = None,
    deadline: Count | None = None,
    start: str | None = None,
    build_index: bool = False,
    vary: str | None = None,
    optimise: str | None = None,
    objective: str | None = None,
    out: Path_ | None = None,
    csv: Path_ | None = None,
) -> Campaign:
    """Play whole training runs, from failure to failure. Times are texts, "8.2s", or seconds."""
    return Campaign._of(answer_to("campaign", _with_times(locals())))


def startup(
    machine: Input | None = None,
    stack: Input | None = None,
    workload: Input | None = None,
    plan: Input | None = None,
    *,
    tiles: int | None = None,
    nodes: int | None = None,
    scenario: Path_ | None = None,
    set: Overrides | None = None,
    tokens: Count | None = None,
    queue_wait: Count | None = None,
    without: Sequence[str] | str | None = None,
    vary: str | None = None,
    csv: Path_ | None = None,
) -> Startup:
    """From a job's submission to its first step, phase by phase. `queue_wait` is a text, "12h", or seconds."""
    given = dict(locals())
    given["queue_wait"] = queue_wait and _seconds(queue_wait)
    return Startup._of(answer_to("startup", given))


def emit(
    workload: Input | None = None,
    plan: Input | None = None,
    *,
    format: str,
    tiles: int | None = None,
    nodes: int | None = None,
    global_batch: int | None = None,
    scenario: Path_ | None = None,
    machine: Input | None = None,
    stack: Input | None = None,
    set: Overrides | None = None,
    job: str | None = None,
    steps: int | None = None,
    out: Path_ | None = None,
) -> Emission:
    """A plan as megatron-lm, optimus, torchtitan or deepspeed take it; with `job` a script to submit."""
    return Emission._of(answer_to("emit", locals()))


def import_(
    config: Path_ | Mapping[str, Any],
    format: str = "hf",
    *,
    sequence_length: int | None = None,
    set: Overrides | None = None,
    tiles: int | None = None,
    workload: Input | None = None,
    args: Path_ | None = None,
    function: str | None = None,
    out: Path_ | None = None,
) -> Imported:
    """A config.json of Hugging Face (a file, a folder, or a dict) as a workload, or settings of a framework as a plan."""
    given = dict(locals())
    if given.pop("format") not in IMPORTS:
        raise InputError("format", f"found {format!r}; expected one of {', '.join(IMPORTS)}")
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(config, Mapping):
            given["config"] = os.path.join(folder, "config.json")
            Path(given["config"]).write_text(json.dumps(config), encoding="utf-8")
        given["out"] = out if out is not None else os.path.join(folder, "imported.json")
        answer = json.loads(answer_to(IMPORTS[format], given))
        content = json.loads(Path(given["out"]).read_text(encoding="utf-8"))
    known = ("notes", "parameters", "active_parameters", "active_parameters_without_embedding", "ranks")
    document = {"format": format, "content": content, **{key: answer[key] for key in known if key in answer}}
    return Imported._of(json.dumps(document))


def scenario(
    machine: Input | None = None,
    stack: Input | None = None,
    workload: Input | None = None,
    plan: Input | None = None,
    *,
    tiles: int | Sequence[int] | None = None,
    nodes: int | Sequence[int] | None = None,
    global_batch: int | None = None,
    scenario: Path_ | None = None,
    tokens: Count | None = None,
    set: Overrides | None = None,
    out: Path_ | None = None,
) -> Scenario:
    """All inputs of a job in one JSON text, which predict(scenario=FILE) takes."""
    return Scenario._of(answer_to("scenario", locals()))


def list_inputs(of: str | None = None) -> Listing:
    """Machines, stacks, workloads and plans that there are, by name."""
    return Listing._of(answer_to("list", locals()))


def version() -> dict[str, Any]:
    """What this is: version, commit, compiler, libraries, and where its data are."""
    document: dict[str, Any] = json.loads(answer_to("version", {}))
    return document
