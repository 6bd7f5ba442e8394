// Of every page: nothing runs over the edge of the window, nothing is loaded from elsewhere, no text of a picture leaves it.
probe(() => {
    const wide = document.documentElement;
    check(wide.scrollWidth <= innerWidth, "the page is " + wide.scrollWidth + " wide: " + [...document.querySelectorAll("body *")]
        .filter(element => element.getBoundingClientRect().right > innerWidth && !element.closest(".scroll"))
        .slice(0, 3).map(element => element.outerHTML.slice(0, 80)).join(" | "));
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
