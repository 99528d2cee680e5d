#!/bin/sh
# Install what building and testing need, through the system's own package
# manager. Installs nothing that is there already. What only single tests need
# (programs to check, allocators to be refused) is installed if the release has
# it; a test without its program says so and is skipped.
set -u

DEBIAN="gcc g++ make binutils libc6-dev pkg-config check valgrind python3
	sqlite3 procps libjansson-dev libzstd-dev libdw-dev libelf-dev libbsd-dev libiberty-dev"
DEBIAN_SERVERS="nginx-light memcached"
DEBIAN_WANTED="gdb strace zstd lz4 xz-utils git perl libglib2.0-dev
	gcc-i686-linux-gnu libc6-i386 libc6-dev-i386-cross
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross libjemalloc-dev libmimalloc-dev
	libgoogle-perftools-dev musl-tools python3-fastjsonschema libfontconfig1
	libgtest-dev catch2 clang python3-pytest cmake meson ninja-build automake
	python3-setuptools python3-wheel doctest-dev libcmocka-dev
	libboost-test-dev libc++-dev libc++abi-dev qtbase5-dev qt6-base-dev
	python3-fusepy fuse3 dwz golang-go"
FEDORA="gcc gcc-c++ make binutils glibc-devel pkgconf check-devel valgrind
	python3 sqlite procps-ng jansson-devel libzstd-devel elfutils-devel
	elfutils-libelf-devel libbsd-devel binutils-devel python3-fastjsonschema"

lacking() {
	for package in $1; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
			grep -q 'ok installed' || printf ' %s' "$package"
	done
}

wanted=
if command -v apt-get >/dev/null; then
	missing=$(lacking "$DEBIAN")
	wanted=$(lacking "$DEBIAN_WANTED")
	servers=$(lacking "$DEBIAN_SERVERS")
	# A package of a server starts it, at every boot from then on.
	if [ -n "$servers" ] && [ -d /run/systemd/system ]; then
		echo "deps: not installed, for they would be started:$servers"
	else
		wanted="$wanted$servers"
	fi
	update="apt-get update -qq"
	install="apt-get install -y --no-install-recommends"
elif command -v dnf >/dev/null; then
	missing=
	for package in $FEDORA; do
		rpm -q --whatprovides "$package" >/dev/null 2>&1 ||
			missing="$missing $package"
	done
	update=true
	install="dnf install -y"
else
	echo "deps: no apt-get and no dnf here. Install by hand: a C and a C++"
	echo "deps: compiler, make, pkg-config, check, valgrind, python3, sqlite3,"
	echo "deps: jansson, zstd, elfutils' libdw and libelf, libbsd, libiberty"
	exit 1
fi

[ -n "$missing$wanted" ] || { echo "deps: everything is there"; exit 0; }

if [ "$(id -u)" -eq 0 ]; then
	as_root="env DEBIAN_FRONTEND=noninteractive"
elif command -v sudo >/dev/null; then
	as_root="sudo env DEBIAN_FRONTEND=noninteractive"
elif [ -z "$missing" ]; then
	echo "deps: not installed, some tests will be skipped:$wanted"
	exit 0
else
	echo "deps: missing:$missing"
	echo "deps: neither root nor sudo; as root run: $install$missing"
	exit 1
fi

# The lists of words are split by intention.
# shellcheck disable=SC2086
$as_root $update && { [ -z "$missing" ] || $as_root $install $missing; } ||
	exit 1
for package in $wanted; do
	# shellcheck disable=SC2086
	$as_root $install "$package" >/dev/null 2>&1 ||
		echo "deps: no $package here: tests that need it are skipped"
done
