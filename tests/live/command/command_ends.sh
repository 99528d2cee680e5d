#!/bin/sh
# A command is checked at its end, however it ends; what it does and prints,
# and its exit status, are unchanged. TESTS_ROUNDS ends of threads in malloc.
set -u
. tests/support/command/command.sh
victim=$build/tests/live/victims/victim_ends
TMPDIR=$work/tmp
export TMPDIR
mkdir "$TMPDIR"
# shellcheck disable=SC3045 # dash and bash have it
ulimit -c 0

one_leak() {
	has "$err" " 24 bytes in 1 allocation unreachable out of "
	has "$err" "  24 bytes unreachable at "
}

name='every end'
for threads in "" threads; do
	for end in return _exit quick_exit thread_exit thread__exit leader exec; do
		# Nothing, or one word.
		# shellcheck disable=SC2086
		run 23 -- "$victim" $end $threads
		one_leak
		grep -q woken "$out" && fail "$end: a sleep was ended early"
	done
	# shellcheck disable=SC2086
	run 23 -- "$victim" term $threads
	one_leak
	# After a crash the status is the command's.
	for end in abort:134 fault:139 kill:137; do
		# shellcheck disable=SC2086
		run "${end#*:}" -- "$victim" "${end%:*}" $threads
		one_leak
	done
done
run 23 -- "$victim" exit_call
one_leak

name='shells'
run 0 -- sh -c 'exit 0'
has "$err" " 0 bytes in 0 allocations unreachable out of "
run 9 -- sh -c 'exit 9'
run 23 -- sh -c "exec $victim _exit"
one_leak

name='a static program'
if ${CC:-cc} -O1 -static -pthread -I. -o "$work/static" \
    tests/live/victims/victim_ends.c 2>/dev/null; then
	run 23 -- "$work/static"
	has "$err" " 24 bytes in 1 allocation unreachable out of "
	# The thread that is left has never called malloc.
	run 23 -- "$work/static" leader
	has "$err" " 24 bytes in 1 allocation unreachable out of "
	run 23 -- "$work/static" _exit
	has "$err" " 24 bytes in 1 allocation unreachable out of "
	has "$err" "no stacks were recorded: the recorder cannot go into a program"
else
	echo "SKIPPED: command_ends: no static libc"
fi

name='where preloading is not heard'
run 23 -- env -u LD_PRELOAD "$victim" return
one_leak

name='JSON'
if command -v python3 >/dev/null; then
	for end in return _exit; do
		run 23 --format=json -o "$work/report" -- "$victim" $end
		python3 - "$work/report" "$victim" <<'END' || fail "JSON: $end"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["status"] == "complete", report
assert report["num_leaks"] == 1 and report["leak_bytes"] == 24, report
assert report["leaks"][0]["size"] == 24, report
assert report["program"] == sys.argv[2], report
assert report["heap"]["live_unreachable"] == 24, report
assert report["allocator"].startswith("glibc 2."), report
assert report["stop"] in ("exit", "signal", "ptrace"), report
END
	done
	# A command that was not run, or not checked, gives a JSON object, too.
	refused() {
		run 3 --format=json -o "$work/report" -- "$2"
		python3 - "$work/report" "$@" <<'END' || fail "JSON: $2"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["status"] == sys.argv[2], report
assert sys.argv[4] in report["reason"], report
assert report["num_leaks"] is None and report["leaks"] == [], report
assert report["program"] == sys.argv[3], report
END
		fits_schema "$work/report"
	}
	refused bad_argument /no/such "cannot run /no/such"
	printf '#!/no/such/interpreter\n' >"$work/script"
	chmod 755 "$work/script"
	refused bad_argument "$work/script" "No such file or directory"
	echo 'int main(void) { return 0; }' >"$work/none.c"
	if ${CC:-cc} -fsanitize=address -o "$work/asan" "$work/none.c" \
	    2>/dev/null; then
		refused foreign_allocator "$work/asan" "has AddressSanitizer"
	else
		echo "SKIPPED: command_ends: no AddressSanitizer"
	fi
else
	echo "SKIPPED: command_ends: no python3"
fi

