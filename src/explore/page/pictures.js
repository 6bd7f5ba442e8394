"use strict";
// Cards, timeline, bars and curve of a step, drawn again with each answer.
(() => {
const {make} = auspexExplore;
const byId = id => document.getElementById(id);
const digits = (value, count = 3) => {
    if (value === 0) return "0";
    const whole = Math.abs(value) >= 10 ** (count - 1);
    return whole ? Math.round(value).toLocaleString("en-US") : value.toPrecision(count);
};
const scaled = (value, units) => {
    const [name, scale] = units.find(unit => Math.abs(value) >= unit[1]) || units[units.length - 1];
    return digits(value / scale) + " " + name;
};
const seconds = value => value === 0 ? "0 s" : scaled(value, [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]]);
const bytes = value => scaled(value, [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["KB", 1e3], ["B", 1]]);
const span = value => value >= 86400 ? digits(value / 86400) + " d" : value >= 3600 ? digits(value / 3600) + " h" : value >= 60 ? digits(value / 60) + " min" : seconds(value);
const percent = value => (100 * value).toFixed(1) + " %";
const count = value => scaled(value, [["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1]]).trim();

function showCards(step) {
    const cards = [
        [seconds(step.step_time_s), "step"], [percent(step.mfu), "MFU" + (step.hfu > step.mfu ? ", with recompute " + percent(step.hfu) : "")],
        [digits(step.tflops_per_tile), "model TFLOP/s a tile"], [count(step.tokens_per_s), "tokens a second"],
        [step.memory.fits ? bytes(step.memory.peak_bytes) : "does not fit",
         (step.memory.fits ? "of " : bytes(step.memory.peak_bytes) + " of ") + bytes(step.memory.capacity_bytes) + " of a tile",
         !step.memory.fits],
        [digits(step.step_node_hours), "node-hours a step, " + step.nodes.toLocaleString("en-US") + " nodes"],
        [step.global_batch.toLocaleString("en-US"), "sequences a step, " + count(step.tokens_per_step) + " tokens"],
        ["pp " + step.pp + ", ep " + step.ep + ", dp " + step.dp, "tp " + step.tp + ", etp " + step.etp + ", cp " + step.cp],
    ];
    fillCards(byId("cards"), cards);
}
/* The whole run, where there is one: by closed form. */
function showRun(run, state) {
    byId("run-found").hidden = !run;
    if (!run) {
        byId("run-says").textContent = state.tokens > 0 ? "No whole runs are played on a computer whose ranks share its cores."
            : "Say above how many tokens the run has, such as 4T.";
        return;
    }
    const ends = run.finish_s !== null;
    byId("run-says").textContent = auspexExplore.tokensText(run.tokens) + " tokens are " + run.steps.toLocaleString("en-US") + " steps, " + span(run.steps_alone_s) +
        " without failures, checkpoints and starts. " + (ends ? "With them the run is over after " + span(run.finish_s) + " in the mean."
            : "With them the run gets nowhere: failures come sooner than a checkpoint.");
    fillCards(byId("run-cards"), [
        [ends ? span(run.finish_s) : "never", "until it is over, in the mean", !ends],
        [ends ? digits(run.node_hours) : "no end", "node-hours"],
        [percent(run.goodput), "goodput: steps that are not done again"],
        [span(run.checkpoint_interval_s), "between checkpoints, every " + run.checkpoint_every_steps.toLocaleString("en-US") + " steps; each stalls for " +
            seconds(run.checkpoint_stall_s)],
        [run.interruptions === null ? "no end" : digits(run.interruptions), "failures expected" + (run.mtbf_s === null ? "" : ", one every " + span(run.mtbf_s))],
    ]);
    byId("run-left-out").textContent = run.left_out.length ? "It leaves out: " + run.left_out.join("; ") + "." : "";
    byId("run-line").textContent = run.command;
    const notes = byId("run-notes");
    notes.textContent = "";
    for (const note of run.notes) make("li", notes, {textContent: note});
    notes.parentNode.hidden = !run.notes.length;
    byId("run-found").dataset.run = JSON.stringify(run);
}
function fillCards(box, cards) {
    while (box.children.length < cards.length) {
        const card = make("div", box, {className: "card"});
        make("b", card), make("span", card);
    }
    cards.forEach(([value, meaning, bad], i) => {
        const [big, small] = box.children[i].children;
        big.textContent = value, big.className = bad ? "bad" : "", small.textContent = meaning;
    });
}

/* Rows of a list of bars, kept from picture to picture: [name, words, value, text, colour, title]. */
function showBars(list, rows, most) {
    const known = new Map([...list.children].map(row => [row.dataset.name, row]));
    for (const row of known.values()) row.hidden = true;
    for (const [name, words, value, text, color, title] of rows) {
        let row = known.get(name);
        if (!row) {
            row = make("li", list, {title: title || ""});
            row.dataset.name = name;
            make("span", row, {textContent: words});
            make("span", make("span", row, {className: "bar"}));
            make("span", row, {className: "much"});
        }
        row.hidden = !(value > 0);
        row.dataset.value = value;
        row.children[1].firstChild.className = color;
        row.children[1].firstChild.style.width = Math.min(100, 100 * value / most) + "%";
        row.children[2].textContent = text;
    }
}

function showTimeline(found) {
    const box = byId("timeline");
    if (!box.showTimeline) {
        make("script", box, {type: "application/json", textContent: JSON.stringify(found.timeline)});
        globalThis.auspexTimeline(box);
    } else {
        box.showTimeline(found.timeline);
    }
    byId("timeline-says").textContent = "A band for each pipeline stage; one micro-batch after another. " + (found.merged_below_s > 0
        ? "Operations that follow one another within " + seconds(found.merged_below_s) + " are drawn as one."
        : "Every operation is in it.");
}

auspexExplore.showStep = (found, state) => {
    const {step} = found;
    byId("finding").textContent = seconds(step.step_time_s) + " a step at " + percent(step.mfu) + " MFU" +
        (step.memory.fits ? "" : "; it does not fit in memory");
    byId("finding").className = step.memory.fits ? "" : "bad";
    byId("kind").textContent = state.workload + " on " + step.tiles.toLocaleString("en-US") + " tiles of " + state.machine +
        " with " + state.stack + ", plan " + state.plan;
    showTimeline(found);
    showCards(step);
    const longest = Math.max(...step.losses.map(loss => loss.seconds));
    showBars(byId("losses"), step.losses.map((loss, i) => [loss.name, loss.words, loss.seconds,
        seconds(loss.seconds) + ", " + percent(loss.seconds / step.step_time_s), "l" + i, loss.meaning]), longest);
    const labels = step.memory.by_label, largest = Math.max(...labels.map(label => label.bytes));
    showBars(byId("memory"), labels.map((label, i) => [label.name, label.name, label.bytes, bytes(label.bytes), "l" + i % 13]), largest);
    byId("memory-says").textContent = "On the fullest stage, at its peak: " + step.memory.verdict + ".";
    const notes = byId("notes");
    notes.textContent = "";
    for (const note of step.notes) make("li", notes, {textContent: note});
    byId("command-line").textContent = found.command;
    showRun(found.run, state);
};

const SVG = "http://www.w3.org/2000/svg", BOX = {left: 58, top: 14, bottom: 252, height: 300};
const draw = (name, parent, attributes, text) => {
    const element = parent.appendChild(document.createElementNS(SVG, name));
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
};
/* Efficiency over tiles, from the smallest job that fits in memory; sizes stand at equal distances where they double. */
auspexExplore.showCurve = (found, tiles) => {
    const svg = byId("curve"), points = found.points;
    svg.textContent = "";
    if (!points.length) return;
    const width = svg.clientWidth || 560, right = width - 20;  // a unit is a pixel: text has its size on any window
    svg.setAttribute("viewBox", "0 0 " + width + " " + BOX.height);
    const first = points[0], last = points[points.length - 1], span = Math.log(last.tiles / first.tiles) || 1;
    const whole = points.find(point => point.fits) || first;  // 100 %
    const efficiency = point => point.tokens_per_s_per_tile / whole.tokens_per_s_per_tile;
    const most = Math.max(1.05, ...points.map(efficiency));
    const x = point => BOX.left + 14 + (right - BOX.left - 40) * Math.log(point.tiles / first.tiles) / span;
    const y = value => BOX.bottom - (BOX.bottom - BOX.top) * value / most;
    for (let tick = 0; tick <= most; tick += 0.25) {
        draw("line", svg, {class: "grid", x1: BOX.left, x2: right, y1: y(tick), y2: y(tick)});
        draw("text", svg, {class: "tick", x: BOX.left - 8, y: y(tick) + 4, "text-anchor": "end"}, Math.round(100 * tick) + " %");
    }
    draw("polyline", svg, {class: "curve v0", points: points.map(point => x(point) + "," + y(efficiency(point))).join(" ")});
    let free = -99;
    for (const point of points) {
        const mark = draw("circle", svg, {class: point.fits ? "mark v0" : "mark too-large", cx: x(point), cy: y(efficiency(point)), r: point.tiles === tiles ? 7 : 4});
        draw("title", mark, {}, point.tiles.toLocaleString("en-US") + " tiles: " + seconds(point.step_time_s) + ", " + percent(point.mfu) + " MFU" +
            (point.fits ? "" : "; does not fit in memory"));
        if (x(point) - free > 62) {
            draw("text", svg, {class: "tick", x: x(point), y: BOX.bottom + 20, "text-anchor": "middle"}, point.tiles.toLocaleString("en-US"));
            free = x(point);
        }
    }
    draw("text", svg, {class: "name", x: (BOX.left + right) / 2, y: BOX.bottom + 42, "text-anchor": "middle"}, "tiles");
    const tooLarge = points.filter(point => !point.fits).length;
    byId("curve-says").textContent = "On " + last.tiles.toLocaleString("en-US") + " tiles " + percent(efficiency(last)) + " of " +
        whole.tiles.toLocaleString("en-US") + "; the large point is this job." +
        (!tooLarge ? "" : tooLarge === points.length ? " None of them fits in memory." : " Hollow points do not fit in memory.");
    svg.dataset.points = JSON.stringify(points.map(point => [point.tiles, point.step_time_s]));
};
auspexExplore.noCurve = why => {
    byId("curve").textContent = "";
    byId("curve-says").textContent = why;
};
})();
