// Of a page of today's kit, at any width: text that can be read, tables that keep their main columns and sort, filter and fold, landmarks
// and headings, pictures with title and source, a crosshair, a timeline that zooms.
const LEAST_TEXT = 11;  // pixels
const seen = element => element.checkVisibility() && element.getBoundingClientRect().height > 0;
const press = (element, key) => element.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const at = (element, kind, x, y, more = {}) => {
    const box = element.getBoundingClientRect();
    element.dispatchEvent(new PointerEvent(kind, {clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerId: 1, ...more}));
};

function checkText() {
    for (const text of document.querySelectorAll("svg text")) {
        if (!seen(text)) continue;
        const svg = text.ownerSVGElement, scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        const pixels = parseFloat(getComputedStyle(text).fontSize) * scale;
        const box = text.getBoundingClientRect();
        check(pixels >= LEAST_TEXT, "\"" + text.textContent + "\" in a picture has " + pixels.toFixed(1) + " pixels");
        check(Math.min(box.width, box.height) >= LEAST_TEXT || text.textContent.length < 3,
              "\"" + text.textContent + "\" stands in " + box.width.toFixed(1) + " x " + box.height.toFixed(1) + " pixels");
    }
    for (const element of document.querySelectorAll("body *:not(script):not(style)")) {
        const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
        if (own && !element.closest("svg") && seen(element)) {
            check(parseFloat(getComputedStyle(element).fontSize) >= LEAST_TEXT, "small: " + element.textContent.slice(0, 40));
        }
    }
}

function checkOutline() {
    check(document.querySelectorAll("h1").length === 1, "one headline");
    check(document.querySelector("h1").textContent.match(/\d/), "the headline has a number: " + document.querySelector("h1").textContent);
    let level = 0;
    for (const heading of document.querySelectorAll("h1,h2,h3,h4")) {
        const next = Number(heading.tagName[1]);
        check(next <= level + 1, "\"" + heading.textContent + "\" skips a level");
        level = next;
    }
    for (const mark of ["header", "main", "nav[aria-label]"]) check(document.querySelectorAll(mark).length === 1, "one " + mark);
    for (const link of document.querySelectorAll("nav a")) check(document.querySelector(link.hash), "nothing at " + link.hash);
    const cards = document.querySelectorAll(".card");
    check(cards.length >= 3, cards.length + " cards");
    for (const figure of document.querySelectorAll("figure")) {
        check(figure.querySelector("figcaption b"), "a picture without a title");
        check(/auspex .* \d+\.\d+/.test((figure.querySelector(".from") || figure).textContent), "a picture without its source");
        const svgs = [...figure.querySelectorAll("svg")].filter(seen);
        const drawn = svgs.length || figure.querySelector("canvas") || figure.closest("details:not([open])");
        check(drawn && svgs.length <= 1, svgs.length + " pictures of one figure are seen");
    }
}

function checkTables() {
    for (const table of document.querySelectorAll("main table")) {
        if (!seen(table) || table.closest("#map")) continue;
        const what = (table.caption || table.tHead).textContent.slice(0, 50) + ": ", heads = [...table.tHead.rows[0].cells];
        const box = table.parentElement, room = box.getBoundingClientRect();
        check(table.caption, what + "no caption");
        check(heads.every(th => th.scope === "col") && [...table.tBodies[0].rows].every(row => row.cells[0].scope === "row"),
              what + "no scopes");
        const main = heads.filter((th, i) => i === 0 || th.hasAttribute("data-main"));
        if (innerWidth <= 480) {
            check(box.scrollWidth <= box.clientWidth, what + "scrolls sideways, " + box.scrollWidth + " in " + box.clientWidth);
            for (const th of main) {
                check(seen(th), what + "lost its column " + th.textContent);
                check(th.getBoundingClientRect().right <= room.right + 1, what + th.textContent + " is over the edge");
            }
        }
        const folded = heads.filter(th => !seen(th)), more = table.querySelector("tbody .more");
        if (folded.length) {
            more.click();
            const rest = table.querySelector("tr.rest");
            check(rest && rest.querySelectorAll("dt").length === folded.length, what + "a row unfolds what is folded");
            check(rest.getBoundingClientRect().right <= innerWidth, what + "what unfolds is over the edge");
            more.click();
            check(!table.querySelector("tr.rest"), what + "and folds it again");
        }
        const sorts = heads.map(th => th.querySelector(".sort")), column = sorts.length - 1 - [...sorts].reverse().findIndex(b => b && seen(b));
        if (sorts.some(Boolean)) checkSorting(table, what, column, sorts[column]);
        if (table.hasAttribute("data-filter")) checkFilter(table, what);
    }
}

