#!/bin/sh
# A child by fork() that goes on as the program itself, as a framework makes one
# for each test, is checked with the command, without --children; what a program
# executes is not, and is not traced.
set -u
. tests/support/command/command.sh
cat >"$work/forks.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile block;
static char *how;

static __attribute__((noinline)) void
lose(size_t size)
{
	block = malloc(size);
	memset(block, 1, size);
	block = NULL;
}

/* Its stack is no part of a child. */
static void *
hold(void *ready)
{
	void *volatile held = malloc(4000);

	write(*(int *)ready, "", 1);
	pause();
	free(held);
	return NULL;
}

static void
start_holder(void)
{
	int ready[2];
	pthread_t thread;
	char byte;

	if (pipe(ready) != 0 ||
	    pthread_create(&thread, NULL, hold, &ready[1]) != 0 ||
	    read(ready[0], &byte, 1) != 1)
		_exit(9);
}

static void
end_child(void)
{
	if (strcmp(how, "clean") == 0)
		exit(5);
	if (strcmp(how, "traced") == 0)
		exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 5 : 6);
	if (strcmp(how, "executes") == 0) {
		execl("/proc/self/exe", "forks", "end", NULL);
		_exit(9);
	}
	if (strcmp(how, "other user") == 0 && setresuid(1, 1, 1) != 0)
		exit(9);
	if (strcmp(how, "no descriptor") == 0)
		setrlimit(RLIMIT_NOFILE, &(struct rlimit) { 0, 0 });
	if (strcmp(how, "threads") == 0)
		start_holder();
	if (strcmp(how, "a child") == 0) {
		if (fork() == 0)
			lose(24), exit(0);
		wait(NULL);
		exit(5);
	}
	lose(24);
	if (strcmp(how, "aborts") == 0)
		abort();
	if (strcmp(how, "_exit") == 0)
		_exit(5);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(5);
	exit(5);
}

int
main(int argc, char **argv)
{
	int status = 0, i, times = argc > 2 ? atoi(argv[2]) : 1;
	pid_t pid;

	how = argv[1];
	if (strcmp(how, "end") == 0)
		lose(24), exit(5);
	if (strcmp(how, "held") == 0)
		start_holder();
	for (i = 0; i < times; i++) {
		pid = strcmp(how, "vfork") == 0 ? vfork() : fork();
		if (pid == 0 && strcmp(how, "vfork") == 0)
			_exit(5);
		if (pid == 0)
			end_child();
	}
	for (i = 0; i < times; i++)
		wait(&status);
	printf("ended %d %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	    WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return 0;
}
END
${CC:-cc} -O1 -D_GNU_SOURCE -pthread -o "$work/forks" "$work/forks.c" || fail "no compiler"

# lost ENDED HOW...: what the child lost is reported, and the child is as ever.
lost() {
	ended=$1
	shift
	name="$*"
	run 23 -- "$work/forks" "$@"
	has "$out" "ended $ended"
	like "$err" ' 24 bytes in 1 allocation unreachable out of '
	has_no "$err" partial
}

# kept ENDED HOW: nothing is reported but the clean end of the command.
kept() {
	name=$2
	run 0 -- "$work/forks" "$2"
	has "$out" "ended $1"
	[ "$(grep -c ' unreachable out of ' "$err")" -eq 1 ] ||
		fail "not one answer"
}

for how in exit _exit quick_exit threads; do
	lost '5 0' $how
done
lost '5 0' 'a child'
# Too long for a socket's name.
long=$work/$(printf '%0100d' 0)
mkdir "$long"
TMPDIR=$long lost '5 0' exit
kept '5 0' 'no descriptor'
like "$err" 'is not checked at its end: memunreachable, in .* cannot be reached'
lost '5 0' exit 40
[ "$(grep -c ' 24 bytes in 1 allocation unreachable out of ' "$err")" -eq 40 ] ||
	fail "not each of 40 children at once"
kept '5 0' clean
kept '5 0' vfork
kept '5 0' executes
kept '5 0' traced
kept '5 0' held
kept '-1 6' aborts
may 7 && kept '5 0' 'other user'

name='subshells'
for shell in sh bash; do
	command -v $shell >/dev/null || continue
	# shellcheck disable=SC2016 # it is the shell's
	run 3 -- $shell -c '(echo a; exit 1) | cat; b=$(echo b; (echo c));
		for i in 1 2 3; do (f() { echo $i; }; f) & done; wait; exit 3'
	has_no "$err" ' bytes unreachable at '
done

name='one process'
run 23 --format=json --save "$work/look" -o "$work/json" -- "$work/forks" exit
python3 - "$work/json" <<'END' || fail "not the child and the command"
import json, sys
text, reports = open(sys.argv[1]).read(), []
while text.strip():
    report, end = json.JSONDecoder().raw_decode(text.lstrip())
    reports.append(report['leak_bytes'])
    text = text.lstrip()[end:]
assert reports == [24, 0], reports
END
run 0 "$work/look"
like "$out" "^  0 bytes in 0 unreachable allocations"

name='many' # a socket has room for some that wait, and each is asked once
run 23 -q -- "$work/forks" exit 300
exit $((failures > 0))
