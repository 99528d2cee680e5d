#!/bin/sh
# Programs that cannot be checked: the reason names the true cause, and the
# remedy helps. TESTS_ROUNDS looks at programs that become others.
set -u
. tests/support/command/command.sh

# look WANTED PROGRAM [ARG]...: -p of it ends with this status.
look() {
	wanted=$1
	shift
	"$@" >/dev/null 2>&1 &
	pids=$!
	asleep() {
		grep -q '^State:.*[SZ]' "/proc/$pids/status"
	}
	await asleep || fail "does not start"
	sleep 0.2
	"$command" --max-pause=20s -p "$pids" >"$out" 2>"$err"
	status=$?
	[ $status -eq "$wanted" ] || fail "status $status, not $wanted"
	kill -9 "$pids"
	wait "$pids" 2>/dev/null
	pids=
}

cat >"$work/idle.c" <<'END'
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>
static void *rest(void *unused) { pause(); return unused; }
int main(int argc, char **argv)
{
	pthread_t thread;
	char *big;
	if (argc > 1 && argv[1][0] == 'm') {
		big = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t i = 0; i < 64 << 20; i += 4096)
			big[i] = 1;
		if (argc > 2)
			pause();
		return 0;
	}
	if (argc > 1 && argv[1][0] == 'l') {
		pthread_create(&thread, NULL, rest, NULL);
		pthread_exit(NULL);
	}
	pause();
	return 0;
}
END
${CC:-cc} -O1 -pthread -o "$work/idle" "$work/idle.c" || fail "cannot compile"

name='a leader that has ended before its threads'
look 0 "$work/idle" leader
grep -q "$work/idle" "$out" || fail "the program is not named"
"$work/idle" leader &
pids=$!
await grep -q '^State:.Z' "/proc/$pids/status" || fail "does not end"
"$command" --doctor=$pids >"$out"
has_no "$out" "has ended"
has "$out" "has 2 threads"
has "$out" "we may stop and read process $pids"
kill -9 $pids
wait $pids 2>/dev/null
pids=

name='malloc was never called'
run 0 -- "$work/idle" map
has "$err" " 0 bytes in 0 allocations unreachable out of "
look 0 "$work/idle" map wait
cat >"$work/own.c" <<'END'
#include <string.h>
#include <unistd.h>
static char pool[8 << 20];
static size_t used;
void *malloc(size_t size)
{
	void *block = pool + used;
	used += (size + 31) & ~(size_t)15;
	return block;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size)
{
	return block != NULL ? memcpy(malloc(size), block, size) : malloc(size);
}
int main(void)
{
	memset(malloc(4 << 20), 1, 4 << 20);
	pause();
	return 0;
}
END
${CC:-cc} -O0 -o "$work/own" "$work/own.c" 2>/dev/null || fail "cannot compile"
look 3 "$work/own"
has "$err" "another allocator"

name='musl'
if command -v musl-gcc >/dev/null; then
	musl-gcc -o "$work/musl" "$work/idle.c" || fail "cannot compile"
	look 0 "$work/musl"
	run 3 -- "$work/musl"
	has "$err" "uses musl"
	# Where it is no link, its name is that of a dynamic linker.
	for linker in /lib/ld-musl-*.so.1; do
		cp "$linker" "$work"
		look 0 "$work/${linker##*/}" "$work/musl"
	done
else
	echo "SKIPPED: program_kinds: no musl-gcc"
fi

name='32 bits'
if can_run_32_bits &&
    i686-linux-gnu-gcc -static -o "$work/short" "$work/idle.c" 2>/dev/null; then
	look 3 "$work/short"
	has "$err" "32 bits"
	run 3 -- "$work/short"
	has "$err" "of 32 bits"
else
	echo "SKIPPED: program_kinds: no compiler or no kernel for 32 bits"
fi

name='Go'
cat >"$work/go.S" <<'END'
	.section .note.go.buildid, "a", %note
	.long 4, 8, 4
	.ascii "Go\0\0"
	.quad 0x1122334455667788
	.text
	.globl _start
_start:
	mov $34, %eax /* pause() */
	syscall
	jmp _start
END
if [ "$(uname -m)" = x86_64 ] &&
    ${CC:-cc} -nostdlib -static -o "$work/go" "$work/go.S"; then
	look 3 "$work/go"
	has "$err" "a program of Go without glibc"
else
	echo "SKIPPED: program_kinds: no program with Go's note"
fi

name='a sanitizer'
echo 'int main(void) { return 0; }' >"$work/none.c"
# sanitized WORDS FLAG...: its shadow has terabytes.
sanitized() {
	words=$1
	shift
	if ${CC:-cc} -pthread "$@" -o "$work/sane" "$work/idle.c" 2>/dev/null
	then
		look 3 "$work/sane"
		has "$err" "another allocator ($words"
	else
		echo "SKIPPED: program_kinds: no $*"
	fi
}
sanitized libasan -fsanitize=address
sanitized "AddressSanitizer, in sane" -fsanitize=address -static-libasan
sanitized libtsan -fsanitize=thread
if ${CC:-cc} -fsanitize=address -o "$work/asan" "$work/none.c" 2>/dev/null; then
	run 3 -- "$work/asan"
	has "$err" "has AddressSanitizer"
	# Children do not inherit what they would not start with.
	run 0 -- sh -c "'$work/asan'"
	run 0 --backtrace -- sh -c "'$work/asan'"
