# A bare Debian 12 in a folder, to install and use Auspex in. To be sourced, with $work, a folder of the caller's, set; needs root, the
# network, and Debian's mmdebstrap.

# make_root NAME [MIRROR]: apt and little else, in $work/NAME.
make_root() {
    mmdebstrap --quiet --variant=apt bookworm "$work/$1" ${2:+"$2"}
    mount -t proc proc "$work/$1/proc"
}

# inside NAME COMMAND...: in that root, with nothing of the environment here.
inside() {
    chroot "$work/$1" env --ignore-environment PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C.UTF-8 "${@:2}"
}

# install_in NAME PACKAGE...
install_in() {
    inside "$1" env DEBIAN_FRONTEND=noninteractive apt-get install --yes "${@:2}" >"$work/apt.log" 2>&1 || { cat "$work/apt.log"; return 1; }
}

# make_package PRESET: the package of a preset's build, in build/PRESET/package.
make_package() {
    cmake --preset "$1" >/dev/null
    cmake --build --preset "$1"
    rm -rf "build/$1/package"
    cpack --preset "$1" >/dev/null
}

# leave_roots: unmounts and removes; for traps.
leave_roots() {
    umount "$work"/*/proc 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
