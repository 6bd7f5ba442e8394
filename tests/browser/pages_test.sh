#!/bin/sh
# Opens the pages of reports in a browser without a window, 480 pixels wide, and asks them: no error of a script, nothing
# over the edge; the page of auspex plan sorts, filters and maps. Skipped (77) where there is no Chromium.
# usage: pages_test.sh AUSPEX REPOSITORY
set -u
auspex=$1
here=$2/tests/browser
cd "$2" || exit 2
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "skipped: no Chromium (apt-get install chromium)"
    exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# What every probe has: check() collects what does not hold, probe() runs when the page is there and leaves the list in it.
cat > "$scratch/head.html" << 'HEAD'
<script>
const faults = [];
addEventListener("error", event => faults.push("error: " + event.message));
addEventListener("unhandledrejection", event => faults.push("rejected: " + event.reason));
const check = (holds, what) => { if (!holds) faults.push(what); };
const probe = checks => addEventListener("load", () => {
    try { checks(); } catch (error) { faults.push("thrown: " + error); }
    const said = document.body.appendChild(document.createElement("pre"));
    said.id = "said", said.textContent = "\n" + faults.join("\n") + "\nprobed\n";
});
</script>
HEAD

# open_page FLAGS...: the browser with a profile of its own, at most a minute.
open_page() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" \
        --virtual-time-budget=4000 "$@" 2> "$scratch/browser.log"
}

# ask PAGE PROBE [FRAGMENT]: the page with a probe in it must have nothing to complain of.
ask() {
    {
        sed -n '1,/<head>/p' "$1"
        cat "$scratch/head.html"
        sed '1,/<head>/d; /<\/body>/,$d' "$1"
        printf '<script>\n'
        cat "$here/$2"
        printf '</script>\n</body></html>\n'
    } > "$scratch/page.html"
    open_page --window-size=480,2000 --dump-dom "file://$scratch/page.html${3:-}" > "$scratch/dom.html"
    said=$(sed -n '/<pre id="said">/,/<\/pre>/p' "$scratch/dom.html" | sed '1d;$d')
    case $said in
        probed | *"
probed") ;;
        *) echo "$1: the probe did not end"; tail -3 "$scratch/browser.log"; failed=1; return ;;
    esac
    said=$(printf '%s\n' "$said" | sed '$d' | sed '/^$/d')
    [ -z "$said" ] && { echo "$1, $2: fine"; return; }
    printf '%s, %s:\n%s\n' "$1" "$2" "$said"
    failed=1
}

common="--machine aurora --stack optimus"
# shellcheck disable=SC2086
"$auspex" plan $common --workload mula-7b-a1b --plan mula-7b-a1b --tiles 24 --global-batch 96 --out "$scratch/plan" \
    > "$scratch/plan.txt" || exit 1
# shellcheck disable=SC2086
"$auspex" memory $common --workload mula-220b-a10b --plan mula-220b-a10b --tiles 384 --out "$scratch/memory" \
    > "$scratch/memory.txt" || exit 1

torch=tests/compare/kineto/torch
"$auspex" diff $torch/plan.json $torch/rank0.pt.trace.json.gz --machine $torch/machine.json --stack $torch/stack.json \
    --workload $torch/workload.json --out "$scratch/run" > "$scratch/run.txt" || exit 1

ask "$scratch/plan/index.html" plan_page.js '#where=pp%3C%3D4&sort=memory:down'
for page in "$scratch/plan/index.html" "$scratch/memory/index.html" "$scratch/run/index.html" reports/*/index.html reports/*/*/index.html; do
    [ -f "$page" ] && ask "$page" any_page.js
done

open_page --window-size=480,2000 --screenshot="$scratch/page.png" "file://$scratch/plan/index.html" > /dev/null
size=$(wc -c < "$scratch/page.png") || size=0
[ "$size" -gt 20000 ] || { echo "the picture of the page has $size bytes"; failed=1; }
exit $failed
