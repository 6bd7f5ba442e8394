#!/bin/sh
# Runs the accessibility checker axe-core over the pages of all commands: no violation, wide and narrow, light and dark. It is taken from
# $AXE_CORE (the file axe.min.js) or from node_modules here; without it, or without Chromium, skipped (77):
#   npm install --prefix build/axe axe-core && AXE_CORE=build/axe/node_modules/axe-core/axe.min.js tests/browser/axe_test.sh build/release/auspex .
# usage: axe_test.sh AUSPEX REPOSITORY [PAGE...]
set -u
here=$2/tests/browser
auspex=$1
cd "$2" || exit 2
shift 2
axe=${AXE_CORE:-node_modules/axe-core/axe.min.js}
[ -f "$axe" ] || {
    echo "skipped: no axe-core (npm install --prefix build/axe axe-core, then AXE_CORE=build/axe/node_modules/axe-core/axe.min.js)"
    exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
# shellcheck source=tests/browser/browser.sh
. "$here/browser.sh"
if [ $# -eq 0 ]; then
    make_pages "$auspex"
    set -- "$scratch"/*/index.html
fi
sed -n 's|^/\*! axe v\([0-9.]*\).*|axe-core \1|p' "$axe" | head -1
for page in "$@"; do
    ask "$page" "480 1280" '' "$axe" "$here/axe_page.js"
    # The page as people with a dark system see it.
    sed 's|(prefers-color-scheme: dark)|(min-width: 1px)|' "$page" > "$scratch/dark.html"
    echo "$page, dark:"
    ask "$scratch/dark.html" "480 1280" '' "$axe" "$here/axe_page.js"
done
exit $failed
