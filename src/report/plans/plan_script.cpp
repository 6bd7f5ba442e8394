/// @file Style and script as text.
#include "report/plans/plan_script.hpp"

namespace auspex::report {

const char* const kPlanStyle = R"css(
.controls{display:flex;flex-wrap:wrap;gap:.5em 1em;align-items:center;margin:.8em 0 .2em;font-size:.92rem}
.controls label{display:flex;gap:.5em;align-items:center;max-width:100%}
.controls input,.controls select{font:inherit;color:inherit;background:var(--card);border:1px solid var(--rule);
border-radius:6px;padding:4px 8px;min-width:0}
#where{width:26em}
#plan-box{max-height:34em;overflow:auto}
#plans thead th{position:sticky;top:0;background:var(--page);z-index:1}
#plans thead th:first-child{z-index:2}
#plans button{font:inherit;font-weight:inherit;color:inherit;background:none;border:0;padding:2px 0;cursor:pointer;
text-align:inherit;white-space:nowrap}
#plans button::after{content:"\2195";opacity:.35;padding-left:.3em}
#plans [aria-sort=ascending] button::after{content:"\2191";opacity:1}
#plans [aria-sort=descending] button::after{content:"\2193";opacity:1}
#plans td{white-space:nowrap;text-align:right}
#plans td.t{text-align:left}
td.line{min-width:22em}
#plans tr.first td{font-weight:600}
#plans tr.given td{color:var(--bad)}
#map table{width:auto}
#map th{font-weight:400;color:var(--soft);white-space:nowrap;border:1px solid var(--page);vertical-align:middle}
#map td{text-align:center;white-space:nowrap;min-width:3.9em;padding:4px 6px;border:1px solid var(--page);line-height:1.25;
background:color-mix(in srgb,var(--v0) calc(var(--heat,0)*1%),transparent)}
#map td.known{cursor:pointer}
#map td.exact{font-weight:700}
#map td.bounded{background:none;color:var(--soft);border:1px dashed var(--rule)}
#map td.large{background:repeating-linear-gradient(45deg,var(--card) 0 4px,var(--grid) 4px 8px);color:var(--soft)}
#map td.none{color:var(--soft);opacity:.5}
.dots{stroke:var(--v4);stroke-width:4;stroke-linecap:round;opacity:.45;fill:none}
.front{fill:none;stroke:var(--v0);stroke-width:2}
.given-mark{fill:var(--bad)}
@media (max-width:600px){.controls label{flex-wrap:wrap}#where{width:100%}}
@media print{.controls{display:none}}
)css";

