#!/bin/sh
# The static command is one file of at most 10 MB. Where nothing else of us is
# installed it checks a process, a core and a command, and says that it preloads
# nothing; in an empty root, too.
set -u
. tests/support/command/command.sh

name=build
make -s BUILD="$build" static >"$work/make" 2>&1 || {
	grep -q 'cannot find -l' "$work/make" && {
		echo "SKIPPED: static_command: $(grep -m 1 'cannot find' "$work/make")"
		exit 77
	}
	fail "make static: $(cat "$work/make")"
	exit 1
}
mkdir "$work/root" "$work/root/proc"
static=$work/root/memunreachable
cp "$build/memunreachable-static" "$static"
[ "$(stat -c %s "$static")" -le 10485760 ] || fail "more than 10 MB"
readelf -l "$static" | grep -q INTERP && fail "it needs an interpreter"

cat >"$work/loses.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static __attribute__((noinline)) void scrub(void)
{
	char room[4096];

	memset(room, 0, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
}
static __attribute__((noinline)) void lose(void)
{
	int i;

	for (i = 0; i < 5; i++)
		memset(malloc(100), 1, 100);
}
int main(int argc, char **argv)
{
	(void)argv;
	lose();
	scrub();
	if (argc > 1)
		pause();
	return 0;
}
END
${CC:-cc} -g -O0 -o "$work/loses" "$work/loses.c" || exit 1
${CC:-cc} -g -O0 -static -o "$work/root/loses" "$work/loses.c" || exit 1
lost='520 bytes in 5 unreachable allocations'

# says STATUS PATTERN COMMAND...
says() {
	expected=$1 pattern=$2
	shift 2
	"$@" >"$work/out" 2>"$work/err"
	status=$?
	cat "$work/err" >>"$work/out"
	[ $status -eq "$expected" ] || fail "exit status $status: $*"
	grep -q -- "$pattern" "$work/out" || fail "no \"$pattern\": $*"
}

shown=$work/out
name='a command'
says 23 "$lost" "$static" -- "$work/loses"
says 23 'checked from outside: no libmemunreachable' "$static" -- "$work/loses"
[ "$(grep -c 'checked from outside' "$work/out")" -eq 1 ] || fail "said twice"
says 23 '"num_leaks": 5' "$static" -q --format=json -- "$work/loses"
grep -q 'checked from outside' "$work/out" && fail "not quiet"
says 3 'no libmemunreachable-malloc-debug' "$static" --backtrace -- "$work/loses"
name='children'
says 23 "$lost" "$static" --children -- sh -c "$work/loses; true"

name='a process'
"$work/loses" wait &
pid=$!
pids=$pid
waits() {
	grep -q '^State:.S' "/proc/$1/status" && grep -q heap "/proc/$1/maps"
}
await waits "$pid"
says 23 "$lost" "$static" -p "$pid"
says 0 'permission: we may' "$static" --doctor "$pid"
name='a core'
says 23 "$lost" "$static" -p "$pid" --core-out "$work/core"
says 23 "$lost" "$static" --core "$work/core"
kill "$pid"

name='an empty root'
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
	says 23 "$lost" unshare --mount sh -c "mount --bind /proc $work/root/proc &&
		exec chroot $work/root /memunreachable -- /loses"
else
	echo "SKIPPED: static_command: an empty root: may not mount" >&2
fi
exit $((failures > 0))
