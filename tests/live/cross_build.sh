#!/bin/sh
# The libraries build for the other CPU: include/mu/arch/ is complete.
set -u
compiler=aarch64-linux-gnu-gcc
if ! command -v "$compiler" >/dev/null; then
	echo "SKIPPED: no $compiler"
	exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if ! ${MAKE:-make} -s -j2 BUILD="$work" CC="$compiler" LD=aarch64-linux-gnu-ld \
	AR=aarch64-linux-gnu-ar NM=aarch64-linux-gnu-nm \
	OBJCOPY=aarch64-linux-gnu-objcopy CFLAGS="-O0 -Werror" libraries; then
	echo "FAIL: cross_build: not for aarch64"
	exit 1
fi
