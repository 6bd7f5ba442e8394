"use strict";
// The engine asked for its page, and put into it. usage: node make_page.js ENGINE.js PAGE.html
const fs = require("fs");
const path = require("path");

const [engineFile, pageFile] = process.argv.slice(2);
const PLACE = "@engine@";
const text = fs.readFileSync(engineFile, "utf8");
if (/<\/script|<!--/i.test(text)) throw new Error(engineFile + ": found </script or <!--, which a page cannot hold in a script");
require(path.resolve(engineFile))().then(engine => {
    const page = engine.ccall("auspex_page", "string", ["string"], [PLACE]);
    const parts = page.split(PLACE);
    if (parts.length !== 2) throw new Error("found " + (parts.length - 1) + " places for the engine in its page; expected 1");
    fs.writeFileSync(pageFile, parts.join(text));
});
