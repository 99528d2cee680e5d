#!/bin/sh
# Every frame that was recorded is in each report, and a cut is reported.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
name=deep
shown=$work/report

cat >"$work/deep.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
static __attribute__((noinline)) void down(int depth)
{
	void *volatile block;

	if (depth > 0) {
		down(depth - 1);
	} else {
		block = malloc(4242);
		block = NULL;
	}
	__asm__ volatile("" ::: "memory");
}
static __attribute__((noinline)) void scrub(void)
{
	volatile char bytes[65536];
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0;
}
int main(int argc, char **argv)
{
	char byte;

	down(argc > 1 ? atoi(argv[1]) : 0);
	scrub();
	if (argc > 2 && write(1, "ready\n", 6) == 6)
		return read(0, &byte, 1) < 0;
	return 0;
}
END
${CC:-cc} -O1 -g -fno-builtin -fno-optimize-sibling-calls -o "$work/deep" \
    "$work/deep.c" || exit 1

# frames REPORT: of the one entry.
frames() {
	grep -c '^ *#[0-9]*  pc ' "$1"
}

# check REPORT LEAST DEPTH WANTED: frames, cut or not. main() has some callers.
check() {
	got=$(frames "$1")
	if [ "$3" -ge "$2" ]; then
		[ "$got" -eq "$2" ] || fail "$got frames, not $2"
		grep -q "^ *only $2 frames were recorded (backtrace=$2)\$" "$1" ||
		    fail "the cut is not told"
	else
		[ "$got" -gt $(($3 + 2)) ] || fail "$got frames of $3 and more"
		[ "$(grep -c '(down)\|(down+' "$1")" -eq $(($3 + 1)) ] ||
		    [ "$4" = plain ] || fail "not all are named"
		! grep -q 'frames were recorded' "$1" || fail "cut for no reason"
	fi
}

# Called by await.
# shellcheck disable=SC2317
is_ready() {
	grep -q ready "$work/out"
}

for size in 16 64 200 256; do
	for depth in 5 40 100 240 300; do
		name="--backtrace=$size, depth $depth"
		"$command" "--backtrace=$size" -- "$work/deep" "$depth" \
		    >"$work/report" 2>&1
		[ $? -eq 23 ] || fail "status"
		check "$work/report" "$size" "$depth" named
	done
	name="at exit, $size"
	LD_PRELOAD="$build/libmemunreachable.so.0 $recorder" \
	    MEMUNREACHABLE_OPTIONS=${given}at_exit=1 \
	    LIBC_DEBUG_MALLOC_OPTIONS="backtrace=$size" "$work/deep" 100 \
	    2>"$work/report"
	check "$work/report" "$size" 100 plain
done

name='-p'
mkfifo "$work/in"
LD_PRELOAD=$recorder LIBC_DEBUG_MALLOC_OPTIONS=backtrace=64 "$work/deep" 40 wait \
    <"$work/in" >"$work/out" &
pid=$!
pids="$pids $pid"
exec 9>"$work/in"
await is_ready || fail "not ready"
"$command" -q -p "$pid" >"$work/report"
check "$work/report" 64 40 named
"$command" -q -p "$pid" --format=json -o "$work/json"
if command -v python3 >/dev/null; then
	python3 - "$work/json" <<'END' || fail "JSON"
import json, sys
leak = json.load(open(sys.argv[1]))["leaks"][0]
assert len(leak["frames"]) > 42, len(leak["frames"])
assert leak["frames_cut"] is False
END
fi
exec 9>&-
wait "$pid"

# Few of many blocks have a stack: they are the entries, the others a line.
name='sampled'
cat >"$work/many.c" <<'END'
#include <stdlib.h>
static __attribute__((noinline)) void lose(void)
{
	int i;

	for (i = 0; i < 5000; i++) {
		void *volatile block = malloc(1000 + 16 * (i % 5));
		block = NULL;
	}
}
int main(void)
{
	lose();
	return 0;
}
END
${CC:-cc} -O1 -g -fno-builtin -o "$work/many" "$work/many.c" || exit 1
LD_PRELOAD="$build/libmemunreachable.so.0 $recorder" \
    MEMUNREACHABLE_OPTIONS=${given}at_exit=1 \
    LIBC_DEBUG_MALLOC_OPTIONS=backtrace_sample=100000 "$work/many" \
    2>"$work/report"
[ "$(grep -c ' bytes unreachable at ' "$work/report")" -eq 1 ] ||
    fail "entries: $(grep -c ' bytes unreachable at ' "$work/report")"
grep -q '^  Stacks were sampled, one in about 100000 bytes: [0-9]* bytes in [0-9]* allocations have none; each byte with a stack stands for about [0-9.]*$' \
    "$work/report" || fail "not said"
! grep -q 'more entr' "$work/report" || fail "those without a stack are many"
if command -v python3 >/dev/null; then
	LIBC_DEBUG_MALLOC_OPTIONS=backtrace_sample=100000 "$command" \
	    --backtrace --format=json -o "$work/report" -- "$work/many" \
	    >/dev/null 2>&1
	python3 - "$work/report" <<'END' || fail "JSON: $(cat "$work/report")"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["num_entries"] == 2, report["num_entries"]
assert report["num_groups"] == 2, report["num_groups"]
assert report["sample_bytes"] == 100000, report["sample_bytes"]
first, second = report["leaks"]
assert first["frames"] == [] and second["frames"], report
assert 2 + first["similar_count"] + second["similar_count"] == 5000, report
END
fi
LD_PRELOAD="$build/libmemunreachable.so.0 $recorder" \
    MEMUNREACHABLE_OPTIONS=${given}at_exit=1 \
    LIBC_DEBUG_MALLOC_OPTIONS=backtrace "$work/many" 2>"$work/report"
! grep -q 'were sampled' "$work/report" || fail "said for no reason"
exit $((failures > 0))
