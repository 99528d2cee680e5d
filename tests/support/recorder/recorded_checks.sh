# shellcheck shell=sh
# For tests/live/heaps/recorded_*.sh: run a program by itself, and with the recorder,
# and judge what it logged.
#
# Each program says one line: threads at most; looks; blocks walked and
# recorded, of all looks together; how many were missing, extra, or of another
# size. Its output must be the same as by itself.
#
# RECORDED_FULL=1: many more looks. RECORDED_ROWS=FILE: append a line
# "release|program|threads|looks|walked|recorded|missing|extra|resized" for
# each, which tests/support/recorder/recorded_rows.sh makes a table of.
. tests/support/script_setup.sh
shim=$build/tests/support/recorder/recorder_shim.so
release=$(getconf GNU_LIBC_VERSION)
release=${release#glibc }
checked=0 filter=''
growth=60
[ -z "${RECORDED_FULL:-}" ] || growth=10
HOME=$work LC_ALL=C TZ=UTC
export HOME LC_ALL TZ
unset GLIBC_TUNABLES

has() {
	command -v "$1" >/dev/null && return
	echo "SKIPPED: no $1"
	return 1
}

# From here on a command's programs are recorded, from their FIRST call on.
recorded() {
	first=$1
	shift
	RECORDER_LOG=$work/log RECORDER_FIRST=$first RECORDER_GROWTH=$growth \
		LD_PRELOAD=$shim "$@"
}

# What was logged, as one line. Threads and looks there must have been.
judge() {
	row=$(awk '$1 == "ROW" {
			n++; w += $7; r += $8; m += $9; e += $10; z += $11
			if ($6 > t) t = $6
		}
		END { printf "%d|%d|%d|%d|%d|%d|%d", t, n, w, r, m, e, z }' \
	    "$work/log")
	echo "$row" | awk -F'|' -v name="$name" '{
		printf "  %s: %d threads, %d looks: walked %d, recorded %d, " \
		    "missing %d, extra %d, of another size %d\n",
		    name, $1, $2, $3, $4, $5, $6, $7 }'
	if grep -v '^ROW .* complete; $' "$work/log" >"$work/bad"; then
		fail "walk and record do not agree"
		sed 's/^/  /' "$work/bad" | head -n 20
	fi
	threads=${row%%|*}
	looks=${row#*|}
	looks=${looks%%|*}
	[ "$threads" -ge "$1" ] || fail "fewer than $1 threads"
	[ "$looks" -ge 4 ] || fail "only $looks looks"
	[ -z "${RECORDED_ROWS:-}" ] ||
		echo "$release|$name|$row" >>"$RECORDED_ROWS"
	checked=$((checked + 1))
}

same() {
	sed "$filter" "$work/$1" >"$work/filtered"
	sed "$filter" "$work/$2" | cmp -s - "$work/filtered" && return
	fail "other output ($2) than by itself"
	sed "$filter" "$work/$2" | diff - "$work/filtered" | head -n 10
}

# NAME, threads at least, first call looked at, command: by itself, recorded
check() {
	name=$1 least=$2 first=$3
	shift 3
	: >"$work/log"
	chmod 666 "$work/log"
	if ! "$@" >"$work/out0" 2>"$work/err0"; then
		fail "does not run by itself"
		tail -n 5 "$work/err0"
		return
	fi
	recorded "$first" "$@" >"$work/out1" 2>"$work/err1" ||
		fail "ended with status $?"
	same out0 out1
	same err0 err1
	judge "$least"
}

has_socket() {
	[ -S "$work/socket" ] || ! kill -0 "$pid" 2>/dev/null
}

# NAME, threads at least, first call, client, command: serve it twice
serve() {
	name=$1 least=$2 first=$3 client=$4
	shift 4
	: >"$work/log"
	chmod 666 "$work/log"
	for run in 0 1; do
		rm -f "$work/socket"
		if [ $run = 0 ]; then
			"$@" >"$work/said$run" 2>&1 &
		else
			RECORDER_LOG=$work/log RECORDER_FIRST=$first \
				RECORDER_GROWTH=$growth LD_PRELOAD=$shim \
				"$@" >"$work/said$run" 2>&1 &
		fi
		pid=$!
		pids=$pid
		if ! await has_socket || [ ! -S "$work/socket" ]; then
			fail "run $run: does not start"
			cat "$work/said$run"
			return
		fi
		perl "$client" "$work/socket" >"$work/out$run" 2>&1 ||
			fail "run $run: the client was not content"
		kill -TERM "$pid"
		wait "$pid"
		pids=
	done
	same out0 out1
	judge "$least"
}

# The end of each script.
conclude() {
	[ $failures -eq 0 ] || exit 1
	[ $checked -gt 0 ] || exit 77
}
