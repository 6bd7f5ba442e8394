"""Results: dataclasses with the keys of the documents, tables of rows, notebook display."""

import copy
import dataclasses
import json
import pickle
import types
import typing
import unittest
from html.parser import HTMLParser

import auspex
from auspex._result import Result
from python_fixture import JOB

GIVEN = {key: JOB[key] for key in ("machine", "stack", "workload", "tiles")}
FEW = {"global_batch": 192, "where": ["pp<=2", "ep<=2"]}
CALLS = {
    "predict": lambda: auspex.predict(**JOB, tokens="100B"),
    "unfolded": lambda: auspex.predict(**JOB, lens="unfolded", samples=2, slow={"tile 3": 0.8}),
    "quick": lambda: auspex.predict(**JOB, sensitivity=False),
    "scale": lambda: auspex.scale(**{**JOB, "tiles": [48, 96]}),
    "memory": lambda: auspex.memory(**JOB),
    "place": lambda: auspex.place(**JOB, placements=["contiguous", "random"]),
    "ablate": lambda: auspex.ablate(**JOB),
    "diff": lambda: auspex.diff("toy-dp4", "mula-7b-a1b", **GIVEN),
    "describe": lambda: auspex.describe("mula-7b-a1b", "mula-7b-a1b"),
    "plan": lambda: auspex.plan("aurora", "mula-7b-a1b", tiles=48, plan="mula-7b-a1b", tokens="100B", **FEW),
    "plan_sizes": lambda: auspex.plan_sizes("aurora", "mula-7b-a1b", tiles=[7, 24, 48], **FEW),
    "plan_sizes by finish": lambda: auspex.plan_sizes(
        "aurora", "mula-7b-a1b", tiles=[24, 48], tokens="1T", objective="finish-by", walltime="24h", queue_wait=43200, spares="auto", samples=20, **FEW),
    "plan_vary": lambda: auspex.plan_vary("aurora", "mula-7b-a1b", tiles=48, vary="machine.tile.hbm_capacity=32 GB,64 GB", **FEW),
    "plan_deadline": lambda: auspex.plan_deadline(
        "aurora", "mula-7b-a1b", tiles=[24, 48], deadline="9000d", tokens="1B", **FEW
    ),
    "collective": lambda: auspex.collective("aurora", "all-reduce", 96, bytes="1GiB", placement="random"),
    "collective_sweep": lambda: auspex.collective_sweep("aurora", "all-reduce", 96, bytes=[8, "1GiB"]),
    "fabric": lambda: auspex.fabric("aurora"),
    "three levels": lambda: auspex.fabric("dgx-h100"),
    "program": lambda: auspex.program(**JOB),
    "schedule": lambda: auspex.schedule("zb-h1", {"F": "18 ms", "B": 0.018, "W": "9 ms"}, pp=4, micro_batches=8),
    "campaign": lambda: auspex.campaign(**JOB, tokens="100B", samples=20, walltime="12h", spares=2),
    "bare campaign": lambda: auspex.campaign(
        bare=True, step="8.2s", steps=1000, mtbf="3h", stall="30s", restart="5min", samples=20, vary="interval=5min:1h:3"
    ),
    "startup": lambda: auspex.startup(**JOB, tokens="100B", queue_wait="1h", vary="nodes=8:2048:4"),
    "emit": lambda: auspex.emit("mula-7b-a1b", "mula-7b-a1b", format="megatron-lm"),
    "scenario": lambda: auspex.scenario(**JOB),
    "list_inputs": lambda: auspex.list_inputs(),
}


