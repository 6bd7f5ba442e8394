"use strict";
// Timelines on one time axis, drawn on a canvas and zoomed: wheel (once the picture has the focus), pinch, drag, keys, buttons.
// Spans narrower than a pixel share it: it has the colour of the group that has most of its time, so nothing vanishes.
(() => {
const FONT = "12px system-ui, sans-serif", TEXT = 12, HEAD = 22, AXIS = 34, STRIP = 8;
const MOST_LANES_PX = 560, LEAST_LANE = 3, MOST_LANE = 15, BETWEEN = 4;
const BINS = 64, DETAIL = 48;  // a run narrower than so many pixels is drawn by its profile
const WHITE_ON = new Set([0, 7, 8]);  // colours on which white text is read

/* Runs of spans that are alike are held once: templates, and per lane which of them begins when. docs/json-output.md */
function bytesOf(text) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
    return bytes;
}
function readerOf(bytes) {
    let at = 0;
    const whole = () => {
        let value = 0, scale = 1, byte;
        do {
            byte = bytes[at++], value += (byte & 127) * scale, scale *= 128;
        } while (byte & 128);
        return value;
    };
    const signed = () => {
        const value = whole();
        return value % 2 ? -(value + 1) / 2 : value / 2;
    };
    return {whole, signed};
}
/* Besides its spans a template has how long each group takes in it, and which group most of each of BINS equal parts. */
function readTemplates(reader, kinds, groups) {
    return Array.from({length: reader.whole()}, () => {
        const template = {spans: [], end: 0, length: 0, totals: new Float64Array(groups), profile: null};
        for (let left = reader.whole(); left > 0; --left) {
            const kind = reader.whole(), layer = reader.whole() - 1, start = template.end + reader.signed();
            template.end = start + reader.whole();
            const merged = kinds[kind].merged ? {count: reader.whole(), busy: reader.whole()} : null;
            template.spans.push({kind, layer, start, end: template.end, merged});
            template.totals[kinds[kind].group] += template.end - start;
            template.length = Math.max(template.length, template.end);
        }
        return template;
    });
}
function profileOf(template, kinds) {
    if (template.profile) return template.profile;
    const groups = template.totals.length, times = new Float64Array(BINS * groups), per = BINS / (template.length || 1);
    for (const span of template.spans) {
        const from = span.start * per, to = span.end * per, group = kinds[span.kind].group;
        for (let bin = Math.max(0, Math.floor(from)); bin < BINS && bin < to; ++bin) {
            times[bin * groups + group] += Math.min(to, bin + 1) - Math.max(from, bin);
        }
    }
    template.profile = new Int8Array(BINS).fill(-1);
    for (let bin = 0; bin < BINS; ++bin) {
        let most = 0.05;  // of the bin: less is not seen
        for (let group = 0; group < groups; ++group) {
            if (times[bin * groups + group] > most) most = times[bin * groups + group], template.profile[bin] = group;
        }
    }
    return template.profile;
}
function decode(panel, groups) {
    const kinds = panel.kinds.map(([name, group, merged]) => ({name, group, merged}));
    const reader = readerOf(bytesOf(panel.data)), templates = readTemplates(reader, kinds, groups);
    const lanes = panel.lanes.map(([role, stream]) => {
        const count = reader.whole();
        const lane = {role, stream, start: new Float64Array(count), template: new Uint32Array(count), batch: new Int32Array(count), longest: 0};
        let end = 0;
        for (let i = 0; i < count; ++i) {
            const template = templates[lane.template[i] = reader.whole()];
            lane.start[i] = end + reader.signed(), lane.batch[i] = reader.whole() - 1;
            end = lane.start[i] + template.end;
            lane.longest = Math.max(lane.longest, template.length);
        }
        return lane;
    });
    return {title: panel.title, kinds, templates, lanes};
}

/* Nanoseconds as people read them: digits enough to tell `step` apart, in the unit of the largest that stand together. */
function timeText(ns, step, largest = ns) {
    const most = Math.max(largest, step);
    const [unit, name] = most >= 1e9 ? [1e9, "s"] : most >= 1e6 ? [1e6, "ms"] : most >= 1e3 ? [1e3, "µs"] : [1, "ns"];
    const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)));
    return (ns / unit).toFixed(decimals) + " " + name;
}
const durationText = ns => timeText(ns, ns / 100 || 1);
/* The first run of a lane that may reach `time`: sorted by start, and none is longer than the longest. */
function firstAt(lane, time) {
    let low = 0, high = lane.start.length;
    const wanted = time - lane.longest;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (lane.start[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}

function makeTimeline(box) {
    const data = JSON.parse(box.querySelector("script").textContent);
    let panels = data.panels.map(panel => decode(panel, data.groups.length)), length = data.length;
    const view = {from: 0, to: length};
    let layout = null, colors = [], queued = false, pointer = null;

    const controls = box.appendChild(document.createElement("div"));
    controls.className = "controls";
    const press = (label, name, act) => {
        const button = controls.appendChild(document.createElement("button"));
        button.type = "button", button.textContent = label;
        button.setAttribute("aria-label", name);
        button.addEventListener("click", act);
    };
    press("+", "zoom in", () => zoom(0.5));
    press("−", "zoom out", () => zoom(2));
    press("←", "earlier", () => pan(-0.3));
    press("→", "later", () => pan(0.3));
    press("all", "all: the whole step", () => show(0, length));
    const shown = controls.appendChild(document.createElement("span"));
    shown.className = "soft";
    const canvas = box.appendChild(document.createElement("canvas"));
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", data.title + ". Plus and minus zoom, arrows move, 0 shows all.");
    const said = box.appendChild(document.createElement("p"));
    said.className = "said";
    said.setAttribute("aria-live", "polite");
    const legend = box.appendChild(document.createElement("ul"));
    legend.className = "legend";
    for (const [name, color] of data.groups) {
        const item = legend.appendChild(document.createElement("li"));
        item.appendChild(document.createElement("span")).className = "swatch l" + color;
        item.append(name);
    }
    const hint = "Click into the picture, then: the wheel or + and − zoom, dragging or the arrow keys move, 0 shows all; two " +
                 "fingers zoom, too. What the pointer is on is named here.";
    const context = canvas.getContext("2d");

    function readColors() {
        const style = getComputedStyle(document.documentElement), color = name => style.getPropertyValue(name).trim();
        colors = data.groups.map(group => color("--l" + group[1]));
        colors.ink = color("--ink"), colors.soft = color("--soft"), colors.rule = color("--rule"), colors.card = color("--card");
    }
    /* Where panels, bands of roles and lanes of streams stand. */
    function place() {
        const width = canvas.clientWidth, lanes = panels.reduce((sum, panel) => sum + panel.lanes.length, 0);
        const bands = panels.reduce((sum, panel) => sum + new Set(panel.lanes.map(lane => lane.role)).size, 0);
        const height = Math.min(MOST_LANE, Math.max(LEAST_LANE, (MOST_LANES_PX - bands * BETWEEN) / lanes));
        const narrow = width < 600, left = narrow ? 58 : height >= 11 ? 118 : 66;
        const rows = [], heads = [];
        let y = STRIP + 6;
        for (const panel of panels) {
            if (panel.title) heads.push({text: panel.title, y: y + 15}), y += HEAD;
            let role = null, labelled = -99;
            for (const lane of panel.lanes) {
                const begins = lane.role !== role;
                if (begins) role = lane.role, y += rows.length ? BETWEEN : 0;
                const named = begins && y - labelled >= TEXT + 2;
                if (named) labelled = y;
                rows.push({panel, lane, y, height, role: named ? role : "", stream: height >= 11 && !narrow ? lane.stream : ""});
                y += height;
            }
            y += 8;
        }
        layout = {width, left, right: width - 8, rows, heads, bottom: y, height: y + AXIS};
        const scale = devicePixelRatio || 1;
        canvas.width = Math.round(width * scale), canvas.height = Math.round(layout.height * scale);
        canvas.style.height = layout.height + "px";
    }

    const toX = time => layout.left + (time - view.from) / (view.to - view.from) * (layout.right - layout.left);
    const toTime = x => view.from + (x - layout.left) / (layout.right - layout.left) * (view.to - view.from);

    /* Collects rectangles by group, and what is wide enough for its name. What shares a pixel is gathered in `share`. */
    function drawLane(row, rects, texts) {
        const {lane, panel, y, height} = row, {left, right} = layout, per = (right - left) / (view.to - view.from);
        const share = new Float64Array(data.groups.length);
        let pixel = -1, filled = false;
        const flush = () => {
            if (!filled) return;
            let most = 0;
            for (let group = 1; group < share.length; ++group) if (share[group] > share[most]) most = group;
            rects[most].push(pixel, y, 1, height - 1);
            share.fill(0), filled = false;
        };
        const gather = (x, group, time) => {
            if (Math.floor(x) !== pixel) flush(), pixel = Math.floor(x);
            share[group] += Math.max(time, 1e-9), filled = true;
        };
        const drawSpan = (i, span) => {
            const x0 = left + (lane.start[i] + span.start - view.from) * per, x1 = x0 + (span.end - span.start) * per;
            if (x1 <= left || x0 >= right) return;
            const from = Math.max(left, x0), to = Math.min(right, x1), group = panel.kinds[span.kind].group;
            if (to - from < 1.5) return gather(from, group, to - from);
            flush();
            pixel = -1;
            rects[group].push(from, y, to - from - (to - from > 4 ? 0.5 : 0), height - 1);
            if (height >= 12 && to - from > 44) texts.push([panel.kinds[span.kind].name, group, from, to, y]);
        };
        for (let i = firstAt(lane, view.from); i < lane.start.length && lane.start[i] < view.to; ++i) {
            const template = panel.templates[lane.template[i]], x0 = left + (lane.start[i] - view.from) * per;
            const x1 = x0 + template.length * per, wide = x1 - x0;
            if (x1 <= left) continue;
            if (wide >= DETAIL || template.spans.length === 1) {
                for (const span of template.spans) drawSpan(i, span);
            } else if (wide < 1.5) {
                if (x0 >= left) template.totals.forEach((time, group) => { if (time > 0) gather(x0, group, time * per); });
            } else {
                flush();
                pixel = -1;
                const profile = profileOf(template, panel.kinds), first = Math.max(Math.ceil(left), Math.floor(x0));
                for (let x = first; x < x1 && x < right; ++x) {
                    const group = profile[Math.max(0, Math.min(BINS - 1, Math.floor((x + 0.5 - x0) / wide * BINS)))];
                    if (group >= 0) rects[group].push(x, y, 1, height - 1);
                }
            }
        }
        flush();
    }
    function drawAxis() {
        const {left, right, bottom} = layout, wanted = Math.max(2, (right - left) / 80), raw = (view.to - view.from) / wanted;
        const power = 10 ** Math.floor(Math.log10(raw)), step = power * [1, 2, 5, 10].find(lead => lead * power >= raw);
        context.textAlign = "center";
        for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) {
            const x = toX(tick);
            context.fillStyle = colors.rule;
            context.fillRect(x, STRIP + 6, 1, bottom - STRIP - 6);
            context.fillStyle = colors.soft;
            const text = timeText(tick, step, view.to), half = context.measureText(text).width / 2;
            context.fillText(text, Math.min(Math.max(x, left + half), right - half), bottom + 16);
        }
        context.fillStyle = colors.card;  // what of the step is in view
        context.fillRect(left, 0, right - left, STRIP);
        context.fillStyle = colors.soft;
        context.fillRect(left + (right - left) * view.from / length, 0, Math.max(3, (right - left) * (view.to - view.from) / length), STRIP);
    }
    function draw() {
        queued = false;
        if (!layout) return;
        const scale = devicePixelRatio || 1, begun = performance.now();
        context.setTransform(scale, 0, 0, scale, 0, 0);
        context.clearRect(0, 0, layout.width, layout.height);
        context.font = FONT;
        drawAxis();
        const rects = data.groups.map(() => []), texts = [];
        for (const row of layout.rows) drawLane(row, rects, texts);
        rects.forEach((list, group) => {
            context.fillStyle = colors[group];
            for (let i = 0; i < list.length; i += 4) context.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]);
        });
        context.textAlign = "left";
        for (const [name, group, x0, x1, y] of texts) {
            context.save();
            context.beginPath(), context.rect(x0, y, x1 - x0 - 2, 40), context.clip();
            context.fillStyle = WHITE_ON.has(data.groups[group][1]) ? "#fff" : "#111";
            context.fillText(name, x0 + 3, y + 11);
            context.restore();
        }
        context.fillStyle = colors.ink;
        for (const head of layout.heads) context.fillText(head.text, layout.left, head.y);
        for (const row of layout.rows) {
            context.textAlign = "left", context.fillStyle = colors.ink;
            if (row.role) context.fillText(row.role, 0, row.y + 11);
            context.textAlign = "right", context.fillStyle = colors.soft;
            if (row.stream) context.fillText(row.stream, layout.left - 6, row.y + 11);
        }
        const fine = (view.to - view.from) / 1e3;
        shown.textContent = timeText(view.from, fine, view.to) + " to " + timeText(view.to, fine);
        box.dataset.drawn = (performance.now() - begun).toFixed(2);  // milliseconds, for tests

    }
    const redraw = () => { if (!queued) queued = true, requestAnimationFrame(draw); };

    function show(from, to) {
        const wide = Math.min(length, Math.max(to - from, 50));  // nanoseconds at least
        view.from = Math.max(0, Math.min(from, length - wide));
        view.to = view.from + wide;
        box.dataset.from = view.from, box.dataset.to = view.to;  // for tests
        redraw();
    }
    const zoom = (factor, at = (view.from + view.to) / 2) =>
        show(at - (at - view.from) * factor, at + (view.to - at) * factor);
    const pan = share => show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));

    /* The span under a point, or the nearest one within two pixels. */
    function spanAt(x, y) {
        const row = layout.rows.find(one => y >= one.y && y < one.y + one.height);
        if (!row || x < layout.left) return null;
        const {lane, panel} = row, time = toTime(x), slack = 2 * (view.to - view.from) / (layout.right - layout.left);
        let best = null, distance = slack;
        for (let i = firstAt(lane, time - slack); i < lane.start.length && lane.start[i] <= time + slack; ++i) {
            const template = panel.templates[lane.template[i]];
            if (lane.start[i] + template.length < time - slack) continue;
            for (const span of template.spans) {
                const start = lane.start[i] + span.start, end = lane.start[i] + span.end;
                const off = Math.max(start - time, time - end, 0);
                if (off < distance || (off === 0 && end > time)) best = {row, run: i, span, start, end}, distance = off;
            }
        }
        return best;
    }
    function name(found) {
        if (!found) {
            said.textContent = hint;
            return;
        }
        const {row: {lane, panel}, span, start, end} = found, batch = lane.batch[found.run];
        const kind = panel.kinds[span.kind], parts = [lane.role + ", " + lane.stream];
        if (panel.title) parts.unshift(panel.title);
        if (span.layer >= 0) parts.push("layer " + span.layer);
        if (batch >= 0) parts.push("micro-batch " + batch);
        const what = span.merged ? span.merged.count + " " + kind.name + ", busy " + durationText(span.merged.busy) + " of" : kind.name + ",";
        said.textContent = what + " " + durationText(end - start) + " from " + timeText(start, Math.max(1, (end - start) / 100)) +
            " (" + parts.join("; ") + ")";
    }

    /* Pointers: one drags, two pinch. */
    const pointers = new Map();
    const place2 = event => {
        const bounds = canvas.getBoundingClientRect();
        return {x: event.clientX - bounds.left, y: event.clientY - bounds.top};
    };
    canvas.addEventListener("pointerdown", event => {
        pointers.set(event.pointerId, place2(event));
        canvas.setPointerCapture(event.pointerId);
        name(spanAt(place2(event).x, place2(event).y));
    });
    canvas.addEventListener("pointermove", event => {
        const now = place2(event), before = pointers.get(event.pointerId);
        if (!before) {
            pointer = now;
            name(spanAt(now.x, now.y));
            return;
        }
        const per = (view.to - view.from) / (layout.right - layout.left);
        if (pointers.size === 1) {
            show(view.from - (now.x - before.x) * per, view.to - (now.x - before.x) * per);
        } else {
            const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
            const apart = Math.abs(before.x - other.x), next = Math.abs(now.x - other.x);
            if (apart > 8 && next > 8) zoom(apart / next, toTime(other.x));
        }
        pointers.set(event.pointerId, now);
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, event => pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => { pointer = null, name(null); });
    canvas.addEventListener("dblclick", event => zoom(0.25, toTime(place2(event).x)));
    canvas.addEventListener("wheel", event => {
        if (document.activeElement !== canvas && !event.ctrlKey && !event.metaKey) return;  // the page scrolls
        event.preventDefault();
        const x = place2(event).x;
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / (layout.right - layout.left));
        else zoom(Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.003))), toTime(x));
    }, {passive: false});
    canvas.addEventListener("keydown", event => {
        const acts = {"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => show(0, length),
                      Home: () => show(0, length), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2)};
        if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        acts[event.key]();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColors(), redraw(); });
    new ResizeObserver(() => {
        if (canvas.clientWidth > 0 && (!layout || layout.width !== canvas.clientWidth)) place(), redraw();
    }).observe(canvas);
    /* Another timeline of the same groups in its place, drawn at once; the same parts of it are in view. */
    box.showTimeline = next => {
        const part = next.length / length;
        panels = next.panels.map(panel => decode(panel, data.groups.length)), length = next.length;
        view.from *= part, view.to *= part;
        box.dataset.from = view.from, box.dataset.to = view.to;
        if (layout && layout.width === canvas.clientWidth && hasPlaces()) draw();
        else if (canvas.clientWidth > 0) place(), draw();
    };
    /* True if each lane of the layout is one of the panels', which it then shows. */
    function hasPlaces() {
        const lanes = panels.flatMap(panel => panel.lanes.map(lane => ({panel, lane})));
        const same = (row, {lane}) => row && row.lane.role === lane.role && row.lane.stream === lane.stream;
        if (lanes.length !== layout.rows.length || !lanes.every((one, i) => same(layout.rows[i], one))) return false;
        lanes.forEach((one, i) => Object.assign(layout.rows[i], one));
        return true;
    }
    readColors();
    name(null);
    show(0, length);
    if (canvas.clientWidth > 0) place(), draw();
}
globalThis.auspexTimeline = makeTimeline;  // for pages that make theirs later

for (const box of document.querySelectorAll("div.timeline")) if (box.querySelector("script")) makeTimeline(box);
})();
