#!/bin/sh
# LeakTracer by signals: a program that waits in read() starts, stops and
# reports; also a child of it, and one signal that does two things.
# Functions are called by expect and soon.
# shellcheck disable=SC2317
set -u
build=$(cd "${BUILD:-build}" && pwd) || exit 1
library=$build/libmemunreachable-malloc-debug.so
play=$build/tests/recorder/leaktracer_play
work=$(mktemp -d) || exit 1
failures=0 pid=
trap '[ -n "$pid" ] && kill -9 "$pid" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
mkfifo in out

failed() {
	echo "FAILED: leaktracer_signals: $1" >&2
	for file in err leaks.out report; do
		[ -f $file ] && grep -v '^# module' $file | sed "s/^/  $file: /" >&2
	done
	failures=$((failures + 1))
}

# start VARIABLE=VALUE... -- WORD...: in the background; 3 and 4 are its pipes.
start() {
	rm -f leaks.out report
	variables=
	while [ "$1" != -- ]; do
		variables="$variables $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	env $variables LEAKTRACER_NOBANNER= LD_PRELOAD="$library" \
	    "$play" "$@" <in >out 2>err &
	pid=$!
	target=$pid # env(1) has become the program
	exec 3>in 4<out
}

ready() {
	word=
	read -r word <&4
	[ "$word" = ready ] || failed "it is not ready"
}

send() {
	kill -"$1" "$target"
}

go_on() {
	echo >&3
}

end() {
	exec 3>&- 4<&-
	wait "$pid"
	pid=
}

# soon COMMAND...: true within two seconds.
soon() {
	tries=0
	until "$@" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || return 1
		sleep 0.02
	done
}

start LEAKTRACER_ONSIG_STARTALLTHREAD=USR1 LEAKTRACER_ONSIG_STOPALLTHREAD=SIGUSR2 \
    LEAKTRACER_ONSIG_REPORT=36 -- \
    lose 100 wait 0 lose 200 thread 2 lose 300 wait 0 lose 400 wait 0
ready
send USR1
go_on
ready
send USR2
go_on
ready
send 36
soon grep -q ', size=300,' leaks.out || failed "an_idle_process_answers"
grep -q ', size=200,' leaks.out || failed "started"
grep -q ', size=100,' leaks.out && failed "before_the_start"
grep -q ', size=400,' leaks.out && failed "after_the_stop"
go_on
end

start LEAKTRACER_ONSTART_STARTALLTHREAD= LEAKTRACER_ONSIG_REPORT=HUP \
    LEAKTRACER_ONSIG_REPORTFILENAME=report LEAKTRACER_ONSIG_STOPALLTHREAD=HUP -- \
    lose 700 wait 0 lose 800 wait 0
ready
send HUP
soon grep -q ', size=700,' report || failed "two_roles"
rm -f report
go_on
ready
send HUP
soon grep -q ', size=700,' report || failed "two_roles again"
grep -q ', size=800,' report && failed "two_roles: not stopped"
go_on
end

start LEAKTRACER_ONSTART_STARTALLTHREAD= LEAKTRACER_ONSIG_REPORT=USR1 \
    LEAKTRACER_ONSIG_REPORTFILENAME=report -- \
    lose 700 fork 4 lose 800 wait 0
ready
target=$(pgrep -P "$pid")
send USR1
soon grep -q ', size=800,' "report.$target" || failed "a child answers"
[ ! -e report ] || failed "a child has a separate file"
go_on
end

# A hail of signals into a program that allocates: it ends, and the last report
# is whole.
start LEAKTRACER_ONSTART_STARTALLTHREAD= LEAKTRACER_ONSIG_REPORT=USR1 \
    LEAKTRACER_ONSIG_STARTALLTHREAD=USR2 LEAKTRACER_ONSIG_REPORTFILENAME=report -- \
    wait 0 lose 500 wait 0
ready
i=0
while [ $i -lt 50 ]; do
	send USR1
	send USR2
	i=$((i + 1))
done
go_on
ready
sleep 0.2
rm -f report
send USR1
soon grep -q ', size=500,' report || failed "after many signals"
go_on
end
exit $((failures > 0))
