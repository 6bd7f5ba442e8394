"""Calls: inputs of every kind, the answers of the command line, errors, threads, Ctrl-C."""

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import auspex
from python_fixture import JOB, ROOT, flags, of_command_line, without_times


def content(folder, name):
    return json.loads((ROOT / folder / f"{name}.json").read_text())


class Inputs(unittest.TestCase):
    def test_names_files_and_dicts_give_the_same_step(self):
        named = auspex.predict(**JOB)
        folders = {"machine": "machines", "stack": "stacks", "workload": "workloads", "plan": "plans"}
        files = {role: ROOT / folder / f"{JOB[role]}.json" for role, folder in folders.items()}
        dicts = {role: content(folder, JOB[role]) for role, folder in folders.items()}
        for inputs in (files, dicts):
            other = auspex.predict(**{**JOB, **inputs})
            self.assertEqual(other.step_time_s, named.step_time_s)
            self.assertEqual(other.step_time_interval_s, named.step_time_interval_s)
            self.assertEqual(other.losses, named.losses)
        self.assertEqual(other.plan, "plan (inline)")

    def test_a_config_of_hugging_face_is_a_workload(self):
        config = json.loads((ROOT / "tests/interop/configs/Mixtral-8x7B-v0.1/config.json").read_text())
        imported = auspex.import_(config, sequence_length=4096)
        self.assertAlmostEqual(imported.parameters / 1e9, 46.7, delta=0.3)
        described = auspex.describe(imported.content)
        self.assertEqual(described.parameters["total"]["total"], imported.parameters)
        self.assertEqual(described.parameters["active"]["total"], imported.active_parameters)

    def test_overrides_are_pairs_or_texts(self):
        pairs = auspex.predict(**JOB, set={"plan.micro_batches": 4, "machine.node.nic.bandwidth": "20 GB/s"})
        texts = auspex.predict(**JOB, set=["plan.micro_batches=4", "machine.node.nic.bandwidth=20 GB/s"])
        self.assertEqual(pairs.overrides, ["plan.micro_batches=4", "machine.node.nic.bandwidth=20 GB/s"])
        self.assertEqual(without_times(pairs.to_dict()), without_times(texts.to_dict()))
        self.assertEqual(pairs.global_batch, 4 * auspex.predict(**JOB).global_batch)

    def test_a_scenario_has_all_of_it(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "job.json"
            auspex.scenario(**JOB, out=file)
            self.assertEqual(auspex.predict(scenario=file).step_time_s, auspex.predict(**JOB).step_time_s)

    def test_files_are_written_where_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            auspex.predict(**JOB, csv=Path(folder) / "step.csv", out=Path(folder) / "page")
            self.assertIn("step_time_s", (Path(folder) / "step.csv").read_text())
            self.assertTrue((Path(folder) / "page/index.html").is_file())


class Answers(unittest.TestCase):
    """The documents are those of the command line, but for the program's own times."""

    def check(self, result, *arguments):
        self.assertEqual(without_times(result.to_dict()), without_times(of_command_line(*arguments)))

    def test_predict(self):
        self.check(auspex.predict(**JOB, tokens="100B"), "predict", *flags(**JOB, tokens="100B"))
        unfolded = {"lens": "unfolded", "samples": 2, "seed": 7}
        self.check(
            auspex.predict(**JOB, **unfolded, slow={"tile 3": 0.8}, sensitivity=False),
            *("predict", *flags(**JOB, **unfolded, slow="tile 3=0.8"), "--no-sensitivity"),
        )

    def test_scale_and_place_and_ablate_and_memory(self):
        sizes = {**JOB, "tiles": [48, 96]}
        self.check(auspex.scale(**sizes, mode="weak"), "scale", *flags(**{**JOB, "tiles": "48,96"}, mode="weak"))
        self.check(
            auspex.place(**JOB, placements=["contiguous", "random:3"]), "place", *flags(**JOB, placements="contiguous,random:3")
        )
        self.check(auspex.ablate(**JOB), "ablate", *flags(**JOB))
        self.check(auspex.memory(**JOB), "memory", *flags(**JOB))

    def test_diff(self):
        given = {key: JOB[key] for key in ("machine", "stack", "workload", "tiles")}
        self.check(auspex.diff("toy-dp4", "mula-7b-a1b", **given), "diff", "toy-dp4", "mula-7b-a1b", *flags(**given))

    def test_predictions_are_diffed_as_they_are(self):
        one, other = auspex.predict(**JOB), auspex.predict(**JOB, set={"plan.micro_batches": 4})
        difference = auspex.diff(one, other)
        total = next(row for row in difference.totals if row.name == "step_time_s")
        self.assertEqual((total.before, total.after), (one.step_time_s, other.step_time_s))
        self.assertEqual((difference.before, difference.after), ("before (inline)", "after (inline)"))

    def test_dicts_are_diffed(self):
        plan = content("plans", "mula-7b-a1b")
        given = {key: JOB[key] for key in ("machine", "stack", "workload", "tiles")}
        difference = auspex.diff(plan, {**plan, "micro_batches": 4}, **given)
        self.assertEqual(difference.kind, "plan")
        self.assertIn("plan.micro_batches", [change.name for change in difference.inputs])

    def test_network(self):
        given = {"machine": "aurora", "kind": "all-reduce", "ranks": 96}
        self.check(auspex.collective(**given, bytes="1GiB"), "collective", *flags(**given, bytes="1GiB"))
        self.check(auspex.collective_sweep(**given, bytes=[8, "1GiB"]), "collective", *flags(**given, bytes="8,1GiB"))
        self.check(auspex.fabric("aurora"), "fabric", "--machine", "aurora")

    def test_a_fabric_that_is_not_what_its_file_states_is_an_answer(self):
        machine = content("machines", "aurora")
        self.assertTrue(all(total.matches for total in auspex.fabric(machine).stated))
        machine["fabric"]["global_links"] = 4
        self.assertFalse(all(total.matches for total in auspex.fabric(machine).stated))

    def test_exchange(self):
        self.check(
            auspex.emit("mula-7b-a1b", "mula-7b-a1b", format="megatron-lm"),
            *("emit", *flags(workload="mula-7b-a1b", plan="mula-7b-a1b", format="megatron-lm")),
        )
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "run.sh"
            emitted = auspex.emit("mula-7b-a1b", "mula-7b-a1b", format="megatron-lm")
            script.write_text(emitted.text)
            plan = auspex.import_(script, "megatron-lm", workload="mula-7b-a1b", tiles=emitted.tiles)
        self.assertEqual(auspex.predict(**{**JOB, "plan": plan.content}).step_time_s, auspex.predict(**JOB).step_time_s)

    def test_describe_and_program_and_list(self):
        self.check(auspex.describe("mula-7b-a1b"), "describe", "--workload", "mula-7b-a1b")
        self.check(auspex.program(**JOB), "program", *flags(**JOB))
        self.check(auspex.list_inputs(), "list")
        self.check(
            auspex.schedule("dualpipev", {"F": 0.01, "B": "10 ms", "W": "9ms"}, pp=4, micro_batches=8, overlap={"F&B": 0.025}),
            "schedule", "--order", "dualpipev", "--times", "F=10ms,B=10ms,W=9ms", "--pp", "4", "--micro-batches", "8", "--overlap", "F&B=25ms",
        )

    def test_plan(self):
        few = {"machine": "aurora", "workload": "mula-7b-a1b", "global-batch": 192, "where": "pp<=2,ep<=2"}
        asked = {"global_batch": 192, "where": ["pp<=2", "ep<=2"]}
        found = auspex.plan("aurora", "mula-7b-a1b", tiles=48, top=3, **asked).to_dict()
        printed = of_command_line("plan", *flags(**few, tiles=48, top=3))
        self.assertEqual(found["best"], printed["best"])
        sizes = auspex.plan_sizes("aurora", "mula-7b-a1b", tiles=[24, 48], **asked)
        self.assertEqual(sizes.to_dict()["sizes"], of_command_line("plan", *flags(**few, tiles="24,48"))["sizes"])
        varied = auspex.plan_vary("aurora", "mula-7b-a1b", tiles=48, vary={"machine.tile.hbm_capacity": ["32 GB", "64 GB"]}, **asked)
        self.assertEqual([one.value for one in varied.values], ["32 GB", "64 GB"])
        late = auspex.plan_deadline("aurora", "mula-7b-a1b", tiles=[24, 48], deadline="9000d", tokens=1e9, **asked)
        self.assertEqual(late.smallest.tiles, 24)


class Errors(unittest.TestCase):
    def caught(self, call, *arguments, **parameters):
        with self.assertRaises(auspex.InputError) as caught:
            call(*arguments, **parameters)
        return caught.exception

    def test_a_dict_is_blamed_with_its_path(self):
        plan = {**content("plans", "mula-7b-a1b"), "micro_batches": 0}
        error = self.caught(auspex.predict, **{**JOB, "plan": plan})
        self.assertEqual((error.file, error.path), ("plan (inline)", "$.micro_batches"))
        self.assertTrue(error.message.startswith("found 0; expected an integer"), error.message)
        self.assertEqual(str(error), f"plan (inline): $.micro_batches: {error.message}")

    def test_a_file_is_blamed_with_its_path_and_what_was_set(self):
        error = self.caught(auspex.predict, **JOB, set={"machine.node.nic.bandwidth": "20 apples"})
        self.assertTrue(error.file.endswith("machines/aurora.json"), error.file)
        self.assertEqual(error.path, "$.node.nic.bandwidth.value")
        self.assertIn("--set machine.node.nic.bandwidth", error.where)

    def test_a_flag_is_blamed_without_a_file(self):
        error = self.caught(auspex.predict, **{**JOB, "machine": "arora"})
        self.assertEqual((error.file, error.path), ("", ""))
        self.assertIn("did you mean aurora", error.message)

    def test_what_is_no_json_is_refused(self):
        for value in (float("nan"), object()):
            error = self.caught(auspex.predict, **{**JOB, "plan": {"dp": value}})
            self.assertEqual(error.file, "plan (inline)")

    def test_what_is_missing_is_said(self):
        self.assertIn("--stack", self.caught(auspex.predict, "aurora").message)
        self.assertIn("expected one of hf", self.caught(auspex.import_, "x", "word").message)

    def test_classes(self):
        error = self.caught(auspex.describe, "no-such-model")
        self.assertIsInstance(error, ValueError)
        self.assertIsInstance(error, auspex.AuspexError)
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))

    def test_a_full_disk_is_no_bad_input(self):
        # No file may grow beyond a kibibyte, as on a disk that is full.
        program = """
import auspex, resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
try:
    auspex.predict("aurora", "optimus", "mula-7b-a1b", "mula-7b-a1b", tiles=48, csv="step.csv")
except auspex.InternalError as error:
    print(isinstance(error, auspex.InputError), "step.csv" in str(error))
"""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.stdout, "False True\n", done.stderr)
            self.assertEqual([name for name in os.listdir(folder) if name.endswith(".csv")], [])


