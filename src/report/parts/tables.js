"use strict";
// Tables: heads sort, a field filters, and on narrow windows columns fold away below their row. A table that says so keeps
// its filter and order in the page's address: #where=pp<=8&sort=memory:down.
const auspex = {tables: {}, state: {}, listeners: []};
(() => {
const NARROW = 700;  // pixels: wider tables scroll instead
const tests = {"<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "<": (a, b) => a < b, ">": (a, b) => a > b,
               "!=": (a, b) => a !== b, "=": (a, b) => a === b};

/* The address: KEY=VALUE with & between, or the name of a section, which is no state. */
auspex.set = (key, value) => {
    auspex.state[key] = value;
    const set = Object.entries(auspex.state).filter(pair => pair[1]);
    if (set.length || location.hash.includes("=")) {
        history.replaceState(null, "", "#" + set.map(([k, v]) => k + "=" + encodeURIComponent(v)).join("&"));
    }
};
function readAddress() {
    if (!location.hash.includes("=")) return;
    auspex.state = {};
    for (const part of location.hash.slice(1).split("&")) {
        const at = part.indexOf("=");
        if (at > 0) {
            try {
                auspex.state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
            } catch {
                continue;  // half of an escape: as if it were not there
            }
        }
    }
    auspex.listeners.forEach(listener => listener());
}

/* What a cell says, without its small print, and the number by which it is sorted. */
function text(cell) {
    let said = "";
    for (const node of cell.childNodes) {
        if (node.nodeName !== "SMALL" && node.nodeName !== "BUTTON") said += node.textContent;
    }
    return said.trim();
}
function number(said) {
    const plain = said.replace(/−/g, "-").replace(/^[±≤≥~]\s*/, "").replace(/(\d),(?=\d{3}(\D|$))/g, "$1");
    return /^[-+]?\d+(\.\d+)?(e[-+]?\d+)?( ?%)?$/i.test(plain) ? parseFloat(plain) : NaN;
}
const value = cell => cell.dataset.v !== undefined ? Number(cell.dataset.v) : number(text(cell));

function makeTable(table, index) {
    const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells], rows = [...body.rows], first = rows.slice();
    const labels = heads.map(text);
    const words = said => said.toLowerCase().replace(/\s+/g, "-");
    const names = heads.map((th, i) => th.dataset.name || words(labels[i]));
    heads.forEach((th, i) => {  // of two heads alike the second one has its unit, too
        if (names.indexOf(names[i]) < i) names[i] += "-" + words(th.querySelector("small")?.textContent || String(i));
    });
    const keeps = table.hasAttribute("data-address");
    const id = table.id || (table.id = "table-" + index);
    const state = {where: "", sort: ""};
    let fold = [], status = null, input = null;

    const change = (key, said) => {
        state[key] = said;
        if (keeps) auspex.set(key, said);
    };
    const closeRest = () => {
        for (const rest of body.querySelectorAll("tr.rest")) rest.remove();
        for (const more of body.querySelectorAll(".more[aria-expanded=true]")) more.setAttribute("aria-expanded", "false");
    };

    /* "pp<=8 recompute=norm fused": every term has to hold; one that compares no column is looked for in the row. */
    function holds(row, term) {
        const parts = /^(.+?)(<=|>=|!=|<|>|=)(.+)$/.exec(term);
        const column = parts ? names.indexOf(parts[1]) : -1;
        if (column < 0) return row.textContent.toLowerCase().includes(term.toLowerCase());
        const found = text(row.cells[column]), a = value(row.cells[column]), b = number(parts[3]);
        if (!isNaN(a) && !isNaN(b)) return tests[parts[2]](a, b);
        const has = found === parts[3] || found.split("+").includes(parts[3]);
        return parts[2] === "=" ? has : parts[2] === "!=" && !has;
    }
    function filter() {
        closeRest();
        const terms = state.where.split(/[\s,]+/).filter(Boolean);
        let shown = 0;
        for (const row of rows) {
            row.hidden = !terms.every(term => holds(row, term));
            shown += row.hidden ? 0 : 1;
        }
        if (input && input.value !== state.where) input.value = state.where;
        if (status) status.textContent = shown + " of " + rows.length + " " + (table.dataset.rows || "rows");
    }
    function sort() {
        closeRest();
        const at = state.sort.lastIndexOf(":"), column = names.indexOf(state.sort.slice(0, at));
        const down = state.sort.slice(at + 1) === "down";
        heads.forEach((th, i) => {
            th.removeAttribute("aria-sort");
            if (i === column) th.setAttribute("aria-sort", down ? "descending" : "ascending");
        });
        const order = first.slice();
        if (column >= 0) {
            const keys = new Map(order.map(row => [row, [text(row.cells[column]), value(row.cells[column])]]));
            order.sort((p, q) => {
                const [a, x] = keys.get(p), [b, y] = keys.get(q);
                if (a === "" || b === "") return (a === "" ? 1 : 0) - (b === "" ? 1 : 0);  // empty ones last
                const sign = isNaN(x) || isNaN(y) ? a.localeCompare(b, "en", {numeric: true}) : x - y;
                return down ? -sign : sign;
            });
        }
        body.append(...order);
    }

    /* Columns that have no room, the last first: those that a head marks as main stay longest, the first always. */
    const style = document.head.appendChild(document.createElement("style"));
    const foldRule = columns => columns.map(i => `#${CSS.escape(id)} tr:not(.rest)>:nth-child(${i + 1})`).join(",");
    function fit() {
        const box = table.parentElement, room = box.clientWidth;
        if (room === 0) return;  // in closed details
        foldColumns(box, room);
        const scrolls = box.scrollWidth > room || box.scrollHeight > box.clientHeight;  // then keys have to reach it
        if (scrolls) box.tabIndex = 0, box.setAttribute("role", "group");
        else box.removeAttribute("tabindex"), box.removeAttribute("role");
        box.setAttribute("aria-label", "table, scrolls: " + (table.caption ? table.caption.textContent : labels[0]));
        if (!scrolls) box.removeAttribute("aria-label");
    }
    function foldColumns(box, room) {
        closeRest();
        const order = heads.map((th, i) => i).slice(1).reverse();
        order.sort((a, b) => heads[a].hasAttribute("data-main") - heads[b].hasAttribute("data-main"));
        fold = [], style.textContent = "";
        table.classList.remove("folded", "folds");
        if (innerWidth > NARROW || box.scrollWidth <= room) return;
        table.classList.add("folded");
        if (box.scrollWidth <= room) return;
        rows.forEach(addMore);
        table.classList.add("folds");
        for (const column of order) {
            if (box.scrollWidth <= room) break;
            fold.push(column);
            style.textContent = foldRule(fold) + "{display:none}";
        }
    }
    function addMore(row) {
        if (row.cells[0].querySelector(".more")) return;
        const more = document.createElement("button");
        more.type = "button", more.className = "more";
        more.setAttribute("aria-expanded", "false");
        more.setAttribute("aria-label", "all of " + (text(row.cells[0]) || "this row"));
        more.addEventListener("click", () => toggleRest(row, more));
        row.cells[0].prepend(more);
    }
    function toggleRest(row, more) {
        const open = more.getAttribute("aria-expanded") === "true";
        more.setAttribute("aria-expanded", String(!open));
        if (open) {
            row.nextElementSibling.remove();
            return;
        }
        const rest = document.createElement("tr"), cell = document.createElement("td"), list = document.createElement("dl");
        rest.className = "rest", cell.colSpan = heads.length - fold.length;
        for (const column of [...fold].sort((a, b) => a - b)) {
            const term = document.createElement("dt"), said = document.createElement("dd");
            const small = heads[column].querySelector("small");
            term.textContent = labels[column] + (small ? ", " + small.textContent : "");
            said.append(...[...row.cells[column].cloneNode(true).childNodes]);
            list.append(term, said);
        }
        cell.append(list), rest.append(cell), row.after(rest);
    }

    function addControls() {
        const controls = document.createElement("div"), label = document.createElement("label");
        input = document.createElement("input"), status = document.createElement("span");
        controls.className = "controls";
        input.type = "search", input.id = id + "-where", input.autocomplete = "off", input.spellcheck = false;
        input.placeholder = table.dataset.filter;
        label.append("Show only ", input);
        status.className = "soft", status.id = id + "-shown";
        status.setAttribute("role", "status");
        controls.append(label, status);
        table.parentElement.before(controls);
        input.addEventListener("input", () => { change("where", input.value), filter(); });
    }
    function addSorting(th, i) {
        const button = document.createElement("button");
        button.type = "button", button.className = "sort", button.textContent = labels[i];
        for (const node of [...th.childNodes]) {
            if (node.nodeName !== "SMALL") node.remove();
        }
        th.prepend(button);
        button.addEventListener("click", () => {
            change("sort", names[i] + (state.sort === names[i] + ":up" ? ":down" : ":up"));
            sort();
        });
    }

    if (table.hasAttribute("data-filter")) addControls();
    if (table.hasAttribute("data-sort")) heads.forEach((th, i) => { if (labels[i]) addSorting(th, i); });
    if (keeps) {
        auspex.listeners.push(() => {
            state.where = auspex.state.where || "", state.sort = auspex.state.sort || "";
            filter(), sort();
        });
    }
    filter();
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(table.parentElement);
    fit();
    auspex.tables[id] = {names, element: table, show: said => { change("where", said), filter(); }};
}

document.querySelectorAll("table").forEach(makeTable);
addEventListener("hashchange", readAddress);
addEventListener("DOMContentLoaded", readAddress);  // when the scripts behind this one listen, too
})();
