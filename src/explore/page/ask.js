"use strict";
// What the scripts of this page share, and how it asks: the server that it comes from, or an engine in the page itself.
const auspexExplore = {times: {step: [], curve: []}};  // milliseconds from input to drawn picture, for tests
(() => {
const refused = body => Object.assign(new Error(body.error ? body.error.message : "no answer"), {field: body.error && body.error.field});

/* The answer to a request, or an error with the field that it is about. */
auspexExplore.ask = async (request, signal) => {
    const text = JSON.stringify(request);
    if (typeof globalThis.auspexAnswer === "function") {
        const {status, body} = await globalThis.auspexAnswer(text, signal);
        const found = JSON.parse(body);
        if (status !== 200) throw refused(found);
        return found;
    }
    const response = await fetch("answer", {method: "POST", headers: {"Content-Type": "application/json"}, body: text, signal});
    const found = await response.json();
    if (!response.ok) throw refused(found);
    return found;
};
})();
