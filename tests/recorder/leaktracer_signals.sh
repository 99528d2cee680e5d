#!/bin/sh
# LeakTracer by signals: a program that waits in read() starts, stops and
# reports; also a child of it, and one signal that does two things.
# Functions are called by expect and await.
# shellcheck disable=SC2317
set -u
. tests/support/script_setup.sh
shown="err leaks.out report"
play=$build/tests/recorder/leaktracer_play
cd "$work" || exit 1
mkfifo in out

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
	env $variables LEAKTRACER_NOBANNER= LD_PRELOAD="$recorder" \
	    "$play" "$@" <in >out 2>err &
	pid=$! pids=$!
	target=$pid # env(1) has become the program
	exec 3>in 4<out
}

ready() {
	word=
	read -r word <&4
	[ "$word" = ready ] || fail "it is not ready"
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
	pids=
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
await grep -q ', size=300,' leaks.out || fail "an_idle_process_answers"
grep -q ', size=200,' leaks.out || fail "started"
grep -q ', size=100,' leaks.out && fail "before_the_start"
grep -q ', size=400,' leaks.out && fail "after_the_stop"
go_on
end

start LEAKTRACER_ONSTART_STARTALLTHREAD= LEAKTRACER_ONSIG_REPORT=HUP \
    LEAKTRACER_ONSIG_REPORTFILENAME=report LEAKTRACER_ONSIG_STOPALLTHREAD=HUP -- \
    lose 700 wait 0 lose 800 wait 0
ready
send HUP
await grep -q ', size=700,' report || fail "two_roles"
rm -f report
go_on
ready
send HUP
await grep -q ', size=700,' report || fail "two_roles again"
grep -q ', size=800,' report && fail "two_roles: not stopped"
go_on
end

start LEAKTRACER_ONSTART_STARTALLTHREAD= LEAKTRACER_ONSIG_REPORT=USR1 \
    LEAKTRACER_ONSIG_REPORTFILENAME=report -- \
    lose 700 fork 4 lose 800 wait 0
ready
target=$(pgrep -P "$pid")
send USR1
await grep -q ', size=800,' "report.$target" || fail "a child answers"
[ ! -e report ] || fail "a child has a separate file"
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
await grep -q ', size=500,' report || fail "after many signals"
go_on
end
exit $((failures > 0))
