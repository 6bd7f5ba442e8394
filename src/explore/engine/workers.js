"use strict";
// Answers from the engine in this page: one worker for steps and fields, one for curves, so that a curve keeps no step waiting. A worker
// has one request at a time; of those that wait only the last is asked.
(() => {
const glue = `
const ready = auspexEngine({print: () => {}, printErr: text => { throw new Error(text); }});
onmessage = async event => {
    const engine = await ready, found = engine.ccall("auspex_answer", "string", ["string"], [event.data.text]);
    postMessage({number: event.data.number, status: Number(found.slice(0, 3)), body: found.slice(3)});
};`;
const source = document.getElementById("engine").textContent + glue;
const address = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));

function makeWorker() {
    const worker = new Worker(address);
    let number = 0, asked = null, waiting = null;
    const next = () => {
        asked = waiting, waiting = null;
        if (asked) worker.postMessage({number: asked.number, text: asked.text});
    };
    worker.onmessage = event => {
        asked.keep(event.data);
        next();
    };
    worker.onerror = event => {
        if (asked) asked.drop(new Error(event.message));
        next();
    };
    return (text, signal) => new Promise((keep, drop) => {
        const gone = () => drop(new DOMException("another was asked", "AbortError"));
        if (signal) signal.addEventListener("abort", gone);
        if (waiting) waiting.drop(new DOMException("another was asked", "AbortError"));
        waiting = {number: ++number, text, keep, drop};
        if (!asked) next();
    });
}
const step = makeWorker(), curve = makeWorker();
globalThis.auspexAnswer = (text, signal) => (JSON.parse(text).ask === "curve" ? curve : step)(text, signal);
})();