# The command runs programs with a sanitizer, whose runtime must be loaded first,
# and those of musl as without us.
name='programs that nothing can be preloaded into'
echo 'int main(void) { return 5; }' >"$work/five.c"
let_go() {
	run 3 --unchecked=fail -o "$work/report" --children -- \
		sh -c "$work/five; echo \$?; exit 0"
	[ "$(cat "$out")" = 5 ] || fail "its status is $(cat "$out")"
	has "$err" "$work/five $1"
	[ "$(wc -l <"$err")" -eq 1 ] || fail "more words: $(cat "$err")"
	run 5 -- sh -c "exec $work/five"
	has "$err" "$work/five $1"
	[ "$(wc -l <"$err")" -eq 1 ] || fail "more words: $(cat "$err")"
}
for flags in -fsanitize=address "-fsanitize=address -static-libasan" \
    -fsanitize=leak; do
	# shellcheck disable=SC2086 # options
	if ${CC:-cc} $flags -o "$work/five" "$work/five.c" 2>/dev/null; then
		let_go 'has '
	else
		echo "SKIPPED: command_ends: no $flags"
	fi
done
if command -v musl-gcc >/dev/null &&
    musl-gcc -o "$work/five" "$work/five.c" 2>/dev/null; then
	let_go 'uses musl'
else
	echo "SKIPPED: command_ends: no musl"
fi

# The heap of a process that has ended cannot be read a second time.
name='a damaged heap'
cat >"$work/damaged.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
	char *volatile block = malloc(24);

	memset(block, 127, 400);
	END(0);
}
END
for end in _exit exit; do
	${CC:-cc} -w -O0 -DEND=$end -o "$work/damaged" "$work/damaged.c" ||
		fail "no compiler"
	run 3 -- "$work/damaged"
	has "$err" "not checked: heap inconsistent: "
	has "$err" "a block was overrun"
	has_no "$err" "ask again"
done
MEMUNREACHABLE_OPTIONS=${given}at_exit=1 \
    LD_PRELOAD=$build/libmemunreachable.so "$work/damaged" 2>"$err"
[ $? -eq 3 ] || fail "without the command"
has "$err" "a block was overrun (the recorder's option guard tells which)"
has_no "$err" "ask again"

# What the kernel holds: pages that the process gave back, and the address of an
# alternate signal stack, which a process that has ended cannot be asked for.
name='pointers that the kernel holds'
cat >"$work/held.c" <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define SIZE ((size_t)64 << 20)
static __attribute__((noinline)) void give_back(void)
{
	char *shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	void *block = memset(malloc(24), 1, 24);

	memcpy(shared + SIZE / 2, &block, sizeof(block));
	madvise(shared, SIZE, MADV_DONTNEED);
}
static __attribute__((noinline)) void set_stack(void)
{
	stack_t stack = { .ss_sp = memset(malloc(9000), 1, 9000),
		.ss_size = 9000 };

	sigaltstack(&stack, NULL);
}
static __attribute__((noinline)) void scrub(void)
{
	volatile char dead[8192];

	memset((char *)dead, 0, sizeof(dead));
}
int main(int argc, char **argv)
{
	if (argv[1][0] == 's')
		set_stack();
	else
		give_back();
	scrub();
	if (argc > 2 && argv[2][0] == 'k')
		raise(SIGTERM);
	if (argc > 2 && argv[2][0] == 'q')
		quick_exit(0);
	if (argc > 2)
		exit(0);
	_exit(0);
}
END
${CC:-cc} -w -O0 -o "$work/held" "$work/held.c" || fail "no compiler"
# CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE opens /proc/PID/map_files.
complete=0
may 21 || may 40 || {
	echo "SKIPPED: command_ends: given_back: no right to open map_files"
	complete=4
}
run $complete -- "$work/held" given_back
run $complete -- "$work/held" given_back quick_exit
run 0 -- "$work/held" stack exit
for end in '' quick_exit killed; do
	run 4 -- "$work/held" stack $end
	has "$err" "a process cannot be asked at its end what it set"
done
if ${CC:-cc} -w -static -O0 -o "$work/held" "$work/held.c" 2>/dev/null; then
	run $complete -- "$work/held" given_back
	run 4 -- "$work/held" stack
	has "$err" "a process cannot be asked at its end what it set"
