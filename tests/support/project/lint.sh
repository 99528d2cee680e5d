#!/bin/sh
# Everything that reads the sources and complains. Usage: lint.sh SOURCE...
# Needs gcc, clang, clang-tidy, clang-format, shellcheck and, for the second
# CPU, aarch64-linux-gnu-gcc; says which of them is missing.
set -u
bad=0
# What elfutils installs is the same for all CPUs, and not seen by a cross gcc.
flags="-std=gnu11 -D_GNU_SOURCE -O2 -Iinclude -I. -fPIC -Wall -Wextra
	-Wshadow -Werror -idirafter /usr/include"

sources=$*

# each COMMAND ARG...: some sources behind that, as often as it takes.
each() {
	# shellcheck disable=SC2086
	printf '%s\n' $sources | xargs -P "$(nproc)" -n 8 "$@"
}

for compiler in gcc clang aarch64-linux-gnu-gcc; do
	if ! command -v "$compiler" >/dev/null; then
		echo "SKIPPED: lint: no $compiler"
		continue
	fi
	# shellcheck disable=SC2086
	each "$compiler" $flags -fsyntax-only || bad=1
done
# Two external functions of one name may differ in what they take.
if command -v gcc >/dev/null; then
	lto=$(mktemp -d)
	CFLAGS="-O1 -flto=auto -Wlto-type-mismatch -Werror" \
		${MAKE:-make} -s BUILD="$lto" CC=gcc AR=gcc-ar NM=gcc-nm \
		"$lto/memunreachable" || bad=1
	rm -rf "$lto"
fi
if command -v clang-tidy >/dev/null; then
	# shellcheck disable=SC2016
	each sh -c 'clang-tidy --quiet --warnings-as-errors="*" "$@" -- \
		-std=gnu11 -D_GNU_SOURCE -Iinclude -I. 2>/dev/null' tidy ||
		bad=1
else
	echo "SKIPPED: lint: no clang-tidy"
fi
if command -v clang-format >/dev/null; then
	# shellcheck disable=SC2046
	clang-format --dry-run -Werror $(git ls-files '*.c' '*.h') || bad=1
else
	echo "SKIPPED: lint: no clang-format"
fi
if command -v shellcheck >/dev/null; then
	# shellcheck disable=SC2046
	shellcheck $(git ls-files '*.sh' '*.inc') .ci/run || bad=1
else
	echo "SKIPPED: lint: no shellcheck"
fi
exit $bad
