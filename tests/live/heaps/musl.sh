#!/bin/sh
# Programs of musl, linked dynamically and statically: what is in use is what
# they record, from outside, in a core and in a saved look; threads that allocate
# all of the time are looked at without a false loss; a damaged heap is refused.
#
# MUSL_GCC: another compiler than musl-gcc, as of another release.
# shellcheck disable=SC2086 # words
set -u
. tests/support/script_setup.sh
cc=${MUSL_GCC:-musl-gcc}
here=tests/live/heaps/musl
if ! command -v "$cc" >/dev/null; then
	echo "SKIPPED: musl: no $cc (musl-tools)"
	exit 77
fi

for way in dynamic static; do
	[ $way = static ] && flag=-static || flag=
	for source in recorded lost; do
		$cc -Wall -Wextra -O1 $flag -o "$work/$source.$way" \
		    "$here/$source.c" || fail "$source.$way does not compile"
	done
done

# begin PROGRAM WORD...: in the background, until it is ready.
begin() {
	: >"$work/out"
	"$@" >"$work/out" &
	pid=$!
	pids="$pids $pid"
	await grep -q '^ready$' "$work/out"
}

end() {
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

live="--max-pause=10s -p"

# look WORD...: the report is in $work/report, as JSON.
look() {
	"$build/memunreachable" --format=json --timeout=120 "$@" \
	    >"$work/report" 2>"$work/err"
}

# recorded WAY SEED THREADS OPERATIONS: by each kind of source.
recorded() {
	name="recorded, $*"
	program=$work/recorded.$1
	shift
	begin "$program" "$@"
	grep -v ready "$work/out" >"$work/record"
	look $live "$pid" --by=block --limit=1000000
	mv "$work/report" "$work/live.json"
	look $live "$pid" -q --save "$work/look"
	look "$work/look" --by=block --limit=1000000
	mv "$work/report" "$work/look.json"
	reports=$work/live.json\ $work/look.json
	if [ -n "${1##1}" ]; then
		look $live "$pid" -q --core-out "$work/core"
		look --core "$work/core" --by=block --limit=1000000
		mv "$work/report" "$work/core.json"
		reports=$reports\ $work/core.json
	fi
	end
	python3 $here/compare.py "$work/record" $reports ||
		fail "other blocks than it records"
}

recorded dynamic 1 1 20000
recorded dynamic 2 2 20000
recorded dynamic 3 8 5000
recorded dynamic 4 64 500
recorded static 5 1 20000
recorded static 6 8 5000

# Everything is referred to all of the time, but what threads have in registers.
for way in dynamic static; do
	name="churn, $way"
	begin "$work/recorded.$way" 7 4 0
	complete=0
	for i in 1 2 3 4 5 6 7 8; do
		look $live "$pid"
		case $? in
		0) complete=$((complete + 1)) ;;
		3) has "$work/err" 'heap inconsistent\|busy' ;;
		*) fail "look $i: $(cat "$work/report" "$work/err")" ;;
		esac
	done
	[ $complete -ge 4 ] || fail "$complete of 8 looks were complete"
	kill -0 "$pid" || fail "it is gone"
	end
done

# Ten blocks and a large one are lost, others are held by all kinds of roots.
for way in dynamic static; do
	name="lost, $way"
	begin "$work/lost.$way"
	look $live "$pid" --by=block
	status=$?
	[ $status -eq 23 ] || fail "exit status $status: $(cat "$work/err")"
	has "$work/report" '"num_leaks": 11,'
	[ "$(grep -c '"size": 60,' "$work/report")" -eq 10 ] || fail "not ten"
	has "$work/report" '"size": 1048576,'
	[ -z "$(cat "/proc/$pid/task/$pid/children")" ] || fail "a copy is left"
	"$build/memunreachable" -p "$pid" >"$work/text" 2>&1
	has "$work/text" 'musl, 4 threads'
	grep -q LD_PRELOAD "$work/text" && fail "a recorder for glibc"
	grep -q malloc_trim "$work/text" && fail "a function of glibc"
	"$build/memunreachable" --doctor="$pid" >"$work/text" 2>&1
	[ $way = static ] || has "$work/text" 'has musl, whose heap is read'
	grep -q 'blocker\|cannot be found' "$work/text" && fail "not read"
	kill -0 "$pid" || fail "it is gone"
	end
done

# Nothing was allocated, and the malloc of static programs without free().
name=none
echo 'int pause(void); void *malloc(unsigned long); void *volatile p;' \
    'int main(int argc, char **argv) { (void)argv; if (argc > 1)' \
    'p = malloc(100); return pause(); }' >"$work/none.c"
$cc -O1 -static -o "$work/none" "$work/none.c" || fail "does not compile"
for word in '' allocates; do
	"$work/none" $word &
	pid=$!
	pids="$pids $pid"
	await grep -q "$work/none" "/proc/$pid/maps"
	look $live "$pid"
	status=$?
	[ $status -eq 3 ] || fail "'$word': exit status $status"
	has "$work/err" 'of no mallocng'
	end
done

# A group that was overwritten.
name=damaged
for kind in meta slots area; do
	begin "$work/lost.dynamic" $kind
	look $live "$pid"
	status=$?
	[ $status -eq 3 ] || fail "$kind: exit status $status: $(cat "$work/report")"
	has "$work/err" 'heap inconsistent'
	end
done
exit $((failures > 0))
