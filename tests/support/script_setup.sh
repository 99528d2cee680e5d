# shellcheck shell=sh disable=SC2034 # others use what is set here
# For tests with real programs: a temporary folder, which is removed at the end;
# started programs are killed then; failures are counted by name.
build=$(cd "${BUILD:-build}" && pwd) || exit 1
recorder=$build/libmemunreachable-malloc-debug.so
work=$(mktemp -d) || exit 1
chmod 755 "$work"
name='' pids='' shown=''
failures=0
# Options of a test follow those of the whole run.
given=${MEMUNREACHABLE_OPTIONS:+$MEMUNREACHABLE_OPTIONS:}

# kill_ours PID...: the PID of a process that has ended may belong to a process
# of another test by now, which has another TESTS_PLAY, or to run.sh, which has
# none. One with an empty environment is ours if it is a child of this shell.
kill_ours() {
	for pid in "$@"; do
		play=$(tr '\0' '\n' <"/proc/$pid/environ" |
			sed -n 's/^TESTS_PLAY=//p')
		if [ "$play" = "${TESTS_PLAY:-}" ] ||
			grep -q "^PPid:.$$\$" "/proc/$pid/status"; then
			kill -9 "$pid"
		fi
	done 2>/dev/null
}

finish() {
	# shellcheck disable=SC2086 # words
	kill_ours $pids
	all_fit
	fit=$?
	rm -rf "$work"
	[ $fit -eq 0 ] || exit 1
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# fail WORD...: counts, and prints the files whose names are in $shown.
fail() {
	echo "FAILED: ${name:+$name: }$*"
	failures=$((failures + 1))
	for file in $shown; do
		[ ! -f "$file" ] || sed "s|^|	$file: |" "$file"
	done
}

# Has this shell the capability of that number? Root in a container may not.
may() {
	effective=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
	[ $((0x$effective >> $1 & 1)) -eq 1 ]
}

# CAP_SYS_PTRACE
may_trace_all() {
	may 19
}

# Is there a seccomp filter, as in a container? Under one no process can be made
# to do a system call, and the library makes none that could be refused.
is_filtered() {
	! grep -q '^Seccomp:.0' /proc/self/status
}

# The ways of looking at a process (--stop) that there are here.
ways_to_look() {
	if is_filtered; then
		echo "SKIPPED: --stop=fork: not under a seccomp filter" >&2
		echo read
	else
		echo fork read
	fi
}

# Can a terminal be made? A bare container has no /dev/pts.
has_terminals() {
	command -v script >/dev/null &&
		script -qec true /dev/null </dev/null >/dev/null 2>&1
}

# Wait, minutes at most, until the command says yes.
await() {
	tries=0
	until "$@" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || return 1
		sleep 0.1
	done
}

# hold PROGRAM...: it runs in the background as $pid, has printed "ready" to
# $said, and waits for its input to end.
said=$work/said
hold() {
	rm -f "$work/held_by" "$said"
	mkfifo "$work/held_by"
	"$@" <"$work/held_by" >"$said" &
	pid=$!
	pids="$pids $pid"
	exec 9>"$work/held_by"
	await is_held
	grep -q ready "$said" || fail "$1: not ready"
}

is_held() {
	grep -q ready "$said" || ! kill -0 "$pid"
}

# Its input ends: the status is its own.
let_go() {
	exec 9>&-
	wait "$pid"
}

# The report FILE is as the schema says, which is tested at the end: a python3
# for each report was a tenth of the time of all scripts.
fits_schema() {
	copy=$(mktemp "$work/fits.XXXXXX") || exit 1
	cp "$1" "$copy"
	echo "$copy is of: $name" >>"$work/reports"
}

all_fit() {
	[ -f "$work/reports" ] || return 0
	if ! command -v python3 >/dev/null; then
		echo "SKIPPED: no python3"
		return 0
	fi
	python3 tests/support/command/json_schema.py \
	    lib/writers/memunreachable-report.schema.json "$work"/fits.* \
	    >"$work/misfits"
	case $? in
	0) ;;
	77) cat "$work/misfits" ;;
	*)
		name='' shown=$work/reports
		fail "not as the schema says: $(cat "$work/misfits")"
		return 1
		;;
	esac
}

# Most of Valgrind's time for a program of a second is translation. From 3.16 on
# it can leave out traces, which are a fifth of it.
quicken_valgrind() {
	VALGRIND_OPTS=$(valgrind --help-debug 2>/dev/null |
		grep -o -e --vex-guest-chase=no)
	export VALGRIND_OPTS
}

# made PROGRAM COMPILER WORD...: by an object, which ccache keeps; it does not keep
# programs. Compiling C++ was a tenth of the time of all tests: what differs only in
# how it is linked is compiled once.
made() {
	made_as=$1
	shift
	object=$(for word in "$@"; do
		case $word in
		-s | -static) ;;
		*.c | *.cc | *.cpp) stat -L -c '%n %s %y' "$word" ;;
		*) echo "$word" ;;
		esac
	done | cksum | tr ' ' .).o
	case $made_as in
	*/*) object=${made_as%/*}/$object ;;
	esac
	[ -f "$object" ] || (
		for word in "$@"; do
			shift
			case $word in
			*.o | *.a) ;; # with two inputs nothing is kept
			*) set -- "$@" "$word" ;;
			esac
		done
		"$@" -Wno-unused-command-line-argument -c -o "$object"
	) || return
	for word in "$@"; do
		shift
		case $word in
		*.c | *.cc | *.cpp) set -- "$@" "$object" ;;
		*) set -- "$@" "$word" ;;
		esac
	done
	"$@" -o "$made_as"
}

# The number of the line in FILE that has the comment MARK.
line() {
	grep -n "/\* $2 \*/" "$1" | cut -d: -f1
}

# has FILE TEXT, has_no FILE TEXT: one line or more; like and unlike take an
# extended regular expression.
has() {
	found "$1" "$2" -F
}

like() {
	found "$1" "$2" -E
}

found() {
	grep -q "$3" -e "$2" "$1" || {
		fail "no \"$2\" in"
		sed 's/^/	/' "$1"
	}
}

has_no() {
	! grep -Fq -e "$2" "$1" || fail "\"$2\" is there"
}

unlike() {
	! grep -Eq -e "$2" "$1" || fail "\"$2\" is there"
}

# A kernel may be without CONFIG_IA32_EMULATION.
can_run_32_bits() {
	echo 'int main(void) { return 0; }' |
		i686-linux-gnu-gcc -static -x c -o "$work/short" - 2>/dev/null &&
		"$work/short" 2>/dev/null
}
