# What the tests of pages share: a browser without a window, and pages with questions in them. Sourced, with $here (this folder) and
# $scratch (a folder of the caller's) set.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "skipped: no Chromium (apt-get install chromium)"
    exit 77
}

# What every probe has: check() collects what does not hold, what probe() is given runs when the page is there, and is waited for. The list
# goes to the frame around it.
cat > "$scratch/head.html" << 'HEAD'
<script>
const faults = [];
addEventListener("error", event => faults.push("error: " + event.message));
addEventListener("unhandledrejection", event => faults.push("rejected: " + event.reason));
for (const level of ["error", "warn"]) console[level] = (...said) => faults.push("console." + level + ": " + said.join(" "));
const check = (holds, what) => { if (!holds) faults.push(what); };
const probes = [], probe = checks => probes.push(checks);
addEventListener("load", async () => {
    for (const checks of probes) {
        try { await checks(); } catch (error) { faults.push("thrown: " + error + " " + (error.stack || "").split("\n")[1]); }
    }
    parent.postMessage(faults.map(fault => innerWidth + " wide: " + fault + "\n").join("") + "probed", "*");
});
</script>
HEAD

# open_page FLAGS...: the browser with a profile of its own, at most a minute.
open_page() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" \
        --virtual-time-budget=20000 "$@" 2> "$scratch/browser.log"
}

# frame_page ADDRESS WIDTH...: a page with that one in frames, for a window cannot be narrower than 500 pixels. It shows what the probes say.
frame_page() {
    address=$1
    shift
    echo '<!DOCTYPE html><html><body style="margin:0">'
    for width in "$@"; do
        echo "<iframe src=\"$address\" width=\"$width\" height=\"2000\" style=\"border:0\"></iframe>"
    done
    cat << 'FRAME'
<pre id="said">The probes say:
</pre><script>
addEventListener("message", event => { document.getElementById("said").textContent += event.data + "\n"; });
</script></body></html>
FRAME
}

# ask PAGE WIDTHS FRAGMENT SCRIPT...: the page with scripts in it, which probe, must have nothing to complain of at any of the widths. A
# fragment begins with "#" or is empty.
ask() {
    page=$1 widths=$2 fragment=$3
    shift 3
    {
        sed -n '1,/<head>/p' "$page"
        cat "$scratch/head.html"
        sed '1,/<head>/d; /<\/body>/,$d' "$page"
        for script in "$@"; do
            printf '<script>\n'
            cat "$script"
            printf '</script>\n'
        done
        printf '</body></html>\n'
    } > "$scratch/page.html"
    # shellcheck disable=SC2086
    frame_page "file://$scratch/page.html$fragment" $widths > "$scratch/frame.html"
    open_page --window-size=2200,2100 --dump-dom "file://$scratch/frame.html" > "$scratch/dom.html"
    said=$(sed -n '/<pre id="said">/,/<\/pre>/p' "$scratch/dom.html" | sed '1d;$d')
    name="$page ($widths), ${script##*/}"
    # shellcheck disable=SC2086
    set -- $widths
    if [ "$(printf '%s\n' "$said" | grep -c '^probed$')" -ne $# ]; then
        printf '%s: a probe did not end\n%s\n' "$name" "$said"
        tail -3 "$scratch/browser.log"
        failed=1
        return
    fi
    said=$(printf '%s\n' "$said" | grep -v '^probed$' | sed '/^$/d')
    [ -z "$said" ] && { echo "$name: fine"; return; }
    printf '%s:\n%s\n' "$name" "$said"
    failed=1
}

# make_pages AUSPEX: one page of every command that needs no training, in $scratch/COMMAND.
make_pages() {
    job="--machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b --tiles"
    torch=$here/../compare/kineto/torch
    small="--machine aurora --stack optimus --workload mula-7b-a1b --plan mula-7b-a1b --tiles"
    # shellcheck disable=SC2086
    {
        "$1" plan $small 24 --global-batch 96 --out "$scratch/plan" &&
            "$1" memory $job 384 --out "$scratch/memory" &&
            "$1" plan --machine frontier --stack auspex --workload mula-7b-a1b --tiles 32,64,128 --global-batch 128 \
                --where 'pp=1,tp=1,micro_batch_size<=1' --tokens 10B --samples 40 --objective finish-by --out "$scratch/sizes" &&
            "$1" predict $job 3072 --tokens 4T --out "$scratch/predict" &&
            "$1" campaign $job 3072 --tokens 1T --walltime 24h --queue-wait 12h --spares 4 --samples 200 --vary interval=2min:2h:6 \
                --out "$scratch/campaign" &&
            "$1" scale $job 384,768,1536 --out "$scratch/scale" &&
            "$1" ablate $small 3072 --out "$scratch/ablate" &&
            "$1" place $job 3072 --placements contiguous,random --out "$scratch/place" &&
            "$1" collective --machine aurora --kind all-reduce --bytes 8:1GiB --ranks 768 --out "$scratch/collective" &&
            "$1" diff mula-100b-a7b mula-220b-a10b --machine aurora --stack optimus --workload mula-220b-a10b --tiles 3072 \
                --out "$scratch/diff" &&
            "$1" diff "$torch/plan.json" "$torch/rank0.pt.trace.json.gz" --machine "$torch/machine.json" \
                --stack "$torch/stack.json" --workload "$torch/workload.json" --out "$scratch/run" &&
            "$1" validate --cases tests/published/runs/lumi.json --out "$scratch/validate" &&
            "$1" calibrate --from aurora --machine aurora --stack optimus --out "$scratch/machine.json" \
                --report "$scratch/calibrate"
    } > "$scratch/made.txt" 2>&1 || {
        tail -3 "$scratch/made.txt"
        exit 1
    }
}
