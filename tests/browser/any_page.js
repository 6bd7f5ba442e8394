// Of every page: nothing runs over the edge of the window, nothing is loaded from elsewhere.
probe(() => {
    const wide = document.documentElement;
    check(wide.scrollWidth <= innerWidth, "the page is " + wide.scrollWidth + " wide in a window of " + innerWidth);
    check(innerWidth <= 500, "the window is " + innerWidth + " wide");
    const loaders = document.querySelectorAll("script[src],link[href],img[src],iframe,object");
    check(loaders.length === 0, loaders.length + " elements load something");
    check(document.querySelector("h1").textContent.length > 0, "no title");
    for (const svg of document.querySelectorAll("svg text")) {
        if (svg.getBoundingClientRect().height === 0) continue;  // in folded details
        const box = svg.ownerSVGElement.getBoundingClientRect(), text = svg.getBoundingClientRect();
        check(text.right <= box.right + 1 && text.left >= box.left - 1 && text.top >= box.top - 1,
              "\"" + svg.textContent + "\" leaves its picture");
    }
});
