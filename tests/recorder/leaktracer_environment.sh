#!/bin/sh
# The LEAKTRACER_ variables, the file, the exit status.
# Functions are called by expect and await.
# shellcheck disable=SC2317
set -u
. tests/support/script_setup.sh
shown="err leaks.out report"
play=$build/tests/recorder/leaktracer_play
status=0
cd "$work" || exit 1

# try VARIABLE=VALUE... -- WORD...: the play, preloaded.
try() {
	rm -f leaks* report* out err
	set -- "$@" --end
	variables=
	while [ "$1" != -- ]; do
		variables="$variables $1"
		shift
	done
	shift
	for word; do
		shift
		[ "$word" = --end ] || set -- "$@" "$word"
	done
	# The variables are words by intention, the values have no blanks.
	# shellcheck disable=SC2086
	timeout 20 env $variables LD_PRELOAD="$recorder" "$play" "$@" \
	    >out 2>err </dev/null
	status=$?
}

# expect WHAT COMMAND...
expect() {
	what=$1
	shift
	"$@" || fail "$what"
}

records() {
	[ "$(grep -c '^leak, ' "$1")" = "$2" ]
}

has() {
	grep -q -- "$2" "$1"
}

no_file() {
	[ ! -e "$1" ]
}

auto=LEAKTRACER_AUTO_REPORTFILENAME=report
quiet=LEAKTRACER_NOBANNER=

try $auto -- lose 700 free 800 lose 900
expect auto records report 2
expect auto_status [ "$status" = 0 ]
expect line has report \
    '^leak, time=[0-9]*\.[0-9]\{6\}, stack=0x[0-9a-f x]*, size=700, data=[A-Z]\{50\}$'
expect first has report '^# LeakTracer report diff_utc_mono=[0-9]*\.[0-9]\{6\}$'
expect first_is_first [ "$(head -c 33 report)" = "# LeakTracer report diff_utc_mono" ]
expect lines_by_time [ "$(sed -n 's/^leak.* size=\([0-9]*\),.*/\1/p' report | tr '\n' ' ')" = "700 900 " ]
expect module has report '^# module [0-9a-f]*-[0-9a-f]* [0-9a-f]* [0-9a-f]* [0-9a-f-]* /.*/leaktracer_play$'
expect module has report '^# module .*/libc'
expect mode [ "$(stat -c %a report)" = 600 ]
expect banner [ "$(cat err)" = "$(head -n 1 err)" ]
expect banner has err '^LeakTracer 3.0.0 (shared library) -- '

