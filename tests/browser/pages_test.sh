#!/bin/sh
# Opens the pages of commands and committed reports in a browser without a window, 480 and 360 pixels wide and wider, and asks them: no
# error of a script, nothing over the edge, text that can be read, tables that sort, filter and fold, pictures that tell their values, a
# timeline that zooms; the page of auspex plan maps. Skipped (77) where there is no Chromium.
# usage: pages_test.sh AUSPEX REPOSITORY
set -u
here=$2/tests/browser
cd "$2" || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
# shellcheck source=tests/browser/browser.sh
. "$here/browser.sh"
make_pages "$1"

ask "$scratch/plan/index.html" 480 '#where=pp%3C%3D4&sort=memory:down' "$here/plan_page.js"
for page in "$scratch"/*/index.html; do
    bytes=$(wc -c < "$page")
    [ "$bytes" -lt 2000000 ] || { echo "$page has $bytes bytes"; failed=1; }
    case $page in
        */plan/* | */predict/* | */diff/*) widths="360 480 1280" ;;
        *) widths="360 480" ;;
    esac
    ask "$page" "$widths" '' "$here/any_page.js" "$here/kit_page.js"
done
for page in reports/*/index.html reports/*/*/index.html; do
    ask "$page" 480 '' "$here/any_page.js"
done

open_page --window-size=480,2000 --screenshot="$scratch/page.png" "file://$scratch/plan/index.html" > /dev/null
size=$(wc -c < "$scratch/page.png") || size=0
[ "$size" -gt 20000 ] || { echo "the picture of the page has $size bytes"; failed=1; }
exit $failed
