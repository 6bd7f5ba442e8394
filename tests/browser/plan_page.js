// Of the page of auspex plan, opened with #where=pp<=4&sort=memory:down: what the address asks, then what clicks do.
probe(() => {
    const rows = () => [...document.querySelectorAll("#plans tbody tr")].filter(row => row.checkVisibility());
    const heads = [...document.querySelectorAll("#plans thead th")];
    const place = name => heads.findIndex(th => th.dataset.name === name);
    const numbers = name => rows().map(row => Number(row.cells[place(name)].textContent));
    const rises = (list, sign) => list.every((x, i) => i === 0 || sign * (x - list[i - 1]) >= 0);
    const shown = () => document.getElementById("plans-shown").textContent;
    const where = document.getElementById("plans-where");
    const ask = text => { where.value = text; where.dispatchEvent(new Event("input")); };
    const press = name => heads[place(name)].querySelector(".sort").click();
    const all = document.querySelectorAll("#plans tbody tr").length;

    check(where.value === "pp<=4", "the filter says " + where.value);
    check(numbers("pp").every(pp => pp <= 4), "the address filters");
    check(rows().length > 0 && rows().length < all, rows().length + " of " + all + " rows with pp<=4");
    check(rises(numbers("memory"), -1), "the address sorts: " + numbers("memory"));
    check(heads[place("memory")].ariaSort === "descending", "the sorted column says so");

    ask("");
    check(rows().length === all && shown() === all + " of " + all + " plans", "an empty filter shows all: " + shown());
    press("step");
    check(rises(numbers("step"), 1), "a press sorts upwards: " + numbers("step"));
    press("step");
    check(rises(numbers("step"), -1), "another one downwards: " + numbers("step"));
    press("ep");
    check(rises(numbers("ep"), 1), "by a field of the plan: " + numbers("ep"));
    check(location.hash.includes("sort=ep%3Aup"), "the address follows: " + location.hash);

    ask("recompute=norm pp>1");
    const column = place("recompute");
    check(rows().length > 0 && rows().every(row => row.cells[column].textContent.split("+").includes("norm")),
          "recompute=norm: " + rows().map(row => row.cells[column].textContent));
    check(numbers("pp").every(pp => pp > 1), "and pp>1: " + numbers("pp"));
    ask("GIVEN");
    check(rows().length === 1 && rows()[0].className === "given", "a part of the text: " + rows().length);
    ask("no such plan");
    check(rows().length === 0 && shown().startsWith("0 of"), "nothing matches: " + shown());

    const cells = () => [...document.querySelectorAll("#map td")];
    const best = cells().filter(td => td.className.includes("exact"));
    const step = document.querySelector("#plans tr.best").cells[place("step")].textContent;
    check(best.some(td => td.textContent === Number(step).toPrecision(3)), "the map has the best step, exactly");
    best[0].firstElementChild.click();
    check(rows().length > 0 && /^pp=\d+ ep=\d+$/.test(where.value), "a cell shows its plans: " + where.value);
    check(best[0].textContent === Math.min(...numbers("step")).toPrecision(3), "the fastest of which is the cell's");
    const across = document.getElementById("columns"), head = () => document.querySelector("#map th").textContent;
    const other = [...across.options].find(option => option.text === "micro_batch_size");
    across.value = other.value;
    across.dispatchEvent(new Event("change"));
    check(head() === "pp ↓  micro_batch_size →", "another pair is drawn: " + head());
    check(cells().some(td => td.className.includes("known")), "with steps");
});
