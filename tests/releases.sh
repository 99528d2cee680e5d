#!/bin/sh
# The whole test suite, built natively and run inside other releases of
# Debian: each has another glibc, another compiler, another set of headers.
#
# Each is made once by debootstrap, in a cache folder, and kept there with its
# packages. What is tested is the working tree, as far as git knows its files.
# One that cannot be had is a loud skip; a row that failed fails the whole.
#
# Mounts are made in a namespace of our own, processes too: nothing stays.
#
# Usage: releases.sh [RELEASE...]    (bullseye bookworm trixie sid)
# Environment: RELEASES_CACHE (~/.cache/memunreachable/releases),
#   DEBIAN_MIRROR, RELEASES_COMMAND (what to run, "make deps check").
set -u
cd "$(dirname "$0")/.." || exit 1
cache=${RELEASES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/memunreachable/releases}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
archive=http://archive.debian.org/debian
command=${RELEASES_COMMAND:-make deps check}
[ $# -gt 0 ] || set -- bullseye bookworm trixie sid
passed=0 failed=0 skipped=0

skip() {
	printf 'SKIPPED: %-10s %s\n' "$1" "$2"
	skipped=$((skipped + 1))
}

# Make the system in $cache/$1; half-made ones are thrown away.
fetch() {
	[ -e "$cache/$1/.complete" ] && return 0
	rm -rf "${cache:?}/$1"
	for from in "$mirror" "$archive"; do
		debootstrap --variant=minbase --include=make,ca-certificates \
			"$1" "$cache/$1" "$from" >"$cache/$1.log" 2>&1 || {
			rm -rf "${cache:?}/$1"
			continue
		}
		# An image of a mirror may be older than its dates allow.
		echo 'Acquire::Check-Valid-Until "false";' \
			>"$cache/$1/etc/apt/apt.conf.d/99dates"
		touch "$cache/$1/.complete"
		return 0
	done
	return 1
}

# The tree as it is here: tracked files and those about to be.
copy() {
	rm -rf "$cache/$1/src" && mkdir -p "$cache/$1/src" || return 1
	git ls-files -z --cached --others --exclude-standard |
		tar -c --null -T - --ignore-failed-read 2>/dev/null |
		tar -x -C "$cache/$1/src"
	cp /etc/resolv.conf "$cache/$1/etc/resolv.conf"
}

# The words are for the shell in the namespace to expand.
# shellcheck disable=SC2016
run() {
	unshare --mount --pid --fork --kill-child -- sh -c '
		mount --make-rprivate / &&
		mount -t proc proc "$1/proc" &&
		mount --rbind /dev "$1/dev" &&
		mount -t tmpfs tmpfs "$1/tmp" &&
		exec chroot "$1" sh -c "cd /src && $2"
	' sh "$cache/$1" "$command" >"$cache/$1.log" 2>&1 </dev/null
}

report() {
	release=$1 status=$2
	libc=$(chroot "$cache/$release" ldd --version | sed -n '1s/.* //p')
	counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$cache/$release.log" |
		tail -n 1)
	if [ "$status" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		grep -E 'FAILED|[1-9][0-9]* failed \(|Error [0-9]|error:' \
			"$cache/$release.log" | head -n 20 | sed 's/^/    /'
	fi
	printf '%-10s glibc %s: %s (exit status %s, log %s)\n' "$release" \
		"$libc" "${counts:-no count}" "$status" "$cache/$release.log"
}

mkdir -p "$cache" || exit 1
for release in "$@"; do
	if [ "$(id -u)" -ne 0 ]; then
		skip "$release" "debootstrap and chroot need root"
	elif ! command -v debootstrap >/dev/null; then
		skip "$release" "no debootstrap (package debootstrap)"
	elif ! fetch "$release"; then
		skip "$release" "cannot be fetched; see $cache/$release.log"
	elif ! copy "$release"; then
		skip "$release" "no room for the sources in $cache"
	else
		run "$release"
		report "$release" $?
	fi
done
echo "$passed releases passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