fi

# The command stops them for the library, which freezes malloc first.
name='threads in malloc, others asleep'
cat >"$work/churn.c" <<'END'
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/support/hide.h"
static void nothing(int signo) { (void)signo; }
static void *churn(void *unused)
{
	void *volatile blocks[64];
	int i;

	for (;;) {
		for (i = 0; i < 64; i++)
			blocks[i] = malloc(16 + i * 40);
		for (i = 0; i < 64; i++)
			free(blocks[i]);
	}
	return unused;
}
static void *naps(void *unused)
{
	if (sleep(100) != 0)
		(void)!write(1, "woken\n", 6);
	return unused;
}
static void *polls(void *unused)
{
	if (poll(NULL, 0, -1) != 0)
		(void)!write(1, "woken\n", 6);
	return unused;
}
/* Threads that end and begin all the time. */
static void *lives(void *unused)
{
	pthread_t next;

	pthread_detach(pthread_self());
	free(malloc(100));
	usleep(200);
	pthread_create(&next, NULL, lives, NULL);
	return unused;
}
/* Only the kernel has the address of its alternate stack. */
static void *alternates(void *unused)
{
	stack_t stack = { .ss_size = 40000 };

	stack.ss_sp = memset(malloc(40000), 0, 40000);
	sigaltstack(&stack, NULL);
	stack.ss_sp = NULL;
	__asm__ volatile("" : : "r"(&stack) : "memory");
	return naps(unused);
}
static __attribute__((noinline)) uintptr_t lose(void)
{
	return mu_hide(memset(malloc(24), 'x', 24));
}
int main(int argc, char **argv)
{
	volatile uintptr_t lost = lose();
	void *volatile over;
	pthread_t thread;
	sigset_t all;
	int i;

	for (i = 0; i < 20; i++)
		free((over = memset(malloc(24 * (i + 2)), 0, 24 * (i + 2))));
	over = NULL;
	if (strchr(argv[1], 'b') != NULL) {
		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	}
	if (strchr(argv[1], 'h') != NULL)
		signal(SIGURG, nothing);
	pthread_create(&thread, NULL, churn, NULL);
	pthread_create(&thread, NULL, churn, NULL);
	pthread_create(&thread, NULL, naps, NULL);
	pthread_create(&thread, NULL, polls, NULL);
	if (strchr(argv[1], 'l') != NULL)
		pthread_create(&thread, NULL, lives, NULL);
	if (strchr(argv[1], 'a') != NULL)
		for (i = 0; i < 3; i++)
			pthread_create(&thread, NULL, alternates, NULL);
	usleep(20000);
	return lost == 0;
}
END
${CC:-cc} -w -O1 -I. -pthread -o "$work/churn" "$work/churn.c" ||
	fail "no compiler"
: >"$work/all"
runs=${TESTS_ROUNDS:-3}
for how in '' b h l a la contained contained_bhla; do
	i=0
	while [ $i -lt "$runs" ]; do
		inside=
		[ "$how" = "${how#contained}" ] || inside=$contained
		# shellcheck disable=SC2086
		$inside "$command" --limit=1 -- "$work/churn" \
			"-${how#contained}" >>"$work/all" 2>&1
		status=$?
		[ $status -eq 23 ] || fail "$how: status $status"
		i=$((i + 1))
	done
done
inside=
has_no "$work/all" "not checked"
has_no "$work/all" "already traced"
has_no "$work/all" "woken"
found=$(grep -c " 24 bytes in 1 allocation unreachable out of " "$work/all")
[ "$found" -eq $((8 * runs)) ] || {
	fail "$found right answers"
	grep unreachable "$work/all" | sort | uniq -c
}

name='several processes at once, at whose end a stop may take longer'
run 23 --max-pause=1ms --limit=1 --children -- \
    sh -c "'$work/churn' - & '$work/churn' -a & wait"
[ "$(grep -c " 24 bytes in 1 allocation unreachable" "$err")" -eq 2 ] ||
	fail "not both: $(cat "$err")"

