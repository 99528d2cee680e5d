#!/bin/sh
# Install what building and testing need, through the system's own package
# manager. Installs nothing that is there already.
set -u

DEBIAN="gcc g++ make binutils libc6-dev pkg-config check valgrind python3
	sqlite3 procps"
FEDORA="gcc gcc-c++ make binutils glibc-devel pkgconf check-devel valgrind
	python3 sqlite procps-ng"

if command -v apt-get >/dev/null; then
	missing=
	for package in $DEBIAN; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
			grep -q 'ok installed' || missing="$missing $package"
	done
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
	echo "deps: compiler, make, pkg-config, check, valgrind, python3, sqlite3"
	exit 1
fi

[ -n "$missing" ] || { echo "deps: everything is there"; exit 0; }

if [ "$(id -u)" -eq 0 ]; then
	as_root="env DEBIAN_FRONTEND=noninteractive"
elif command -v sudo >/dev/null; then
	as_root="sudo env DEBIAN_FRONTEND=noninteractive"
else
	echo "deps: missing:$missing"
	echo "deps: neither root nor sudo; as root run: $install$missing"
	exit 1
fi
# The lists of words are split by intention.
# shellcheck disable=SC2086
$as_root $update && $as_root $install $missing
