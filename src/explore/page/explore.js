"use strict";
// The page's state, and its loops: the latest state is asked for, one step at a time and one curve beside it.
(() => {
const {make, ask} = auspexExplore;
const byId = id => document.getElementById(id);
const ROLES = ["machine", "stack", "workload", "plan"];
const CURVE_WAITS = 150;  // milliseconds that a curve may be put off while a slider moves

const start = JSON.parse(byId("start").textContent);
const state = Object.fromEntries([...ROLES, "tiles", "tokens"].map(key => [key, start[key]]));
const overrides = new Map(start.set.map(text => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]));
const places = {constants: byId("constant-fields"), plan: byId("plan-fields")};
const page = Math.random().toString(36).slice(2);
let fields = new Map(), jobFields = new Map(), version = 0, drawn = -1, curved = -1, since = null, busy = false, well = false, curving = false, stepping = null, lastCurve = 0;

const request = what => ({ask: what, ...state, set: [...overrides].map(([field, text]) => field + "=" + text)});
const inRequest = what => ({...request(what), page, number: version});

/* When what has just been drawn is on the screen: milliseconds since the event that asked for it. */
function timed(list, began) {
    if (began === null) return;
    requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => { list.push(performance.now() - began); };
        channel.port2.postMessage(0);
    });
}

function complain(error) {
    for (const field of [...fields.values(), ...jobFields.values()]) field.complain("");
    const trouble = byId("trouble");
    trouble.hidden = !error;
    trouble.textContent = error ? error.message : "";
    byId("pictures").classList.toggle("stale", !!error);
    document.body.dataset.error = error ? error.message : "";
    if (!error) return;
    let name = error.field || "";
    while (name && !fields.has(name) && !jobFields.has(name)) name = name.slice(0, Math.max(name.lastIndexOf("."), 0));
    const field = fields.get(name) || jobFields.get(name);
    if (field) field.complain(error.message.replace(/^[^$]*\$\.\S+: /, ""));
}

async function step() {
    const asked = version, began = since;
    since = null;
    try {
        const found = await ask(inRequest("step"));
        complain(null);
        auspexExplore.showStep(found, state);
        auspexExplore.tiles = found.step.tiles;
        timed(auspexExplore.times.step, began);
        auspexExplore.began = began;
        drawn = asked;
        document.body.dataset.drawn = asked;
        return true;
    } catch (error) {
        complain(error);
        drawn = asked;
        document.body.dataset.drawn = asked;
        return false;
    }
}
/* The server drops a curve once the page asks for a newer step, but for one that was put off for long. */
async function curve() {
    const asked = version, mayDrop = performance.now() - lastCurve < CURVE_WAITS;
    try {
        const found = await ask({...inRequest("curve"), page: mayDrop ? page : page + "-late"});
        if (found.outdated) return;
        if (drawn !== asked) await stepping;  // which says the tiles
        auspexExplore.showCurve(found, auspexExplore.tiles);
        if (asked === version) timed(auspexExplore.times.curve, auspexExplore.began);
    } catch (error) {
        auspexExplore.noCurve(error.message);
    }
    curved = asked, lastCurve = performance.now();
    document.body.dataset.curved = asked;
}
/* Beside the first step of a movement, behind those that follow at once: there it would be dropped and slow them. */
async function followCurve(isFirst) {
    if (curving) return;
    curving = true;
    while (well && curved !== version && (isFirst || drawn === version || performance.now() - lastCurve >= CURVE_WAITS)) {
        isFirst = false;
        await curve();
    }
    curving = false;
}
async function follow() {
    if (busy) return;
    busy = true;
    for (let isFirst = true; drawn !== version; isFirst = false) {
        stepping = step();
        followCurve(isFirst);
        well = await stepping;
        followCurve(false);
    }
    busy = false;
}
function changed(event) {
    document.body.dataset.asked = ++version;  // this and its like: for tests
    if (since === null) since = event ? event.timeStamp : performance.now();
    follow();
}

async function loadFields() {
    try {
        const about = await ask(request("fields"));
        fields = auspexExplore.makeFields(about, overrides, changed, places);
        for (const field of overrides.keys()) if (!fields.has(field) && !/^(machine|stack|workload|plan)\./.test(field)) overrides.delete(field);
        makeJob(about.names);
        filter();
        complain(null);
    } catch (error) {
        complain(error);
    }
}
function choose(role, name, names) {
    state[role] = name;
    for (const field of [...overrides.keys()]) if (field.startsWith(role + ".")) overrides.delete(field);
    if (role === "workload" && names.plan.includes(name)) choose("plan", name, names);
}
function makeJob(names) {
    const box = byId("job-fields");
    box.textContent = "";
    jobFields = new Map();
    const row = (name, control, label) => {
        const element = make("div", box, {className: "field"});
        make("label", element, {htmlFor: "job-" + name, textContent: label});
        element.append(control);
        control.id = "job-" + name;
        const fault = make("span", element, {className: "fault", id: "job-" + name + "-fault"});
        control.setAttribute("aria-describedby", fault.id);
        jobFields.set(name, {complain: message => {
            fault.textContent = message;
            control.setAttribute("aria-invalid", message ? "true" : "false");
        }});
    };
    for (const role of ROLES) {
        const select = document.createElement("select");
        for (const name of names[role]) make("option", select, {value: name, textContent: name});
        select.value = state[role];
        select.addEventListener("change", async event => {
            choose(role, select.value, names);
            await loadFields();
            byId("job-" + role).focus();
            changed(event);
        });
        row(role, select, role);
    }
    const tiles = Object.assign(document.createElement("input"), {type: "number", min: 0, step: 1, value: state.tiles});
    tiles.addEventListener("input", event => {
        const wanted = Number(tiles.value);
        if (!Number.isInteger(wanted) || wanted < 0) return jobFields.get("tiles").complain("a whole number; 0: what the plan's dp gives");
        state.tiles = wanted;
        changed(event);
    });
    row("tiles", tiles, "tiles (0: what the plan's dp gives)");
    const tokens = Object.assign(document.createElement("input"), {type: "text", value: auspexExplore.tokensText(state.tokens)});
    tokens.addEventListener("input", event => {
        const wanted = tokens.value.trim() ? auspexExplore.tokensOf(tokens.value) : 0;
        if (!(wanted >= 0)) return jobFields.get("tokens").complain("a number, such as 4T or 300B; empty: no whole run");
        state.tokens = wanted;
        changed(event);
    });
    row("tokens", tokens, "tokens of the whole run");
}

const filter = () => auspexExplore.filterFields(fields, places, byId("find").value, byId("only-set").checked);
byId("find").addEventListener("input", filter);
byId("only-set").addEventListener("change", filter);
byId("reset").addEventListener("click", event => {
    overrides.clear();
    for (const field of fields.values()) field.show();
    filter();
    changed(event);
});
byId("controls").addEventListener("submit", event => event.preventDefault());
function copies(button, line, said) {
    byId(button).addEventListener("click", async () => {
        try {
            await navigator.clipboard.writeText(byId(line).textContent);
            byId(said).textContent = "copied";
        } catch {
            getSelection().selectAllChildren(byId(line));
            byId(said).textContent = "selected: copy it with the keyboard";
        }
    });
}
copies("copy", "command-line", "copied");
copies("run-copy", "run-line", "run-copied");
loadFields().then(() => changed(null));
})();
