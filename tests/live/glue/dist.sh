#!/bin/sh
# make dist: the same bytes twice, and what is in them.
set -u
. tests/support/script_setup.sh
unset MAKEFLAGS MAKELEVEL MFLAGS
git rev-parse HEAD >/dev/null 2>&1 || {
	echo "SKIPPED: no git repository"
	exit 77
}
shown=$work/out
make BUILD="$work/one" dist >"$work/out" 2>&1 || fail "make dist"
sleep 1
make BUILD="$work/two" dist >"$work/out" 2>&1 || fail "make dist"
cmp "$work"/one/*.tar.gz "$work"/two/*.tar.gz || fail "other bytes"
tar -tzf "$work"/one/*.tar.gz >"$work/out" || fail "no tarball"
like "$work/out" '^memunreachable-[0-9.]+/Makefile$'
unlike "$work/out" '/build/|/\.git/'
exit $((failures > 0))
