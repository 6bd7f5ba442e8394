"""The page of auspex explore in a browser: sliders are dragged, and what is drawn must be what auspex predict says.
usage: explore_page.py AUSPEX ADDRESS        (ADDRESS as auspex explore printed it, or that of its file)
With the file axe.min.js in $AXE_CORE the accessibility checker axe-core looks at it, too."""

import json
import os
import pathlib
import subprocess
import sys

from chromium import Chromium

auspex, address = sys.argv[1:3]
faults = []


def check(holds, what):
    if not holds:
        faults.append(what)


def settled(page):
    page.wait_for("(({asked, drawn, curved}) => asked !== undefined && asked === drawn && asked === curved)(document.body.dataset)", 60)


def shown(page):
    """What the page shows: its command, seconds by loss, bytes by label, the curve's points."""
    return page.ask("""({
        command: document.getElementById("command-line").textContent,
        finding: document.getElementById("finding").textContent,
        losses: Object.fromEntries([...document.querySelectorAll("#losses li")].map(row => [row.dataset.name, Number(row.dataset.value)])),
        memory: Object.fromEntries([...document.querySelectorAll("#memory li")].map(row => [row.dataset.name, Number(row.dataset.value)])),
        curve: JSON.parse(document.getElementById("curve").dataset.points),
        run: JSON.parse(document.getElementById("run-found").dataset.run || "null"),
        run_cards: [...document.querySelectorAll("#run-cards .card b")].map(card => card.textContent),
        timeline: Number(document.getElementById("timeline").dataset.to),
        pixels: [...document.querySelector("#timeline canvas").getContext("2d").getImageData(0, 0, 600, 200).data].reduce((a, b, i) => (a * 31 + b) % 1000003, 7),
    })""")


def predicted(command):
    """What the command that the page shows prints, with --json."""
    line = command.replace("auspex ", f"'{auspex}' ", 1) + " --no-sensitivity --json"
    return json.loads(subprocess.run(line, shell=True, check=True, capture_output=True, text=True).stdout)


def compare(page, what):
    found = shown(page)
    expected = predicted(found["command"])
    check(found["losses"] == expected["losses"], f"{what}: losses {found['losses']}, predicted {expected['losses']}")
    labels = {name: bytes_ for name, bytes_ in expected["memory"]["by_label"].items()}
    check(found["memory"] == labels, f"{what}: memory {found['memory']}, predicted {labels}")
    check(abs(found["timeline"] - 1e9 * expected["step_time_s"]) <= 1, f"{what}: the timeline ends at {found['timeline']} ns")
    here = [step for tiles, step in found["curve"] if tiles == expected["tiles"]]
    check(here == [expected["step_time_s"]], f"{what}: the curve has {here} at {expected['tiles']} tiles")
    return found


def check_layout(page):
    check(page.ask("document.documentElement.scrollWidth <= innerWidth"), "something is over the edge at "
          + str(page.ask("innerWidth")))
    unnamed = page.ask("""[...document.querySelectorAll("input, select, button")].filter(e => !e.closest("[hidden]") &&
        !(e.labels && e.labels.length) && !e.getAttribute("aria-label") && !e.textContent.trim()).map(e => e.outerHTML)""")
    check(not unnamed, f"without a name: {unnamed}")


def check_access(page, what):
    """No violation of any rule of axe-core, in light and dark."""
    axe = os.environ.get("AXE_CORE")
    if not axe:
        return
    page.ask(pathlib.Path(axe).read_text() + "; 0")
    for scheme in ("light", "dark"):
        page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        found = page.ask("""axe.run(document, {resultTypes: ["violations"]}).then(found => found.violations.map(
            one => one.id + " (" + one.impact + "): " + one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(" | ")))""")
        faults.extend(f"{what}, {scheme}: {violation}" for violation in found)


def put(page, field, text):
    """Types a text into a field of a constant, or chooses a word."""
    page.ask("""((field, text) => {
        const input = document.querySelector(`[data-field="${field}"] input, [data-field="${field}"] select`);
        input.value = text;
        input.dispatchEvent(new Event("input", {bubbles: true}));
    })""" + f"({json.dumps(field)}, {json.dumps(text)})")


def check_fault(page):
    """A value that is refused is said beside its field, and leaves with it."""
    said = """document.querySelector('[data-field="machine.tile.gemm_ceiling"] .fault').textContent"""
    put(page, "machine.tile.gemm_ceiling", "7")
    page.wait_for(said)
    check("from 0.01 to 1" in page.ask(said), "the fault says what is allowed: " + page.ask(said))
    check(page.ask("document.getElementById('pictures').classList.contains('stale')"), "pictures are pale while an input is wrong")
    put(page, "machine.tile.gemm_ceiling", "0.82")
    page.wait_for("!" + said)


def check_plan(page):
    """Fields of the plan, the number of tiles, and a plan that does not fit."""
    put(page, "plan.optimizer", "replicated")
    put(page, "machine.tile.hbm_capacity", "40 GB")
    page.wait_for("document.getElementById('finding').textContent.includes('does not fit')")
    settled(page)
    compare(page, "replicated optimizer")
    page.ask("document.getElementById('reset').click()")
    page.wait_for("!document.getElementById('finding').textContent.includes('does not fit')")
    settled(page)
    page.ask("""(() => {
        const tiles = document.getElementById("job-tiles");
        tiles.value = 1000;
        tiles.dispatchEvent(new Event("input", {bubbles: true}));
    })()""")
    page.wait_for("document.getElementById('job-tiles-fault').textContent")
    page.ask("""(() => {
        const tiles = document.getElementById("job-tiles");
        tiles.value = 1536;
        tiles.dispatchEvent(new Event("input", {bubbles: true}));
    })()""")
    page.wait_for("!document.getElementById('job-tiles-fault').textContent")
    settled(page)
    compare(page, "1536 tiles")