# The thread that executes gets the tid of the first, whose end had begun. It
# is no end of the new program if a thread of that ends.
name='exec behind the end of the first thread'
cat >"$work/behind.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/support/hide.h"
static pthread_t first;
static char *self;
static volatile int over;
static void *become(void *unused)
{
	pthread_join(first, NULL);
	execl(self, self, "again", (char *)NULL);
	_exit(9);
}
static void *leaves(void *unused)
{
	usleep(100000);
	return unused;
}
static void stop(int signo)
{
	over = signo;
}
static __attribute__((noinline)) uintptr_t lose(void)
{
	return mu_hide(memset(malloc(24), 'x', 24));
}
int main(int argc, char **argv)
{
	pthread_t thread;
	uintptr_t mine;

	if (argc < 2) {
		self = argv[0];
		first = pthread_self();
		pthread_create(&thread, NULL, become, NULL);
		pthread_exit(NULL);
	}
	signal(SIGALRM, stop);
	alarm(1);
	pthread_create(&thread, NULL, leaves, NULL);
	mine = lose();
	scrub_stack();
	/* In a register only. */
	for (mine = ~mine; !over;)
		__asm__ volatile("" : "+r"(mine));
	free((void *)mine);
	return 0;
}
END
${CC:-cc} -w -O1 -I. -pthread -o "$work/behind" "$work/behind.c" ||
	fail "no compiler"
run 0 -- "$work/behind"
[ "$(grep -c ' unreachable out of ' "$err")" -eq 1 ] ||
	fail "not one report: $(cat "$err")"

# The time does not grow with the square of the number of threads.
name='the end of 200 threads'
cat >"$work/crowd.c" <<'END'
#include <pthread.h>
#include <unistd.h>
static void *rest(void *unused)
{
	for (;;)
		pause();
	return unused;
}
int main(void)
{
	pthread_attr_t small;
	pthread_t thread;
	int i;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (i = 0; i < 200; i++)
		if (pthread_create(&thread, &small, rest, NULL) != 0)
			return 1;
	_exit(0);
}
END
${CC:-cc} -w -pthread -o "$work/crowd" "$work/crowd.c" || fail "no compiler"
if command -v strace >/dev/null; then
	strace -qq -e trace=openat -o "$work/calls" \
	    "$command" -- "$work/crowd" >"$out" 2>"$err" ||
		fail "status $?: $(cat "$err")"
	calls=$(grep -c '/task/.*/syscall' "$work/calls")
	[ "$calls" -lt 4000 ] || fail "$calls files were read"
else
	echo "SKIPPED: command_ends: no strace"
fi

# A thread that asks for a stop is not held for ever.
name='a command that is killed'
i=0
while [ $i -lt 10 ]; do
	# A killed command leaves its folder behind.
	(TMPDIR=$work exec "$command" -- "$work/churn" -a) >"$out" 2>&1 &
	pids=$!
	sleep "0.0$((2 + i / 3))$((i * 7 % 10))"
	kill -9 "$pids" 2>/dev/null
	wait "$pids" 2>/dev/null
	pids=
	i=$((i + 1))
done
is_over() {
	! pgrep -f "^$work/churn" >/dev/null
}
await is_over || fail "the program hangs"
has_no "$out" "woken"

