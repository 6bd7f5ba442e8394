"use strict";
// A line through a picture of curves at the place nearest to the pointer, with the values there; arrow keys move it, too.
(() => {
const SVG = "http://www.w3.org/2000/svg";

function makeCrosshair(svg, data) {
    const box = svg.parentElement;
    const said = box.appendChild(document.createElement("div"));
    said.className = "readout", said.hidden = true;
    said.setAttribute("aria-live", "polite");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Values of the picture: arrow keys move along it");
    let at = -1, parts = [];

    function hide() {
        at = -1, said.hidden = true;
        parts.forEach(part => part.remove());
        parts = [];
    }
    function add(name, attributes, css) {
        const part = svg.appendChild(document.createElementNS(SVG, name));
        for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
        part.setAttribute("class", css);
        parts.push(part);
    }
    function show(i) {
        if (i === at) return;
        hide();
        at = i, said.hidden = false;
        const x = data.x[i];
        add("line", {x1: x, x2: x, y1: data.top, y2: data.bottom}, "cross");
        const lines = [];
        for (const series of data.series) {
            const y = series.y[i];
            if (y !== null) add("circle", {cx: x, cy: y, r: 6}, "cross-dot");
            if (series.texts[i]) lines.push(series.name + (series.name ? ": " : "") + series.texts[i]);
        }
        const head = document.createElement("b");
        head.textContent = data.heads[i];
        said.replaceChildren(head, ...lines.flatMap((line, k) => k ? [document.createElement("br"), line] : [line]));
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width, room = box.clientWidth;
        const right = x * scale + 12, wide = said.offsetWidth;
        said.style.left = Math.max(0, right + wide <= room ? right : Math.min(x * scale - 12 - wide, room - wide)) + "px";
    }
    function nearest(event) {
        const bounds = svg.getBoundingClientRect();
        const x = (event.clientX - bounds.left) / bounds.width * svg.viewBox.baseVal.width;
        let best = 0;
        data.x.forEach((one, i) => { if (Math.abs(one - x) < Math.abs(data.x[best] - x)) best = i; });
        return best;
    }
    box.addEventListener("pointermove", event => show(nearest(event)));
    box.addEventListener("pointerdown", event => show(nearest(event)));
    box.addEventListener("pointerleave", hide);
    box.addEventListener("blur", hide);
    box.addEventListener("keydown", event => {
        const last = data.x.length - 1;
        const to = {ArrowRight: at < 0 ? 0 : Math.min(at + 1, last), ArrowLeft: at < 0 ? last : Math.max(at - 1, 0),
                    Home: 0, End: last}[event.key];
        if (event.key === "Escape") hide();
        if (to === undefined) return;
        event.preventDefault();
        show(to);
    });
}

for (const data of document.querySelectorAll("svg > metadata")) makeCrosshair(data.parentElement, JSON.parse(data.textContent));
})();
