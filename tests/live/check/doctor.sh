#!/bin/sh
# --doctor on processes in every state that can be made here: none is
# disturbed, and each gets the right findings and exit status.
set -u
. tests/support/script_setup.sh
no_ptrace=$build/tests/support/stop/no_ptrace
cc=${CC:-cc}
checks=0

skipped() {
	echo "SKIPPED: doctor: $1"
}

is_called() {
	[ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ]
}

# start NAME COMMAND...: in the background, as $pid; wait until it is NAME.
start() {
	awaited=$1
	shift
	"$@" >"$work/out" 2>&1 </dev/null &
	pid=$!
	pids="$pids $pid"
	await is_called $pid "$awaited" || fail "$awaited did not start"
}

# child_of PID: its only child, or nothing.
child_of() {
	tr -d ' ' 2>/dev/null <"/proc/$1/task/$1/children"
}

has_child() {
	[ -n "$(child_of "$1")" ]
}

state_of() {
	sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null
}

is_in_state() {
	[ "$(state_of "$1")" = "$2" ]
}

# What a check could change. (SigQ is the user's.)
look_at() {
	grep -v '^SigQ' "/proc/$1/status"
}

is_quiet() {
	before=$(look_at "$1")
	sleep 0.1
	[ "$(look_at "$1")" = "$before" ]
}

# says STATUS PATTERN COMMAND...: a line of what it prints, and its exit status.
says() {
	expected=$1
	pattern=$2
	shift 2
	checks=$((checks + 1))
	"$@" >"$work/said" 2>&1
	status=$?
	[ $status -eq "$expected" ] ||
		fail "exit status $status, not $expected"
	grep -qE "$pattern" "$work/said" || fail "nothing says \"$pattern\""
	if [ $failures -gt 0 ]; then
		sed 's/^/    /' "$work/said"
		exit 1
	fi
}

# User nobody must be able to read it.
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
doctor=$work/doctor
printf '#!/bin/sh\nexec "%s/memunreachable" --doctor "$@"\n' "$work" >"$doctor"
cp "$build/memunreachable" "$work/memunreachable"
cp "$(command -v sleep)" "$work/sleep"
chmod 755 "$doctor" "$work/memunreachable" "$work/sleep"

name=machine
"$doctor" >"$work/said" 2>&1
if [ $? -eq 3 ] || grep -q '^blocker' "$work/said"; then
	sed 's/^/    /' "$work/said"
	skipped "no process can be checked here"
	exit 77
fi
says 0 '^Nothing stops a check' "$doctor"

name='one that sleeps'
start sleep sleep 1000
await is_quiet $pid
says 0 '^ok .*glibc: glibc 2\.[0-9]+ is known' "$doctor" $pid
says 0 "^ok .*permission: we may stop and read process $pid" "$doctor" $pid
[ "$(look_at $pid)" = "$before" ] || fail "the process was disturbed"
sleeper=$pid

name='a call that every stop ends'
if command -v python3 >/dev/null; then
	start python3 python3 -c 'import select; select.epoll().poll()'
	tells_of_call() {
		"$doctor" $pid | grep -q '^ok .*calls: 1 thread is in epoll_wait'
	}
	await tells_of_call || fail "not told"
else
	echo "SKIPPED: doctor: no python3"
fi

name='a name with an escape'
escape=$(printf 's\033[31m')
cp "$work/sleep" "$work/$escape"
start "$escape" "$work/$escape" 1000
says 0 '\(s\\x1b\[31m\) has 1 thread' "$doctor" $pid

name=stopped
kill -STOP $pid
await is_in_state $pid T
says 0 'stays stopped' "$doctor" $pid
[ "$(state_of $pid)" = T ] || fail "it is not stopped any more"
kill -CONT $pid

name=gone
sh -c 'echo $$' >"$work/gone"
says 3 'there is no process' "$doctor" "$(cat "$work/gone")"

name=zombie
start sleep sh -c 'sh -c "exit 0" & exec sleep 1000'
await has_child $pid
child=$(child_of $pid)
await is_in_state "$child" Z
says 3 'has ended' "$doctor" "$child"

name=seccomp
start sleep "$no_ptrace" sleep 1000
says 0 '^warning .*seccomp: .* has a seccomp filter' "$doctor" $pid
says 3 '^blocker .*refuses ptrace' "$no_ptrace" "$doctor" $pid

name=init
"$doctor" 1 >"$work/said" 2>&1
case $? in
0 | 3) checks=$((checks + 1)) ;;
*) fail "exit status $?" ;;
esac
if is_called 2 kthreadd; then
	says 3 'thread of the kernel' "$doctor" 2
fi

for tracer in "strace -o $work/calls" "gdb -nx -batch -ex run --args"; do
	name=${tracer%% *}
	if ! command -v "$name" >/dev/null; then
		skipped "no $name"
		continue
	fi
	# Words by intention; gdb starts the program by a shell.
	# shellcheck disable=SC2086
	start "$name" $tracer "$work/sleep" 1000
	tracer=$pid
	is_sleep() {
		pid=$(child_of "$tracer") && [ -n "$pid" ] && is_called "$pid" sleep
	}
	await is_sleep || fail "the program did not start"
	says 3 "already traced by $tracer \\($name\\)" "$doctor" "$pid"
	kill "$pid" $tracer 2>/dev/null
done