# A program that requests stops as the library does, and abandons them, or makes
# requests that point to memory which it does not have.
name='requests of the program'
cat >"$work/asks.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "mu/sys.h"
#include "ptrace/live/tracer_stop.h"
static volatile int beats, asked;
static void ask(struct mu_tracer_stop_request *request)
{
	siginfo_t info = { .si_signo = SIGURG, .si_code = MU_TRACER_STOP_CODE };
	sigset_t none;

	info.si_value.sival_ptr = request;
	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGURG, &info);
	/* The command has blocked all. */
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
}
static void *beat(void *unused)
{
	for (;; beats++)
		usleep(1000);
	return unused;
}
static void *leave(void *request)
{
	ask(request);
	asked = 1;
	return NULL;
}
int main(int argc, char **argv)
{
	static struct mu_tracer_stop_request request, wrong;
	pthread_t thread, other;
	int i, seen;

	request = (struct mu_tracer_stop_request) {
		.magic = MU_TRACER_STOP_MAGIC,
		.size = sizeof(request),
		.thread_size = sizeof(struct mu_thread),
		.stop_ns = ~0ull,
		.hold_ns = ~0ull,
		.max_threads = ~0ull,
		.max_values = ~0ull,
		.threads = malloc(100 * sizeof(struct mu_thread)),
		.values = malloc(1 << 20),
		.regnos = malloc(1 << 20),
		.stacks = malloc(1 << 20),
		.ask_stacks = 1,
	};
	wrong = request;
	wrong.values = (void *)8;
	pthread_create(&thread, NULL, beat, NULL);
	ask(NULL);
	ask((void *)-16);
	ask(&wrong);
	if (wrong.done != 1 || wrong.status == MU_OK)
		return 91;
	wrong.what = MU_TRACER_STOP_RELEASE;
	ask(&wrong);
	for (i = 0; i < 3; i++) {
		asked = request.done = 0;
		pthread_create(&other, NULL, leave, &request);
		while (!asked)
			usleep(1000);
		if (request.done != 1)
			return 92;
		pthread_join(other, NULL);
		for (seen = beats; beats < seen + 3;)
			usleep(1000);
	}
	return 0;
}
END
${CC:-cc} -w -O1 -D_GNU_SOURCE -I. -Iinclude -pthread -o "$work/asks" \
    "$work/asks.c" || fail "no compiler"
run 0 -- "$work/asks"

# The command stops the test's processes, which have lost a block.
name='calls that a signal ends'
run 23 --children --unchecked=ok -o "$work/report" -- \
    "$build/tests/live/transparency/test_transparency_eintr"
has "$out" "Failures: 0, Errors: 0"

name='a server'
is_ready() {
	grep -q ready "$out"
}
for signal in TERM:23 INT:23 HUP:23; do
	: >"$out"
	# A shell has a job in the background ignore SIGINT.
	(trap - INT; exec "$command" -- env --default-signal=INT \
	    "$victim" wait threads) >"$out" 2>"$err" &
	pids=$!
	await is_ready || fail "not ready"
	kill -s "${signal%:*}" "$pids"
	wait "$pids" 2>/dev/null
	status=$?
	[ $status -eq "${signal#*:}" ] || fail "SIG${signal%:*}: status $status"
	one_leak
	pids=
done

name='children'
run 23 --children -- sh -c "$victim _exit; echo \"status \$?\""
has "$out" "status 0"
one_leak
run 0 -- sh -c "$victim _exit; true"
run 0 --children -- sh -c 'true & sh -c "exit 3"; wait'
[ "$(grep -c " 0 bytes in 0 allocations unreachable" "$err")" -ge 2 ] ||
	fail "children that are not looked at"

name='a daemon'
cat >"$work/daemon.c" <<'END'
#include <unistd.h>
int main(void)
{
	if (daemon(0, 0) != 0)
		return 9;
	sleep(3);
	return 0;
}
END
${CC:-cc} -o "$work/daemon" "$work/daemon.c" 2>/dev/null || fail "no compiler"
run 3 -- "$work/daemon"
has "$err" "not checked: the command continues as process"
run 0 --children -- "$work/daemon"
[ "$(grep -c ' 0 bytes in 0 allocations unreachable' "$err")" -eq 2 ] ||
	fail "the daemon is not looked at"
run 0 -- sh -c 'sleep 2 & exit 0'

name='where nothing can be traced'
cat >"$work/untraced.c" <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };
	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 99;
	execv(argv[1], argv + 1);
	return 98;
}
END
${CC:-cc} -o "$work/untraced" "$work/untraced.c" || fail "no compiler"
real=$command
command=$work/untraced
run 23 "$real" -- "$victim" return
one_leak
run 3 "$real" -- "$victim" _exit
has "$err" "it cannot be traced here"
# What the library warns of at the start is no check.
MEMUNREACHABLE_OPTIONS=${given}bogus=1 run 3 "$real" -- "$victim" _exit
has "$err" "bogus=1: no such option"
has "$err" "it cannot be traced here"
run 23 "$real" --backtrace -- "$victim" return
one_leak
has "$err" "victim_ends (lose) "
has "$err" "tests/live/victims/victim_ends.c:"
run 3 "$real" --children -- "$victim" return
has "$err" "nothing can be traced here"
[ ! -s "$out" ] || fail "run all the same"
run 3 "$real" --format=json -o "$work/report" -- "$victim" return
has "$work/report" '"status": "no_permission"'
has "$work/report" "nothing can be traced here"
command=$real

