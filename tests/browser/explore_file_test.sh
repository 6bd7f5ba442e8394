#!/bin/sh
# The page of auspex explore as one file (cmake --preset wasm), opened from disk in a browser without a window, its sliders dragged, compared
# with auspex predict. Skipped (77) where it has not been built, and where there is no Chromium, or no Python.
# usage: explore_file_test.sh AUSPEX REPOSITORY
set -u
cd "$2" || exit 2
page=$2/build/wasm/explore.html
[ -e "$page" ] || { echo "skipped: no $page (cmake --preset wasm && cmake --build --preset wasm)"; exit 77; }
command -v python3 > /dev/null || { echo "skipped: no Python"; exit 77; }
command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || {
    echo "skipped: no Chromium (apt-get install chromium)"
    exit 77
}
exec python3 tests/browser/explore_page.py "$1" "file://$page"
