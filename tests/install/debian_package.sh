#!/usr/bin/env bash
# Makes the Debian package and the portable archive, installs each in a bare Debian 12 of its own, and uses it there.
# Needs root, the network, and Debian's mmdebstrap, dpkg-dev, lintian. Not one of ctest's: it takes minutes.
# usage: tests/install/debian_package.sh [MIRROR]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mirror=${1:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/auspex-package-XXXXXX")
# shellcheck source=tests/install/bare_root.sh
. tests/install/bare_root.sh
trap leave_roots EXIT

install() { install_in deb "$@"; }
toy=(--workload toy-moe --plan toy-ep2-dp2 --set plan.dp=1 --data /tmp/data --steps 2)
prepare=(data prepare --input /etc/debconf.conf /etc/adduser.conf --sequence-length 64 --out /tmp/data)
case=(--machine aurora --stack optimus --workload mula-220b-a10b --plan mula-220b-a10b)

for preset in debian portable; do
    make_package $preset
done
deb=$(ls build/debian/package/*.deb) archive=$(ls build/portable/package/*.tar.gz)

echo "== $deb"
dpkg-deb --info "$deb" | grep --after-context=99 "Architecture:"
lintian --allow-root --tag-display-limit 0 "$deb" || true

# Root folders with apt and little else.
make_root portable "$mirror"
make_root deb "$mirror"

cp "$deb" "$work/deb/tmp/auspex.deb"
inside deb apt-get update --quiet=2
install --no-install-recommends /tmp/auspex.deb
echo "== without recommended packages: no MPI launcher"
inside deb auspex --version
inside deb auspex "${prepare[@]}"
inside deb auspex predict "${case[@]}" --tiles 3072 | sed -n 1,5p
inside deb auspex train -n 2 "${toy[@]}" && exit 1
echo "== with them"
install openmpi-bin man-db bash-completion
inside deb auspex scale "${case[@]}" --tiles 384,768 --out /tmp/scaling
inside deb auspex train -n 2 "${toy[@]}"
inside deb env MANWIDTH=100 man auspex-predict | sed -n 1,12p
inside deb bash -c 'source /usr/share/bash-completion/bash_completion; _completion_loader auspex
    COMP_WORDS=(auspex predict --machine dgx); COMP_CWORD=3; _auspex; echo "completion: ${COMPREPLY[*]}"'
inside deb apt-get remove --yes auspex >/dev/null 2>&1
[[ -z $(inside deb find /usr -path '*auspex*') ]]

echo "== $archive"
tar -C "$work/portable/opt" -xf "$archive"
program=$(cd "$work/portable" && ls -d opt/*/bin/auspex)
inside portable "/$program" --version
inside portable "/$program" "${prepare[@]}" >/dev/null
inside portable "/$program" predict "${case[@]}" --tiles 3072 | sed -n 1,5p
inside portable "/$program" train -n 2 "${toy[@]}" && exit 1
echo "libraries:"
inside portable ldd "/$program"
echo "newest symbol of the C library: $(objdump -T "$work/portable/$program" "$work/portable/opt"/*/lib/auspex/* | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)"
echo "== all as expected"