def check_too_large(page):
    """With 25 GB a tile the job fits, and jobs of 96 and 192 tiles do not: 100 % is the first that does."""
    put(page, "machine.tile.hbm_capacity", "25 GB")
    page.wait_for("document.querySelectorAll('#curve .too-large').length === 2")
    settled(page)
    sizes = [tiles for tiles, _ in shown(page)["curve"]]
    check(sizes[:3] == [96, 192, 384], f"sizes of the curve: {sizes}")
    marks = page.ask("""[...document.querySelectorAll("#curve circle")].map(mark => [mark.classList.contains("too-large"), Number(mark.getAttribute("cy"))])""")
    check([hollow for hollow, _ in marks[:3]] == [True, True, False], f"hollow marks: {marks}")
    whole = page.ask("""Number([...document.querySelectorAll("#curve .tick")].find(tick => tick.textContent === "100 %").getAttribute("y")) - 4""")
    check(abs(marks[2][1] - whole) < 0.01, f"384 tiles at {marks[2][1]}, 100 % at {whole}")
    says = page.ask("document.getElementById('curve-says').textContent")
    check("of 384;" in says and "Hollow points do not fit" in says, says)
    page.ask("document.getElementById('reset').click()")
    page.wait_for("!document.querySelectorAll('#curve .too-large').length")
    settled(page)


def check_run(page):
    """The whole run follows its tokens, and the command that plays it is over as soon, within what chance and the step's interval do."""
    def put_tokens(text):
        page.ask("""(text => {
            const tokens = document.getElementById("job-tokens");
            tokens.value = text;
            tokens.dispatchEvent(new Event("input", {bubbles: true}));
        })""" + f"({json.dumps(text)})")
    before = shown(page)
    check(before["run"]["tokens"] == 1e12, f"the page begins with 1 T tokens: {before['run']}")
    put_tokens("500B")
    page.wait_for("JSON.parse(document.getElementById('run-found').dataset.run).tokens === 5e11")
    settled(page)
    after = shown(page)
    check(abs(after["run"]["finish_s"] / before["run"]["finish_s"] - 0.5) < 0.01, "half the tokens take half the time")
    check(after["run_cards"] != before["run_cards"], f"cards follow: {after['run_cards']}")
    line = after["run"]["command"].replace("auspex ", f"'{auspex}' ", 1) + " --no-sensitivity --samples 300 --json"
    played = json.loads(subprocess.run(line, shell=True, check=True, capture_output=True, text=True).stdout)
    check(abs(after["run"]["finish_s"] / played["finish_by"]["mean"] - 1) < 0.02, f"{after['run']}, played {played['finish_by']}")
    check(after["run"]["steps"] == played["steps"], "as many steps")
    put_tokens("much")
    page.wait_for("document.getElementById('job-tokens-fault').textContent")
    put_tokens("")
    page.wait_for("document.getElementById('run-found').hidden")
    settled(page)
    put_tokens("1T")
    page.wait_for("!document.getElementById('run-found').hidden && !document.getElementById('job-tokens-fault').textContent")
    settled(page)


def check_other_machine(page):
    page.ask("""(() => {
        const select = document.getElementById("job-machine");
        select.value = "frontier";
        select.dispatchEvent(new Event("change", {bubbles: true}));
    })()""")
    page.wait_for("document.getElementById('command-line').textContent.includes('--machine frontier')")
    settled(page)
    compare(page, "another machine")


with Chromium() as page:
    page.open(address)
    page.wait_for("document.body && document.body.dataset.drawn", 60)
    settled(page)
    before = compare(page, "as it begins")
    check_layout(page)
    slider = '[data-field="machine.tile.gemm_bf16"] input[type=range]'
    page.drag(slider, [0.5, 0.45, 0.4, 0.36, 0.33, 0.3])
    settled(page)
    after = compare(page, "after a drag")
    check("--set 'machine.tile.gemm_bf16=" in after["command"], "the command has what was set: " + after["command"])
    for picture in ("finding", "losses", "curve", "timeline", "pixels"):
        check(before[picture] != after[picture], picture + " stands still")
    times = page.ask("auspexExplore.times")
    check(times["step"] and times["curve"], "times are taken")
    print("milliseconds from input to picture:", {what: [round(t, 1) for t in list_] for what, list_ in times.items()})
    page.ask("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    check_access(page, "1,280 pixels")
    check_fault(page)
    check_run(page)
    check_too_large(page)
    check_plan(page)
    check_other_machine(page)
    page.send("Emulation.setDeviceMetricsOverride", width=480, height=900, deviceScaleFactor=1, mobile=True)
    page.ask("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    check_layout(page)
    check_access(page, "480 pixels")
    faults += [fault for fault in page.faults() if "status of 400" not in fault]  # refusals that were asked for

for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