else
	echo "SKIPPED: program_kinds: no AddressSanitizer"
fi

name='a program that the command becomes has our libraries again'
cat >"$work/lost.c" <<'END'
#include <stdlib.h>
int main(void)
{
	return malloc(40) == NULL;
}
END
${CC:-cc} -w -o "$work/lost" "$work/lost.c" || exit 1
# shellcheck disable=SC2016 # the inner shell's
for list in '"$LD_PRELOAD"' '"$LD_PRELOAD:libm.so.6"' '"libm.so.6 $LD_PRELOAD"'
do
	LD_PRELOAD=libdl.so.2 run 23 --backtrace -- sh -c "LD_PRELOAD=$list
	    exec sh -c 'exec $work/lost'"
	has "$err" '#00  pc'
	has_no "$err" 'ld.so'
done

# The dynamic linker waits for the file name that it is to load.
name='a program that has only begun'
mkfifo "$work/late.so"
look 3 env LD_PRELOAD="$work/late.so" "$work/idle"
has "$err" "the program has only begun"
has_no "$err" "static program"

# One that becomes itself again and again: each look comes at some moment of it.
cat >"$work/again.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}
int main(int argc, char **argv)
{
	struct timespec nap = { 0, 300000 };
	long end = now() + 10000000;
	int i;

	for (i = 0; i < 200; i++) {
		char *volatile block = malloc(5000);
		memset(block, 1, 5000);
	}
	while (argc > 1 && now() < end)
		for (i = 0; i < 1000; i++) {
			void *volatile block = malloc(3000);
			free(block);
		}
	nanosleep(&nap, NULL);
	execv("/proc/self/exe", argv);
	return argc;
}
END

# again LOOKS PROGRAM [ARG]...: all answers of so many looks at it.
again() {
	looks=$1
	shift
	"$@" &
	pids=$!
	sleep 0.2
	: >"$work/all"
	while [ "$looks" -gt 0 ]; do
		"$command" --limit=1 -p "$pids" >>"$work/all" 2>&1
		looks=$((looks - 1))
	done
	kill -9 "$pids"
	wait "$pids" 2>/dev/null
	pids=
	misnamed
}

misnamed() {
	has_no "$work/all" "foreign allocator"
	has_no "$work/all" "unknown glibc"
	has_no "$work/all" "could not be read"
}

for kind in "" -static -static-pie; do
	name="exec at any moment $kind"
	# shellcheck disable=SC2086
	if ${CC:-cc} -O1 $kind -o "$work/again" "$work/again.c" 2>/dev/null; then
		again "${TESTS_ROUNDS:-30}" nice -n 10 "$work/again"
	else
		echo "SKIPPED: program_kinds: cannot link $kind"
	fi
done

# Each system call of the start of a program: it stands still there.
cat >"$work/steps.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
/* Print the PID of the program, or "over" if it is in main(). */
int main(int argc, char **argv)
{
	long steps = atol(argv[1]);
	struct user_regs_struct regs = { .orig_rax = 0 };
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[2], argv + 2);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	while (steps-- > 0 && regs.orig_rax != SYS_nanosleep &&
	    regs.orig_rax != SYS_clock_nanosleep) {
		ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		waitpid(pid, &status, 0);
		ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	}
	if (steps >= 0) {
		kill(pid, SIGKILL);
		puts("over");
		return 0;
	}
	ptrace(PTRACE_DETACH, pid, NULL, (void *)SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	printf("%d\n", (int)pid);
	fflush(stdout);
	waitpid(pid, &status, 0);
	return 0;
}
END

# steps BY PROGRAM: a look at each, or at each so many.
steps() {
	step=0
	: >"$work/all"
	while :; do
		: >"$work/pid"
		"$work/steps" $step "$2" >"$work/pid" &
		pids=$!
		await test -s "$work/pid" || fail "step $step"
		read -r stepped <"$work/pid"
		[ "$stepped" != over ] || break
		"$command" --limit=1 --timeout=400ms -p "$stepped" \
		    >>"$work/all" 2>&1
		kill -9 "$stepped"
		wait "$pids"
		pids=
		step=$((step + $1))
	done
	[ $step -gt 20 ] || fail "only $step steps"
	misnamed
}

if [ "$(uname -m)" = x86_64 ] &&
    ${CC:-cc} -w -o "$work/steps" "$work/steps.c"; then
	by=4
	for kind in "" -static -static-pie; do
		name="each step of the start $kind"
		# shellcheck disable=SC2086
		if ${CC:-cc} -O1 $kind -o "$work/again" "$work/again.c" \
		    2>/dev/null; then
			steps $by "$work/again"
		else
			echo "SKIPPED: program_kinds: cannot link $kind"
		fi
		by=1
	done
else
	echo "SKIPPED: program_kinds: no steps"
fi

# What one program lost is not refuted by a look at the next one. It begins by
# losing nothing, for a third of the time on a slow machine.
name='exec between two looks'
${CC:-cc} -O1 -o "$work/again" "$work/again.c" || fail "cannot compile"
again 20 "$work/again" busy
zero=$(grep -c ' 0 bytes in 0 unreachable' "$work/all")
[ "$zero" -le 10 ] || fail "$zero looks tell of no leaks"

[ "$failures" -eq 0 ]
