"use strict";
// The best step over two fields of plans, which are chosen; a cell of the map shows its plans in the table (tables.js).
(() => {
const find = id => document.getElementById(id);
const data = JSON.parse(find("map-data").textContent), map = find("map");
if (!map) return;
const seconds = s => s >= 100 ? s.toFixed(0) : s.toPrecision(3);
const kinds = ["exact", "played", "bounded", "large"];
const table = auspex.tables.plans;

function cell(known, values) {
    const td = document.createElement("td");
    if (!known) {
        td.className = "none", td.textContent = "–", td.title = "no plan has this pair";
        return td;
    }
    const [, , kind, best, least] = known;
    td.className = kinds[kind] + (kind < 2 ? " known" : "");
    const said = kind === 0 ? seconds(best) : kind === 1 ? "≤ " + seconds(best)
               : kind === 2 ? "≥ " + seconds(least) : "too large";
    td.title = kind === 0 ? "exact: no plan with this pair that fits is faster"
             : kind === 1 ? "simulated; another plan with this pair may take " + seconds(least) + " s at least"
             : kind === 2 ? "none that was simulated fits: a plan that fits takes this at least"
             : "of no plan with this pair do weights and gradients fit";
    if (kind > 1) {
        td.textContent = said;
        return td;
    }
    td.style.setProperty("--heat", Math.round(50 * Math.max(0, 1 - Math.log(best / data.best) / Math.log(4))));
    const button = td.appendChild(document.createElement("button"));
    button.type = "button", button.textContent = said;
    button.setAttribute("aria-label", values.map(pair => pair.join(" ")).join(", ") + ": " + said + " s");
    button.addEventListener("click", () => {
        table.show(values.filter(([name]) => table.names.includes(name)).map(pair => pair.join("=")).join(" "));
        table.element.scrollIntoView();
    });
    return td;
}
function head(row, label, scope) {
    const th = row.appendChild(document.createElement("th"));
    th.textContent = label, th.scope = scope;
}
function draw() {
    const [rows, columns] = [find("rows").value, find("columns").value].map(Number);
    const wanted = data.pairs.find(pair => pair[0] === Math.min(rows, columns) && pair[1] === Math.max(rows, columns));
    const grid = document.createElement("table"), top = grid.createTHead().insertRow(), body = grid.createTBody();
    const [down, across] = [data.axes[rows], data.axes[columns]];
    head(top, down.name + " ↓  " + across.name + " →", "col");
    across.labels.forEach(label => head(top, label, "col"));
    down.labels.forEach((label, i) => {
        const line = body.insertRow();
        head(line, label, "row");
        across.labels.forEach((other, j) => {
            const at = rows < columns ? [i, j] : [j, i];
            const known = wanted && wanted[2].find(c => c[0] === at[0] && c[1] === at[1]);
            line.append(cell(known, [[down.name, label], [across.name, other]]));
        });
    });
    map.replaceChildren(grid);
    if (map.scrollWidth > map.clientWidth) map.tabIndex = 0;
    else map.removeAttribute("tabindex");
}
function choose(names) {
    const [rows, columns] = names.split(",").map(name => data.axes.findIndex(axis => axis.name === name));
    if (rows >= 0 && columns >= 0 && rows !== columns) {
        find("rows").value = rows, find("columns").value = columns;
    }
}
for (const id of ["rows", "columns"]) {
    const select = find(id), other = find(id === "rows" ? "columns" : "rows");
    data.axes.forEach((axis, i) => select.add(new Option(axis.name, i)));
    select.value = id === "rows" ? 0 : 1;
    let last = select.value;
    select.addEventListener("focus", () => { last = select.value; });
    select.addEventListener("change", () => {
        if (other.value === select.value) other.value = last;  // swap
        last = select.value;
        auspex.set("map", [find("rows"), find("columns")].map(s => data.axes[s.value].name).join(","));
        draw();
    });
}
auspex.listeners.push(() => choose(auspex.state.map || ""), draw);
draw();
})();