def problems_of(kind, value, where):
    """Where a value is none of its type: fields that are missing, and attributes that are no field."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is typing.Any:
        return []
    if origin in (typing.Union, types.UnionType):
        tried = [problems_of(one, value, where) for one in arguments]
        return [] if [] in tried else tried[0]
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, kind):
            return [f"{where}: {type(value).__name__} is no {kind.__name__}"]
        hints = typing.get_type_hints(kind)
        names = {field.name for field in dataclasses.fields(kind)}
        keys = {field.metadata.get("key", field.name) for field in dataclasses.fields(kind)}
        there = set(value.to_dict()) - keys if isinstance(value, Result) else set(vars(value)) - names
        found = [f"{where}: no field {name}" for name in there]
        for name in names:
            if not hasattr(value, name):
                found.append(f"{where}.{name}: the document has none")
            else:
                found += problems_of(hints[name], getattr(value, name), f"{where}.{name}")
        return found
    if origin is list:
        if not isinstance(value, list):
            return [f"{where}: no list"]
        return [problem for one in value for problem in problems_of(arguments[0], one, where + "[]")]
    if origin is tuple:
        return [] if isinstance(value, tuple) and len(value) == 2 else [f"{where}: no interval"]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{where}: no object"]
        return [problem for one in value.values() for problem in problems_of(arguments[1], one, where + "{}")]
    right = (int, float) if kind is float else kind
    is_wrong_bool = isinstance(value, bool) and kind is not bool
    return [] if isinstance(value, right) and not is_wrong_bool else [f"{where}: {value!r} is no {kind}"]


class WellFormed(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self, html):
        super().__init__()
        self.opened, self.wrong = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.opened.append(tag)

    def handle_endtag(self, tag):
        if not self.opened or self.opened.pop() != tag:
            self.wrong.append(tag)


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = {name: call() for name, call in CALLS.items()}

    def test_every_result_is_asked_for(self):
        asked = {type(one).__name__ for one in self.results.values()}
        there = {name for name in auspex.__all__ if isinstance(getattr(auspex, name), type) and issubclass(getattr(auspex, name), Result)}
        self.assertEqual(there - asked, {"Imported", "RunDifference"})  # of files that other tests have

    def test_fields_are_the_keys_of_the_documents(self):
        for name, result in self.results.items():
            with self.subTest(name):
                self.assertEqual(problems_of(type(result), result, type(result).__name__), [])

    def test_what_was_not_asked_for_is_none(self):
        self.assertIsNone(self.results["quick"].step_time_interval_s)
        self.assertIsNone(self.results["predict"].samples)
        self.assertEqual(len(self.results["unfolded"].samples), 2)

    def test_rows_are_flat(self):
        for name, result in self.results.items():
            with self.subTest(name):
                rows = result.rows()
                self.assertEqual(len(rows) == 0, name == "three levels")  # its file states no totals
                for table in ["", *result.tables()]:
                    for row in result.rows(table):
                        self.assertFalse([key for key, value in row.items() if isinstance(value, (dict, list))], table)

    def test_rows_say_what_they_are_of(self):
        row = self.results["scale"].rows("points.waterfall")[-1]
        self.assertEqual((row["machine"], row["tiles"], set(row) >= {"cause", "seconds", "mfu"}), ("aurora", 96, True))
        step = self.results["predict"]
        self.assertEqual(step.rows()[0]["losses.exposed_dp"], step.losses["exposed_dp"])
        self.assertEqual(step.rows()[0]["step_time_interval_s.high"], step.step_time_interval_s[1])
        stages = self.results["memory"].rows("stages.passes")
        self.assertEqual({row["pass"] for row in stages}, {"forward", "backward", "optimizer"})

    def test_an_unknown_table_is_refused(self):
        with self.assertRaisesRegex(KeyError, "no table 'pints'; expected one of points"):
            self.results["scale"].rows("pints")

    def test_results_of_equal_documents_are_equal_and_cannot_be_changed(self):
        step = self.results["predict"]
        self.assertEqual(type(step)._of(json.dumps(step.to_dict())), step)
        self.assertNotEqual(step, self.results["quick"])
        self.assertEqual(pickle.loads(pickle.dumps(step)), step)
        self.assertEqual(copy.deepcopy(step), step)
        self.assertEqual(dataclasses.replace(step, mfu=1.0).to_dict()["mfu"], 1.0)
        with self.assertRaises(AttributeError):
            step.no_such_field
        with self.assertRaises(dataclasses.FrozenInstanceError):
            step.mfu = 1

    def test_they_are_shown_in_a_line_and_as_html(self):
        self.assertRegex(repr(self.results["predict"]), r"^Prediction\(mula-7b-a1b, .*: step_time_s 987 ms, .*mfu 5.2 %")
        for name, result in self.results.items():
            with self.subTest(name):
                html = result._repr_html_()
                page = WellFormed(html)
                self.assertEqual((page.opened, page.wrong), ([], []))
                self.assertIn(type(result).__name__, html)
                self.assertLess(len(repr(result)), 400)

    def test_html_shows_texts_as_they_are(self):
        document = {**self.results["predict"].to_dict(), "workload": "<script>", "notes": ["a < b & c"]}
        html = auspex.Prediction._of(json.dumps(document))._repr_html_()
        self.assertIn("&lt;script&gt;", html)
        self.assertIn("a &lt; b &amp; c", html)
        self.assertNotIn("<script>", html)

    def test_pandas_has_the_rows(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        for name, result in self.results.items():
            with self.subTest(name):
                frame = result.to_pandas()
                self.assertEqual(len(frame), len(result.rows()))
                self.assertEqual(set(frame.columns), {key for row in result.rows() for key in row})
        self.assertEqual(list(self.results["scale"].to_pandas()["tiles"]), [48, 96])


if __name__ == "__main__":
    unittest.main()
