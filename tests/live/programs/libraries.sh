#!/bin/sh
# The libraries need only parts of libc, and build for the other CPU:
# include/mu/arch/ is complete.
set -u
. tests/support/script_setup.sh

# needs_libc FOLDER: libdl and libpthread are parts of libc before 2.34.
needs_libc() {
	for library in "$1/libmemunreachable.so" \
	    "$1/libmemunreachable-malloc-debug.so"; do
		others=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
			grep -vE '^(libc|libdl|libpthread|ld-linux[a-z0-9-]*)\.so\.')
		[ -z "$others" ] || fail "$library needs $others"
	done
}

needs_libc "$build"

compiler=aarch64-linux-gnu-gcc
if ! command -v "$compiler" >/dev/null; then
	echo "SKIPPED: libraries: no $compiler"
	exit 0
fi
# What did not change is not built again.
other=$build/aarch64
${MAKE:-make} -s -j2 BUILD="$other" CC="$compiler" LD=aarch64-linux-gnu-ld \
	AR=aarch64-linux-gnu-ar NM=aarch64-linux-gnu-nm \
	OBJCOPY=aarch64-linux-gnu-objcopy CFLAGS="-O0 -Werror" libraries ||
	fail "they do not build for aarch64"
needs_libc "$other"
