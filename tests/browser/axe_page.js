// Every rule of axe-core, those of good practice among them, with everything unfolded and the timeline drawn.
probe(async () => {
    document.querySelectorAll("details").forEach(details => { details.open = true; });
    const found = await axe.run(document, {resultTypes: ["violations"]});
    for (const violation of found.violations) {
        for (const node of violation.nodes.slice(0, 4)) {
            faults.push(violation.id + " (" + violation.impact + "): " + node.html.slice(0, 160).replace(/\n/g, " ") + " " +
                        (node.any[0] || node.all[0] || node.none[0] || {}).message);
        }
    }
});