const cellText = cell => [...cell.childNodes].filter(n => n.nodeName !== "SMALL" && n.nodeName !== "BUTTON").map(n => n.textContent).join("").trim();
function checkSorting(table, what, column, button) {
    const rows = () => [...table.tBodies[0].rows];
    const first = rows().map(row => row.textContent);
    const keys = () => rows().map(row => row.cells[column]).map(cell => cell.dataset.v !== undefined ? Number(cell.dataset.v)
        : parseFloat(cellText(cell).replace(/−/g, "-").replace(/[±≤≥,]/g, ""))).filter(x => !isNaN(x));
    const plain = rows().every(row => /^[-−+±]?[\d,.]*( ?%)?$/.test(cellText(row.cells[column])) || row.cells[column].dataset.v !== undefined);
    const rises = (list, sign) => list.every((x, i) => i === 0 || sign * (x - list[i - 1]) >= 0);
    button.click();
    check(table.tHead.rows[0].cells[column].ariaSort === "ascending", what + "the sorted column says so");
    if (plain) check(rises(keys(), 1), what + "sorts upwards: " + keys());
    button.click();
    if (plain) check(rises(keys(), -1), what + "sorts downwards: " + keys());
    check(rows().length === first.length && rows().every(row => first.includes(row.textContent)), what + "sorting keeps the rows");
}

function checkFilter(table, what) {
    const field = document.getElementById(table.id + "-where"), rows = [...table.tBodies[0].rows];
    const ask = text => { field.value = text; field.dispatchEvent(new Event("input")); };
    ask("no such row");
    check(rows.every(row => row.hidden), what + "nothing matches");
    ask(cellText(rows[0].cells[0]).split(/\s/)[0]);
    check(!rows[0].hidden, what + "a part of the text matches");
    ask("");
    check(rows.every(row => !row.hidden), what + "an empty filter shows all");
}

function checkCrosshairs() {
    for (const data of document.querySelectorAll("svg > metadata")) {
        const svg = data.parentElement, box = svg.parentElement, said = box.querySelector(".readout");
        if (!seen(svg)) continue;
        const size = svg.getBoundingClientRect();
        at(box, "pointermove", size.width / 2, size.height / 3);
        check(!said.hidden && /\d/.test(said.textContent), "a crosshair says what is there: " + said.textContent);
        const where = said.getBoundingClientRect();
        check(where.left >= 0 && where.right <= innerWidth + 1, "its values stand in the window");
        at(box, "pointerleave", 0, 0);
        check(said.hidden && !svg.querySelector(".cross"), "and goes");
        press(box, "ArrowRight");
        const first = said.textContent;
        press(box, "ArrowRight");
        check(!said.hidden && said.textContent !== first, "keys move it");
        press(box, "Escape");
    }
}

function checkTimelines() {
    for (const box of document.querySelectorAll(".timeline")) {
        const canvas = box.querySelector("canvas"), wide = () => box.dataset.to - box.dataset.from, from = () => Number(box.dataset.from);
        const all = wide(), size = canvas.getBoundingClientRect(), middle = size.width / 2;
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        check(pixels.filter((x, i) => i % 4 === 3 && x > 0).length > 1000, "the timeline is drawn");
        check(parseFloat(canvas.getContext("2d").font) >= LEAST_TEXT, "its text is " + canvas.getContext("2d").font);
        const slow = Number(box.dataset.drawn);  // 5 to 30 ms on a computer that does nothing else
        check(slow < 2000, "all of it takes " + slow + " ms to draw");
        press(canvas, "+");
        check(Math.abs(wide() / all - 0.5) < 1e-6, "+ halves what is seen: " + wide() / all);
        let before = from();
        press(canvas, "ArrowRight");
        check(from() > before, "an arrow moves");
        const wheel = () => canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: -200, clientX: size.left + middle, clientY: size.top + 60, cancelable: true}));
        check(wheel(), "the wheel scrolls the page");
        canvas.focus();
        check(!wheel(), "but not where the picture has the focus");
        check(wide() / all < 0.4, "there it zooms: " + wide() / all);
        before = from();
        canvas.setPointerCapture = () => {};
        at(canvas, "pointerdown", middle, 80);
        at(canvas, "pointermove", middle - 60, 80);
        check(from() > before, "dragging moves");
        before = wide();
        at(canvas, "pointerdown", middle + 40, 80, {pointerId: 2});
        at(canvas, "pointermove", middle + 140, 80, {pointerId: 2});
        check(wide() < before, "two fingers apart zoom");
        at(canvas, "pointerup", 0, 0), at(canvas, "pointerup", 0, 0, {pointerId: 2});
        press(canvas, "0");
        check(wide() === all, "0 shows all");
        let named = "";
        for (let y = 20; y < size.height - 40 && !/layer|stage|rank/.test(named); y += 3) {
            at(canvas, "pointermove", middle, y, {pointerId: 9});
            named = box.querySelector(".said").textContent;
        }
        check(/ from .*\((.*stage|.*rank)/.test(named), "the span under the pointer is named: " + named);
    }
}

probe(() => {
    checkText();
    checkOutline();
    checkTables();
    checkCrosshairs();
    checkTimelines();
});