# Words by intention.
# shellcheck disable=SC2086
if [ "$(id -u)" -eq 0 ] && $as_nobody "$work/doctor" >/dev/null 2>&1; then
	name='other users'
	says 3 'is of user 0, we are user 65534' \
	    $as_nobody "$work/doctor" $sleeper
	start sleep $as_nobody "$work/sleep" 1000
	says 0 'we may stop' $as_nobody "$work/doctor" $pid
	name='other group ids'
	start sleep setpriv --reuid=65534 --regid=65533 --clear-groups \
	    "$work/sleep" 1000
	says 3 'groups 65533 65533 65533' $as_nobody "$work/doctor" $pid
else
	skipped "other users: not root, or no setpriv"
fi

cat >"$work/wait.c" <<'END'
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static void *
wait(void *arg)
{
	pause();
	return arg;
}
/* A fork waits until its event has been read. */
static void
watch(size_t size)
{
	struct uffdio_api api = { UFFD_API, UFFD_FEATURE_EVENT_FORK, 0 };
	void *page = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0);
	struct uffdio_register range = { { (unsigned long)page, 65536 },
		UFFDIO_REGISTER_MODE_MISSING, 0 };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &range) != 0)
		prctl(PR_SET_NAME, "unwatched");
	else if (memset(malloc(size), 1, size) != NULL)
		prctl(PR_SET_NAME, "watched");
}
int
main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "watched") == 0) {
		watch((size_t)64 << 20);
		for (;;)
			pause();
	}
	if (argc > 1 && strcmp(argv[1], "closed") == 0)
		prctl(PR_SET_DUMPABLE, 0);
	if (argc > 1 && strcmp(argv[1], "beside") == 0)
		pthread_create(&thread, NULL, wait, NULL);
	if (argc > 1 && strcmp(argv[1], "closed") != 0 && vfork() == 0) {
		sleep(1000);
		_exit(0);
	}
	pause();
	return 0;
}
END

# built NAME PATTERN STATUS FLAG...: what is said of a program made that way.
built() {
	name=$1
	pattern=$2
	expected=$3
	shift 3
	if ! $cc -w -pthread -o "$work/$name" "$work/wait.c" "$@" 2>"$work/words"; then
		skipped "no $name program can be made here"
		return
	fi
	start "$name" "$work/$name"
	says "$expected" "$pattern" "$doctor" $pid
}

built lines 'has debug information: functions, files and lines' 0 -g
built names 'names of functions, but no lines' 0
# libc.a has its release in a part that few programs take.
built static '(glibc 2\.[0-9]+ is known|looks into its memory)' 0 -static
cc=i686-linux-gnu-gcc
if can_run_32_bits; then
	built narrow '32-bit program' 3
else
	skipped "no compiler or no kernel for 32 bits"
fi

# in_vfork ARG STATUS WORDS
in_vfork() {
	name="vfork $1"
	[ -x "$work/lines" ] || return
	start lines "$work/lines" "$1"
	await has_child $pid
	pids="$pids $(child_of $pid)"
	await is_in_state $pid D
	says "$2" "$3 in uninterruptible sleep" "$doctor" $pid
}

in_vfork vfork 3 '1 of 1 threads is'
in_vfork beside 0 '1 of 2 threads is'

# What --doctor says, a check does.
name='userfaultfd'
if [ -x "$work/lines" ]; then
	is_named() {
		is_called $pid watched || is_called $pid unwatched
	}
	"$work/lines" watched >"$work/out" 2>&1 </dev/null &
	pid=$!
	pids="$pids $pid"
	await is_named || fail "no userfaultfd, and no word of it"
	if is_called $pid watched; then
		says 0 'no copy .* a fork of it may wait for a userfaultfd' \
		    "$doctor" $pid
		for how in --doctor -p; do
			says 3 'to read [67][0-9] MiB of process [0-9]+ would' \
			    "$build/memunreachable" --max-pause=10ms $how $pid
		done
	else
		skipped "no userfaultfd with events of forks"
	fi
fi

name='not dumpable'
# shellcheck disable=SC2086
if [ -x "$work/lines" ] && $as_nobody true 2>/dev/null; then
	start lines $as_nobody "$work/lines" closed
	await is_quiet $pid
	says 3 'not dumpable' $as_nobody "$work/doctor" $pid
	if may_trace_all; then
		says 0 'we may stop' "$doctor" $pid
	else
		skipped "not dumpable, as root: no CAP_SYS_PTRACE"
	fi
fi

name=jemalloc
for library in /usr/lib/*/libjemalloc.so.2 /usr/lib64/libjemalloc.so.2; do
	[ -e "$library" ] || continue
	start sleep env LD_PRELOAD="$library" sleep 1000
	says 0 'jemalloc \(libjemalloc.*from outside only' "$doctor" $pid
done

name=mimalloc
for library in /usr/lib/*/libmimalloc.so.2 /usr/lib64/libmimalloc.so.2; do
	[ -e "$library" ] || continue
	start sleep env LD_PRELOAD="$library" sleep 1000
	says 0 'mimalloc \(libmimalloc.*is read if' "$doctor" $pid
done

name=tcmalloc
for library in /usr/lib/*/libtcmalloc_minimal.so.4 /usr/lib64/libtcmalloc_minimal.so.4; do
	[ -e "$library" ] || continue
	start sleep env LD_PRELOAD="$library" sleep 1000
	says 0 'tcmalloc \(libtcmalloc.*is read if' "$doctor" $pid
done

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
