#!/bin/sh
# A program or a PID without an option, a process by its name, programs of one
# name only, wrong separators of the library's options.
set -u
. tests/support/script_setup.sh
unset LD_PRELOAD MEMUNREACHABLE_OPTIONS
command=$build/memunreachable
shown=$work/answer
cat >"$work/loses.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char *volatile block = malloc(1000);

	memset(block, argc, 1000);
	block = NULL;
	if (argc > 1 && strcmp(argv[1], "waits") == 0) {
		puts("ready");
		fflush(stdout);
		pause();
	}
	return argc > 1 ? atoi(argv[1]) : 0;
}
END
name=$(printf 'habit%d' $$)
${CC:-cc} -O0 -o "$work/$name" "$work/loses.c" || exit 1
cp "$work/$name" "$work/other"
process=$name
name=

# run STATUS WORD...
run() {
	expected=$1
	shift
	"$command" -q "$@" >"$work/answer" 2>&1
	status=$?
	[ $status -eq "$expected" ] || fail "$*: status $status"
}

run 23 "$work/$process"
like "$work/answer" ' 1000 bytes in 1 allocation unreachable'
run 23 --limit=3 "$work/$process" 0 -p 1
run 3 ./none-of-this-name
like "$work/answer" 'cannot run ./none-of-this-name'

"$work/$process" waits >"$work/ready" &
pids=$!
tries=0
until [ -s "$work/ready" ] || [ $((tries += 1)) -gt 600 ]; do
	sleep 0.1
done
run 23 "$pids"
like "$work/answer" "^Process $pids, "
run 23 -p "$process"
like "$work/answer" "^Process $pids, "
run 3 -p "${process}x"
has "$work/answer" "no process has the name ${process}x"
"$work/$process" waits >"$work/ready2" &
pids="$pids $!"
tries=0
until [ -s "$work/ready2" ] || [ $((tries += 1)) -gt 600 ]; do
	sleep 0.1
done
run 3 -p "$process"
has "$work/answer" "2 processes have the name $process; give the number of one"

cat >"$work/tests.sh" <<END
"$work/other"
"$work/$process" clean </dev/null
true
END
name='one program of several'
run 23 --only-program='othe?' -- sh "$work/tests.sh"
[ "$(grep -c ' 1000 bytes in 1 allocation' "$work/answer")" -eq 1 ] ||
	fail "not one report"
run 0 --only-program=sh -- sh -c "'$work/other'; true"
name='none of that name'
run 3 --only-program=nothing -- sh "$work/tests.sh"
like "$work/answer" 'no program that ended has the name nothing'
name=preloaded
export LD_PRELOAD="$build/libmemunreachable.so"
MEMUNREACHABLE_OPTIONS='at_exit=1:only_program=oth*' "$work/other" \
	2>"$work/answer"
[ $? -eq 23 ] || fail "the program itself"
MEMUNREACHABLE_OPTIONS='at_exit=1:only_program=oth*' "$work/$process" \
	2>"$work/answer" || fail "another program"
MEMUNREACHABLE_OPTIONS='at_exit=1,exitcode=3' "$work/other" 2>"$work/answer"
has "$work/answer" "options are separated by ':'"
MEMUNREACHABLE_OPTIONS='exitcode=3 at_exit=1' "$work/other" 2>"$work/answer"
has "$work/answer" "options are separated by ':'"
exit $((failures > 0))