class Threads(unittest.TestCase):
    def test_calls_at_once_give_what_calls_in_turn_give(self):
        batches = [1, 2, 3, 4, 6, 8, 12, 16]

        def step(count):
            return without_times(auspex.predict(**JOB, set={"plan.micro_batches": count}).to_dict())

        in_turn = [step(count) for count in batches]
        with ThreadPoolExecutor(8) as pool:
            for _ in range(3):
                self.assertEqual(list(pool.map(step, batches)), in_turn)

    def test_other_threads_run_meanwhile(self):
        # Without a release of the interpreter the counter would stand still for as long as the call takes.
        counted, end = [0], threading.Event()

        def count():
            while not end.is_set():
                counted[0] += 1
                time.sleep(0.001)

        counter = threading.Thread(target=count)
        counter.start()
        begin, before = time.perf_counter(), counted[0]
        auspex.predict(**JOB, lens="unfolded", samples=2000, sensitivity=False)
        took, during = time.perf_counter() - begin, counted[0] - before
        end.set()
        counter.join()
        self.assertGreater(took, 0.02)
        self.assertGreater(during, 0.1 * took / 0.001)

    def test_errors_of_threads_are_their_own(self):
        def step(count):
            try:
                return auspex.predict(**JOB, set={"plan.micro_batches": count}).global_batch
            except auspex.InputError as error:
                return error.path

        with ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(step, [1, 0, 2, 0])), [48, "$.micro_batches", 96, "$.micro_batches"])