name='a full disk'
plain=$build/tests/live/victims/victim_plain
"$command" -- "$plain" 0 clean </dev/null >"$out" 2>/dev/full
[ $? -eq 3 ] || fail "a report that is lost on standard error"
run 3 -o /dev/full -- "$plain" 0 clean
has "$err" "cannot write /dev/full: No space left on device"
MEMUNREACHABLE_OPTIONS=${given}at_exit=1 \
    LD_PRELOAD=$build/libmemunreachable.so "$plain" 0 clean \
    </dev/null >"$out" 2>/dev/full
[ $? -eq 3 ] || fail "a log that is lost on standard error"
# shellcheck disable=SC3045 # dash and bash have it
(
	ulimit -f 0
	MEMUNREACHABLE_OPTIONS=${given}at_exit=1:log_path=$work/log \
	    LD_PRELOAD=$build/libmemunreachable.so exec "$plain" 0 clean 2>&1
	# Standard output is a pipe, which has no limit.
) </dev/null | cat >"$out"
has "$out" "the log is not complete: File too large"

name='files that may not grow'
# limited WANTED ARG...: the command with these under RLIMIT_FSIZE 0. What it
# and its COMMAND print goes to a pipe, which has no limit.
limited() {
	# shellcheck disable=SC3045 # dash and bash have it
	(
		wanted=$1
		shift
		ulimit -f 0
		"$command" "$@" 2>&1
		echo "status $?"
	) </dev/null | cat >"$out"
	has "$out" "status $1"
}
limited 23 -- "$victim" return
has "$out" "  24 bytes unreachable at "
command=$work/untraced
limited 23 "$real" -- "$victim" return
has "$out" "the report of the command cannot be written to "
has_no "$out" "it cannot be traced here"
command=$real
limited 3 -o "$work/limited" -- "$plain" 0 clean
has "$out" "the end"
has "$out" "cannot write $work/limited: File too large"
sleep 100 &
pids=$!
limited 3 -o "$work/limited" -p "$pids"
has "$out" "cannot write $work/limited: File too large"
limited 3 -o "$work/limited" --doctor "$pids"
limited 0 -p "$pids"
if [ "$(id -u)" -eq 0 ] && ! may_trace_all; then
	echo "SKIPPED: command_ends: a process of nobody: no CAP_SYS_PTRACE"
elif [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	kill "$pids"
	setpriv --reuid=65534 --regid=65534 --clear-groups sleep 100 &
	pids="$pids $!"
	is_theirs() {
		grep -q '^Uid:.65534' "/proc/${pids#* }/status"
	}
	await is_theirs || fail "not started"
	# Its report comes through a file of memory. Not every root may raise
	# the limit.
	(
		# shellcheck disable=SC3045 # dash and bash have it
		ulimit -f 0
		"$command" -p "${pids#* }" 2>&1
		echo "status $?"
	) </dev/null | cat >"$out"
	grep -q '^status 0' "$out" || has "$out" "raise RLIMIT_FSIZE"
fi

[ -z "$(ls -A "$TMPDIR")" ] || fail "left behind: $(ls -A "$TMPDIR")"

name='SIGKILL of us'
mkfifo "$work/fifo"
: >"$out"
# The file is this shell's, and the command's to read.
# shellcheck disable=SC2016
"$command" -q -- sh -c 'echo $$; read -r word <"$1"; echo "it read $word"' \
    sh "$work/fifo" >"$out" 2>&1 &
tracer=$!
await test -s "$out"
kill -9 $tracer
wait $tracer 2>/dev/null
left=$(head -n 1 "$out")
pids="$pids $left"
grep -q '^TracerPid:.0$' "/proc/$left/status" || fail "it is traced"
grep -q '^State:.[SR]' "/proc/$left/status" || fail "it does not run"
echo on >"$work/fifo"
await grep -q 'it read on' "$out" || fail "it did not go on"

[ "$failures" -eq 0 ]
