"use strict";
// Fields of the inputs: what is in the files, what is set instead, and what is wrong with it.
(() => {
const STEPS = 1000;  // of a slider
const DIGITS = 3;    // of a value that a slider gives
const make = (name, parent, props = {}) => parent.appendChild(Object.assign(document.createElement(name), props));

/* A value with the unit in which it is read best, as files write it. */
function textOf(value, units) {
    const number = x => String(Number(x.toPrecision(DIGITS + 1)));
    if (!units.length) return number(value);
    const rare = new Set(["min", "h", "d", "1/h"]);
    const fits = units.filter(([name, scale]) => !rare.has(name) && Math.abs(value) >= scale);
    const usual = units.filter(([name]) => !rare.has(name));
    const lowest = value === 0 ? units[0] : usual.reduce((a, b) => b[1] < a[1] ? b : a);
    const [name, scale] = fits.length ? fits.reduce((a, b) => b[1] > a[1] ? b : a) : lowest;
    return number(value / scale) + " " + name;
}
/* The value of a text, or NaN: only so that the slider follows. */
function valueOf(text, units) {
    const found = /^\s*([-+0-9.eE]+)\s*(.*?)\s*$/.exec(text);
    if (!found) return NaN;
    if (!units.length) return found[2] ? NaN : Number(found[1]);
    const unit = units.find(([name]) => name === found[2]);
    return unit ? Number(found[1]) * unit[1] : NaN;
}
function toSlider(value, {from, to, log}) {
    const share = log ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from);
    return Math.round(STEPS * Math.min(1, Math.max(0, share)));
}
function fromSlider(at, {from, to, log}) {
    const share = at / STEPS, value = log ? from * (to / from) ** share : from + (to - from) * share;
    return Math.min(to, Math.max(from, Number(value.toPrecision(DIGITS))));
}

/* One field: `overrides` is the map of what is set, `changed` is called with the event. */
class Field {
    constructor(about, overrides, changed) {
        Object.assign(this, {about, overrides, changed});
        this.id = "f-" + about.field.replace(/[^A-Za-z0-9]/g, "-");
    }
    text() { return this.overrides.has(this.about.field) ? this.overrides.get(this.about.field) : this.about.text; }
    set(text, event) {
        if (text === this.about.text) this.overrides.delete(this.about.field);
        else this.overrides.set(this.about.field, text);
        this.mark();
        this.changed(event);
    }
    mark() { this.row.classList.toggle("is-set", this.overrides.has(this.about.field)); }
    complain(message) {
        this.fault.textContent = message;
        for (const input of this.row.querySelectorAll("input, select")) input.setAttribute("aria-invalid", message ? "true" : "false");
    }
    row_of(parent, css) {
        this.row = make("div", parent, {className: "field " + css});
        this.row.dataset.field = this.about.field;
    }
    fault_of() {
        this.fault = make("span", this.row, {className: "fault", id: this.id + "-fault"});
        for (const input of this.row.querySelectorAll("input, select")) input.setAttribute("aria-describedby", this.fault.id);
    }
}

class Constant extends Field {
    constructor(about, overrides, changed, parent) {
        super(about, overrides, changed);
        this.row_of(parent, "constant");
        make("label", this.row, {htmlFor: this.id, textContent: about.label, title: about.field});
        this.input = make("input", this.row, {id: this.id, type: "text"});
        const back = make("button", this.row, {type: "button", className: "back", textContent: "↺", title: "as in the file: " + about.text});
        back.setAttribute("aria-label", about.label + " as in the file: " + about.text);
        this.slider = make("input", this.row, {type: "range", min: 0, max: STEPS, step: 1});
        this.slider.setAttribute("aria-label", about.field);
        make("span", this.row, {className: "source", textContent: about.kind + ", " + about.text + (about.source ? ": " + about.source : "")});
        this.fault_of();
        this.show();
        this.slider.addEventListener("input", event => {
            this.input.value = textOf(fromSlider(this.slider.valueAsNumber, about), about.units);
            this.slider.setAttribute("aria-valuetext", this.input.value);
            this.set(this.input.value, event);
        });
        this.input.addEventListener("input", event => {
            const value = valueOf(this.input.value, about.units);
            if (!isNaN(value)) this.slider.value = toSlider(value, about);
            this.set(this.input.value, event);
        });
        back.addEventListener("click", event => this.set(about.text, event) || this.show());
    }
    show() {
        this.input.value = this.text();
        const value = this.overrides.has(this.about.field) ? valueOf(this.input.value, this.about.units) : this.about.value;
        this.slider.value = toSlider(isNaN(value) ? this.about.value : value, this.about);
        this.slider.setAttribute("aria-valuetext", this.input.value);
        this.mark();
    }
}

/* A number, a flag, a word of several, any of several words, or other text. */
class Choice extends Field {
    constructor(about, overrides, changed, parent) {
        super(about, overrides, changed);
        this.row_of(parent, "choice");
        if (about.kind === "words") this.make_words();
        else this.make_input();
        this.fault_of();
        this.show();
    }
    make_input() {
        const {about} = this;
        make("label", this.row, {htmlFor: this.id, textContent: about.label, title: about.meaning || about.field});
        if (about.kind === "word") {
            this.input = make("select", this.row, {id: this.id});
            for (const word of [...(about.text ? [] : [""]), ...about.words]) make("option", this.input, {value: word, textContent: word});
        } else if (about.kind === "flag") {
            this.input = make("input", this.row, {id: this.id, type: "checkbox"});
        } else {
            this.input = make("input", this.row, {id: this.id, type: about.kind === "text" ? "text" : "number"});
            if (about.kind === "whole") Object.assign(this.input, {step: 1, min: about.least, max: about.most});
            if (about.kind === "number") this.input.step = "any";
            if (about.words) {
                const list = make("datalist", this.row, {id: this.id + "-words"});
                for (const word of about.words) make("option", list, {value: word});
                this.input.setAttribute("list", list.id);
            }
        }
        this.input.addEventListener("input", event => this.take(event));
    }
    make_words() {
        make("span", this.row, {className: "label", id: this.id, textContent: this.about.label});
        const box = make("div", this.row, {className: "words"});
        box.setAttribute("role", "group");
        box.setAttribute("aria-labelledby", this.id);
        this.boxes = this.about.words.map(word => {
            const input = make("input", make("label", box), {type: "checkbox", value: word});
            input.parentElement.append(" " + word);
            input.addEventListener("change", event => this.take(event));
            return input;
        });
    }
    take(event) {
        const text = this.boxes ? JSON.stringify(this.boxes.filter(box => box.checked).map(box => box.value))
            : this.about.kind === "flag" ? String(this.input.checked) : this.input.value;
        this.set(text === "" ? this.about.text : text, event);
    }
    show() {
        const text = this.text();
        if (this.boxes) {
            const words = new Set(JSON.parse(text || "[]"));
            for (const box of this.boxes) box.checked = words.has(box.value);
        } else if (this.about.kind === "flag") {
            this.input.checked = text === "true";
        } else {
            this.input.value = text;
        }
        this.mark();
    }
}

/* All fields of the files, by their names, in `places` ({constants, plan}). */
auspexExplore.makeFields = (about, overrides, changed, places) => {
    const fields = new Map(), groups = new Map();
    const group = name => {
        if (!groups.has(name)) {
            const box = make("details", places.constants, {className: "group"});
            make("summary", box, {textContent: name.replace(/\.entries\./, " ")});
            groups.set(name, box);
        }
        return groups.get(name);
    };
    places.constants.textContent = "";
    places.plan.querySelectorAll(".field").forEach(row => row.remove());
    const fieldFor = (one, kind, parent) => fields.set(one.field, new kind(one, overrides, changed, parent));
    for (const one of about.constants) fieldFor(one, Constant, group(one.group));
    for (const one of about.numbers) fieldFor(one, Choice, group(one.group));
    for (const one of about.plan) fieldFor(one, Choice, places.plan);
    if (groups.size) groups.values().next().value.open = true;
    return fields;
};
auspexExplore.filterFields = (fields, places, find, onlySet) => {
    const wanted = find.trim().toLowerCase();
    for (const {row, about} of fields.values()) {
        if (!places.constants.contains(row)) continue;
        const text = (about.field + " " + (about.source || "") + " " + about.kind).toLowerCase();
        row.hidden = !text.includes(wanted) || (onlySet && !row.classList.contains("is-set"));
    }
    for (const group of places.constants.querySelectorAll(".group")) {
        group.hidden = !group.querySelector(".field:not([hidden])");
        if (wanted || onlySet) group.open = !group.hidden;
    }
};
const COUNTS = [["T", 1e12], ["B", 1e9], ["M", 1e6], ["k", 1e3], ["", 1]];
/* "4T", as --tokens takes it; empty for none. */
auspexExplore.tokensText = tokens => {
    if (!(tokens > 0)) return "";
    const [name, scale] = COUNTS.find(([, size]) => tokens >= size && Number((tokens / size).toPrecision(6)) * size === tokens) || COUNTS[4];
    return tokens / scale + name;
};
/* NaN where it is no count. */
auspexExplore.tokensOf = text => {
    const found = /^\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([TBMk]?)\s*$/.exec(text);
    return found ? Number(found[1]) * COUNTS.find(([name]) => name === found[2])[1] : NaN;
};
auspexExplore.make = make;
})();