ENDLESS = """
import auspex, time
print("ready", flush=True)
begin = time.monotonic()
try:
    {call}
    print("ended by itself")
except KeyboardInterrupt:
    pass
try:
    print("interrupted", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted again")
"""
SEARCH = 'auspex.plan("aurora", "mula-220b-a10b", tiles=12288, global_batch=12288, exhaustive=True)'
SAMPLES = (
    'auspex.predict("aurora", "optimus", "mula-220b-a10b", "mula-220b-a10b", tiles=3072, lens="unfolded", samples=10000, '
    "sensitivity=False)"
)


class Interrupts(unittest.TestCase):
    def interrupted(self, call):
        """Ctrl-C ends the call, and Python's own handler is there again for the next one."""
        process = subprocess.Popen([sys.executable, "-c", ENDLESS.format(call=call)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(process.stdout.readline(), "ready\n")
            time.sleep(1.5)
            self.assertIsNone(process.poll(), "the call was too short to be interrupted")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.stdout.readline(), "interrupted\n")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.stdout.readline(), "interrupted again\n")
            self.assertEqual(process.wait(timeout=30), 0)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_a_search(self):
        self.interrupted(SEARCH)

    def test_samples(self):
        self.interrupted(SAMPLES)

    def test_calls_that_overlap_leave_the_handler_as_it_was(self):
        # The one that begins first ends first: neither may put back what it found when it began.
        overlap = """
import auspex, threading, time
def play(samples):
    auspex.predict("aurora", "optimus", "mula-7b-a1b", "mula-7b-a1b", tiles=48, lens="unfolded", samples=samples, sensitivity=False)
first, second = threading.Thread(target=play, args=[200]), threading.Thread(target=play, args=[1000])
first.start()
time.sleep(0.05)
second.start()
first.join()
assert second.is_alive()
second.join()
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""
        process = subprocess.Popen([sys.executable, "-c", overlap], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.communicate(timeout=30)[0], "interrupted\n")
        finally:
            process.kill()
            process.wait()

    def test_another_signal_ends_the_program_as_ever(self):
        process = subprocess.Popen([sys.executable, "-c", ENDLESS.format(call=SEARCH)], cwd=ROOT, stdout=subprocess.DEVNULL)
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), -signal.SIGTERM)

    def test_under_mpirun_a_search_stays_in_this_process(self):
        asked = 'auspex.plan("aurora", "mula-7b-a1b", tiles=48, where=["pp<=1", "ep<=1"])'
        done = subprocess.run(
            [sys.executable, "-c", f"import auspex; {asked}; print('still here')"],
            cwd=ROOT, capture_output=True, text=True, env={**os.environ, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"},
        )
        self.assertEqual(done.stdout, "still here\n", done.stderr)


if __name__ == "__main__":
    os.chdir(ROOT)
    unittest.main()