const char* const kPlanScript = R"js(
"use strict";
(() => {
const find = id => document.getElementById(id);
const table = find("plans"), body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
const names = heads.map(th => th.dataset.name);
const rows = [...body.rows], first = rows.slice();
const state = {where: "", sort: "", map: ""};
const text = (row, column) => row.cells[column].textContent;
const number = value => value === "" ? NaN : Number(value);

// "pp<=8 recompute=norm fused": every term has to hold; one that compares no column is looked for in the row.
const tests = {"<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "<": (a, b) => a < b, ">": (a, b) => a > b,
               "!=": (a, b) => a !== b, "=": (a, b) => a === b};
function holds(row, term) {
    const parts = /^([\w/]+)(<=|>=|!=|<|>|=)(.+)$/.exec(term);
    const column = parts ? names.indexOf(parts[1]) : -1;
    if (column < 0) {
        return row.textContent.toLowerCase().includes(term.toLowerCase());
    }
    const found = text(row, column), a = number(found), b = number(parts[3]);
    if (!isNaN(a) && !isNaN(b)) {
        return tests[parts[2]](a, b);
    }
    const has = found === parts[3] || found.split("+").includes(parts[3]);
    return parts[2] === "=" ? has : parts[2] === "!=" && !has;
}
function filter() {
    const terms = state.where.split(/[\s,]+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
        row.hidden = !terms.every(term => holds(row, term));
        shown += row.hidden ? 0 : 1;
    }
    find("shown").textContent = shown + " of " + rows.length + " plans";
}
function sort() {
    const [name, direction] = state.sort.split(":"), column = names.indexOf(name), down = direction === "down";
    heads.forEach((th, i) => {
        th.removeAttribute("aria-sort");
        if (i === column) th.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
    const order = first.slice();
    if (column >= 0) {
        order.sort((p, q) => {
            const a = text(p, column), b = text(q, column);
            if (a === "" || b === "") return (a === "" ? 1 : 0) - (b === "" ? 1 : 0);  // empty ones last
            const x = number(a), y = number(b);
            const sign = isNaN(x) || isNaN(y) ? a.localeCompare(b, "en", {numeric: true}) : x - y;
            return down ? -sign : sign;
        });
    }
    body.append(...order);
}

const data = JSON.parse(find("map-data").textContent), map = find("map");
const seconds = s => s >= 100 ? s.toFixed(0) : s.toPrecision(3);
const kinds = ["exact", "played", "bounded", "large"];
function cell(known, values) {
    const td = document.createElement("td");
    if (!known) {
        td.className = "none", td.textContent = "–", td.title = "no plan has this pair";
        return td;
    }
    const [, , kind, best, least] = known;
    td.className = kinds[kind] + (kind < 2 ? " known" : "");
    td.textContent = kind === 0 ? seconds(best) : kind === 1 ? "≤ " + seconds(best)
                   : kind === 2 ? "≥ " + seconds(least) : "too large";
    td.title = kind === 0 ? "exact: no plan with this pair that fits is faster"
             : kind === 1 ? "simulated; another plan with this pair may take " + seconds(least) + " s at least"
             : kind === 2 ? "none that was simulated fits: a plan that fits takes this at least"
             : "of no plan with this pair do weights and gradients fit";
    if (kind < 2) {
        td.style.setProperty("--heat", Math.round(50 * Math.max(0, 1 - Math.log(best / data.best) / Math.log(4))));
        td.addEventListener("click", () => {
            state.where = values.filter(([name]) => names.includes(name)).map(pair => pair.join("=")).join(" ");
            update(), table.scrollIntoView();
        });
    }
    return td;
}
function draw() {
    const [rows, columns] = [find("rows").value, find("columns").value].map(Number);
    const wanted = data.pairs.find(pair => pair[0] === Math.min(rows, columns) && pair[1] === Math.max(rows, columns));
    const grid = document.createElement("table"), head = grid.createTHead().insertRow();
    const th = (row, label) => row.appendChild(Object.assign(document.createElement("th"), {textContent: label}));
    const [down, across] = [data.axes[rows], data.axes[columns]];
    th(head, down.name + " ↓  " + across.name + " →");
    across.labels.forEach(label => th(head, label));
    down.labels.forEach((label, i) => {
        const line = grid.insertRow();
        th(line, label);
        across.labels.forEach((other, j) => {
            const at = rows < columns ? [i, j] : [j, i];
            const known = wanted && wanted[2].find(c => c[0] === at[0] && c[1] === at[1]);
            line.append(cell(known, [[down.name, label], [across.name, other]]));
        });
    });
    map.replaceChildren(grid);
}

function update() {
    find("where").value = state.where;
    filter(), sort();
    if (data.axes.length > 1) draw();
    const set = Object.entries(state).filter(([, value]) => value);
    if (set.length) {
        history.replaceState(null, "", "#" + set.map(([key, value]) => key + "=" + encodeURIComponent(value)).join("&"));
    }
}
function choose(names) {
    const [rows, columns] = names.split(",").map(name => data.axes.findIndex(axis => axis.name === name));
    if (rows >= 0 && columns >= 0 && rows !== columns) {
        find("rows").value = rows, find("columns").value = columns;
    }
}
function read() {
    for (const part of location.hash.slice(1).split("&")) {
        const [key, value] = part.split("=", 2);
        if (key in state && value !== undefined) state[key] = decodeURIComponent(part.slice(key.length + 1));
    }
    choose(state.map);
}
heads.forEach((th, i) => th.firstElementChild.addEventListener("click", () => {
    state.sort = names[i] + (state.sort === names[i] + ":up" ? ":down" : ":up");
    update();
}));
find("where").addEventListener("input", event => { state.where = event.target.value; update(); });
if (data.axes.length > 1) {
    for (const id of ["rows", "columns"]) {
        const select = find(id), other = find(id === "rows" ? "columns" : "rows");
        data.axes.forEach((axis, i) => select.add(new Option(axis.name, i)));
        select.value = id === "rows" ? 0 : 1;
        let last = select.value;
        select.addEventListener("focus", () => { last = select.value; });
        select.addEventListener("change", () => {
            if (other.value === select.value) other.value = last;  // swap
            last = select.value;
            state.map = [find("rows"), find("columns")].map(s => data.axes[s.value].name).join(",");
            update();
        });
    }
}
addEventListener("hashchange", () => { if (location.hash.includes("=")) read(), update(); });
read(), update();
})();
)js";

}  // namespace auspex::report