# The first frame is of the program, no wrapper's, and there are more than five.
try $auto $quiet LEAKTRACER_STACK_DEPTH=1 -- lose 700
expect banner [ ! -s err ]
address=$(sed -n 's/^leak.*stack=0x\([0-9a-f]*\), size=700.*/\1/p' report)
expect one_frame [ -n "$address" ]
range=$(sed -n 's/^# module \([0-9a-f-]*\) .*leaktracer_play$/\1/p' report)
inside() {
	[ $((0x$1)) -ge $((0x${2%-*})) ] && [ $((0x$1)) -lt $((0x${2#*-})) ]
}
expect frame_of_the_program inside "$address" "$range"

# What a reader does: address - 1 - bias is the address in the file.
if command -v addr2line >/dev/null; then
	bias=$(sed -n 's/^# module [^ ]* [^ ]* \([0-9a-f]*\) .*leaktracer_play$/\1/p' report)
	at=$(printf '%x' $((0x$address - 1 - 0x$bias)))
	[ "$(addr2line -f -e "$play" "$at" | head -n 1)" = lose ] ||
		fail "translated: $at"
fi

try LEAKTRACER_ONSTART_STARTALLTHREAD= $quiet -- lose 700
expect start_alone no_file leaks.out
expect start_alone no_file report
try LEAKTRACER_ONSTART_STARTALLTHREAD= LEAKTRACER_ONEXIT_REPORT= $quiet -- lose 700
expect no_name_no_report no_file leaks.out
try LEAKTRACER_ONEXIT_REPORT= LEAKTRACER_ONEXIT_REPORTFILENAME=report $quiet -- lose 700
expect not_started records report 0
try LEAKTRACER_ONSTART_STARTALLTHREAD=1 LEAKTRACER_ONEXIT_REPORT= \
    LEAKTRACER_ONEXIT_REPORTFILENAME=report $quiet -- lose 700 thread 2 lose 800
expect onexit has report ', size=700,'
expect threads has report ', size=800,'

# The exit status is set if there are records, after the program's exit handlers
# and the flush of stdio; not if the program ends without exit().
code=LEAKTRACER_EXIT_CODE_ON_LEAKS=42
try $auto $quiet $code -- lose 700 out text exit 3
expect exit_code [ "$status" = 42 ]
expect exit_code_flushes [ "$(cat out)" = text ]
expect exit_code_report has report ', size=700,'
try LEAKTRACER_ONSTART_STARTALLTHREAD= $quiet $code -- lose 700
expect exit_code_without_report [ "$status" = 42 ]
try $quiet $code -- lose 700 exit 3
expect exit_code_nothing_monitored [ "$status" = 3 ]
try $auto $quiet $code -- free 700 exit 3
expect exit_code_no_leaks [ "$status" = 3 ]
try $auto $quiet $code -- lose 700 quit 5
expect exit_code_quit [ "$status" = 5 ]
expect exit_code_quit no_file report
try $auto $quiet LEAKTRACER_EXIT_CODE_ON_LEAKS=nine -- lose 700 exit 3
expect exit_code_word [ "$status" = 3 ]
expect exit_code_word has err 'LEAKTRACER_EXIT_CODE_ON_LEAKS=nine is not used: expected '

# A name that is not one of the variables is reported, whichever of our prefixes.
for wrong in LEAKTRACER_ONSIG_REPROT=USR1 LIBC_DEBUG_MALLOC_OPTION=guard \
    LIBC_HOOKS_ENABLED=1 MEMUNREACHABLE_MALLOC_DEBG=guard; do
	try $auto $quiet $wrong -- lose 700
	expect "$wrong" has err "${wrong%=*} is not used: there is no such variable"
	expect "$wrong" [ "$(wc -l <err)" = 1 ]
	expect "$wrong" records report 1
	try $wrong -- lose 700
	expect "$wrong alone" has err "${wrong%=*} is not used: there is no"
	expect "$wrong alone" [ "$(wc -l <err)" = 1 ]
done

# A child has a separate report, which has the parent's records as well.
try $auto $quiet -- lose 700 fork 2 lose 800
expect fork_parent records report 1
child=$(echo report.*)
expect fork_child has "$child" ', size=700,'
expect fork_child has "$child" ', size=800,'

# A file that cannot be written is reported, and no symbolic link is followed.
try LEAKTRACER_AUTO_REPORTFILENAME=/nonexistent/x $quiet -- lose 700 exit 3
expect failure [ "$(cat err)" = 'Failed to write to "/nonexistent/x"' ]
expect failure_status [ "$status" = 3 ]
ln -s target link
try LEAKTRACER_AUTO_REPORTFILENAME=link $quiet -- lose 700
expect no_follow no_file target
expect no_follow has err 'link: it is a symbolic link.*written to link.1 instead$'
expect no_follow has link.1 '^# LeakTracer report'

# The name of an unknown signal gives a warning of one line.
try $quiet LEAKTRACER_ONSIG_REPORT=USR9 -- lose 700
expect unknown_signal [ "$(wc -l <err)" -eq 1 ]
expect unknown_signal has err 'LEAKTRACER_ONSIG_REPORT=USR9 is not used'

# Without variables nothing is printed, with or without LEAKTRACER_NOBANNER.
try NOTHING= -- lose 700
expect asleep [ ! -s err ]
try $quiet -- lose 700
expect asleep [ ! -s err ]

# Some records are live, some unreachable: only the latter are reported.
try $auto $quiet LEAKTRACER_ONLY_UNREACHABLE= -- lose 7000 reachable 8000 chain 9000
if grep -q '^# not filtered' report; then
	echo "SKIPPED: leaktracer_environment: $(grep '^# not' report)"
	expect only_unreachable records report 4
else
	expect only_unreachable has report ', size=7000,'
	expect only_unreachable_head has report ', size=9000,'
	grep -q 'no entries of their own' report ||
	    expect only_unreachable_inner has report ', size=9001,'
	has report ', size=8000,' && fail only_unreachable_reachable
fi
exit $((failures > 0))
