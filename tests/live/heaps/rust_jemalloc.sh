#!/bin/sh
# A program in Rust with a jemalloc of its own: exactly what it lost is reported, of
# the process and of its core. JEMALLOC_ARCHIVE names another static build.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable

for archive in ${JEMALLOC_ARCHIVE:-/usr/lib/*/libjemalloc_pic.a}; do
	[ ! -e "$archive" ] || break
done
if [ ! -e "$archive" ] || ! command -v rustc >/dev/null; then
	echo "SKIPPED: no rustc or no static jemalloc"
	exit 77
fi
nm --defined-only "$archive" 2>/dev/null |
	sed -n 's/^[0-9a-f]* [A-Z] \([a-z_]*\)$/\1 _rjem_\1/p' | sort -u |
	grep -v '^je_\|^_Z' >"$work/names"
objcopy --redefine-syms="$work/names" "$archive" "$work/librjem.a"
cat >"$work/scrub.c" <<'EOF'
#include <stdint.h>
#include <string.h>
#include "tests/support/clear_vectors.h"
#include "tests/support/hide.h"

void
scrub(void)
{
	scrub_stack();
	clear_vectors();
}
EOF
cc -O -I. -c -o "$work/scrub.o" "$work/scrub.c" || exit 1
if ! rustc --edition 2021 -g -o "$work/lose" tests/support/heaps/lose.rs \
	-L "$work" -l static=rjem -l stdc++ -C link-arg="$work/scrub.o" -C link-arg=-lgcc \
	>"$work/log" 2>&1; then
	echo "SKIPPED: rustc: $(tail -n 3 "$work/log")"
	exit 77
fi

is_ready() {
	grep -q ready "$work/said"
}

mkfifo "$work/input"
"$work/lose" <"$work/input" >"$work/said" &
pid=$!
pids=$pid
exec 3>"$work/input"
await is_ready
shown=$work/report
expect() {
	name=$1
	shift
	"$@" >"$work/report" 2>&1
	status=$?
	[ $status -eq 23 ] || fail "exit status $status"
	grep -q 'glibc .*, jemalloc' "$work/report" || fail "jemalloc is not named"
	grep -q ' 16000 bytes in 100 unreachable' "$work/report" ||
		fail "not the 100 that were lost"
}
expect process "$command" -p $pid
"$command" --core-out "$work/core" -p $pid >/dev/null 2>&1
expect core "$command" --core "$work/core"
exec 3>&-
[ $failures -eq 0 ]
