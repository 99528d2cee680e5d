#!/bin/sh
# A report is never written to what another user has put at its name: each kind
# of report, and each kind of file. The name contains the process ID, so the
# shell that becomes the program prepares it.
set -u
. tests/support/script_setup.sh
program=$build/tests/recorder/files_program
chmod 1777 "$work"

if [ "$(id -u)" -ne 0 ]; then
	echo "SKIPPED: only root can make files of another user"
	exit 0
fi

# The environment that asks for a report of this kind, a variable a line.
ask() {
		case $1 in
	log)
		echo "LD_PRELOAD=$build/libmemunreachable.so.0"
		echo "MEMUNREACHABLE_OPTIONS=at_exit=1:exitcode=0:log_path=$work/r"
		;;
	dump)
		echo "LD_PRELOAD=$recorder"
		echo "LIBC_DEBUG_MALLOC_OPTIONS=bt bt_dmp_on_ex bt_dmp_pre=$work/r"
		;;
	journal)
		echo "LD_PRELOAD=$recorder"
		journal="record_allocs record_allocs_on_exit"
		echo "LIBC_DEBUG_MALLOC_OPTIONS=$journal record_allocs_file=$work/r"
		;;
	leaktracer)
		echo "LD_PRELOAD=$recorder"
		echo "LEAKTRACER_AUTO_REPORTFILENAME=$work/r"
		;;
	esac
}

end_of() {
	case $1 in
	log | journal) echo .PID ;;
	dump) echo .PID.exit.txt ;;
	leaktracer) echo ;;
	esac
}

# The first words of each report.
begin_of() {
	case $1 in
	log) echo 'libmemunreachable: ' ;;
	dump) echo 'Android Native Heap Dump' ;;
	journal) echo '[0-9]*: malloc' ;;
	leaktracer) echo '# LeakTracer report' ;;
	esac
}

# play KIND COMMAND: run with what COMMAND puts at $name.
play() {
	rm -rf "${work:?}"/*
	name=$1:$2
	# shellcheck disable=SC2016 # the inner shell expands these
	timeout -k 1 60 sh -c '
		name=$1$(echo "$2" | sed "s/PID/$$/")
		echo "$name" >"$3/name"
		umask "${5:-022}"
		eval "$4"
		IFS="
"
		export $6
		exec "$7" lose
	' sh "$work/r" "$(end_of "$1")" "$work" "$2" "${3:-022}" "$(ask "$1")" \
	    "$program" >"$work/out" 2>"$work/err"
	status=$?
	[ $status -eq 0 ] || fail "status $status"
	name=$(cat "$work/name")
}

# The report is elsewhere, and the words say why and where.
elsewhere() {
	grep -q "$name: $2" "$work/err" || fail "not said: $2"
	if [ "$1" = log ]; then
		grep -q 'logging to stderr instead' "$work/err" ||
		    fail "not said where"
		grep -q 'unreachable out of' "$work/err" ||
		    fail "no report on stderr"
		return
	fi
	grep -q "; written to $name.1 instead\$" "$work/err" ||
	    fail "not said where"
	grep -q "^$(begin_of "$1")" "$name.1" || fail "no report"
	[ "$(stat -c '%a %U' "$name.1")" = '600 root' ] || fail "mode"
}

# An earlier file of ours at $name: a dump leaves it and has a number.
beside_ours() {
	[ "$1" = dump ] || return
	[ "$(cat "$name")" = x ] || fail "written to"
	name=${name%.txt}.2.txt
}

for kind in log dump journal leaktracer; do
	for mask in 022 000 0777; do
		play $kind : $mask
		grep -q "^$(begin_of $kind)" "$name" || fail "no report"
		[ "$(stat -c %a "$name")" = 600 ] ||
		    fail "mode $(stat -c %a "$name") under umask $mask"
	done
	# shellcheck disable=SC2016 # the inner shell's
	for mode in 600 666; do
		play $kind 'mkfifo -m '$mode' "$name"; chown nobody "$name"'
		elsewhere $kind 'it belongs to another user'
		[ -p "$name" ] || fail "the FIFO is gone"
		play $kind 'echo >"$name"; chmod '$mode' "$name"
			chown nobody "$name"'
		elsewhere $kind 'it belongs to another user'
		[ "$(cat "$name")" = "" ] || fail "the file was written"
		[ "$(stat -c %U "$name")" = nobody ] || fail "not nobody's"
	done
	# shellcheck disable=SC2016
	play $kind 'ln -s target "$name"'
	elsewhere $kind 'it is a symbolic link'
	[ ! -e "$work/target" ] || fail "the link was followed"
	# shellcheck disable=SC2016
	play $kind 'mkdir "$name"'
	elsewhere $kind 'Is a directory'
	# shellcheck disable=SC2016
	play $kind 'mkfifo -m 600 "$name"'
	elsewhere $kind 'it is a FIFO that no process has open for reading'
	# Our own FIFO, and a reader.
	# shellcheck disable=SC2016
	play $kind 'mkfifo "$name"; (exec cat "$name" >"$3/read") 2>&- >&- &
		sleep 0.2'
	n=0
	while ! grep -q "^$(begin_of $kind)" "$work/read" && [ $n -lt 100 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	[ $n -lt 100 ] || fail "nothing in our own FIFO"
	[ -p "$name" ] || fail "our own FIFO is gone"
	# A file of ours that others may write to, or know by another name.
	# shellcheck disable=SC2016
	for command in 'echo x >"$name"; chmod 666 "$name"' \
	    'echo x >"$3/other"; ln "$3/other" "$name"'; do
		play $kind "$command"
		[ "$kind" = log ] || {
			beside_ours $kind
			grep -q "^$(begin_of $kind)" "$name" || fail "no report"
			[ "$(stat -c '%a %h' "$name")" = "600 1" ] || fail "mode"
			continue
		}
		grep -q 'logging to stderr instead' "$work/err" || fail "taken"
		[ "$(cat "$name")" = x ] || fail "written to"
	done
	# shellcheck disable=SC2016
	play $kind 'echo x >"$name"; chmod 644 "$name"'
	beside_ours $kind
	grep -q "^$(begin_of $kind)" "$name" || fail "our own file: no report"
	[ "$(stat -c %a "$name")" = 600 ] || fail "our own file: mode"
done

# A FIFO of ours whose reader does not read: the program ends all the same.
for kind in dump journal; do
	# shellcheck disable=SC2016
	play $kind 'mkfifo "$name"; (exec sleep 10 <"$name") 2>&- >&- &
		sleep 0.2
		exec 9>"$name"; head -c 65536 /dev/zero >&9; exec 9>&-'
	grep -q 'the pipe is full, and its reader does not read' \
	    "$work/err" || fail "not said"
done
exit $((failures > 0))
