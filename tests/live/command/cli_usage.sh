#!/bin/sh
# The command line: usage, exit status, files, signals, and a command run with
# the library in it.
set -u
. tests/support/command/command.sh
victim=$build/tests/live/victims/victim_plain
TMPDIR=$work/tmp
export TMPDIR
mkdir "$TMPDIR"

nothing_left() {
	[ -z "$(ls -A "$TMPDIR")" ] || fail "left behind: $(ls -A "$TMPDIR")"
}

name=usage
for bad in "" "-p" "-p .x" "--nonsense" "-p 1 --core x" "-p 1 ls" "--" \
    "-p 1 --format=xml" "-p 1 --timeout=1h" "--core x --stop=read"; do
	# The words are split by intention.
	# shellcheck disable=SC2086
	run 2 $bad
	has "$err" "memunreachable: "
	has "$err" "Try 'memunreachable --help'"
	[ ! -s "$out" ] || fail "words on standard output: $bad"
done
run 2 --format=xml -p 1
has "$err" "--format=xml: expected text, json, html, "

name='small stack'
prlimit --stack=65536 "$command" -p $$ >"$out" 2>"$err"
[ $? -eq 3 ] || fail "status"
has "$err" "the stack may have 64 KiB here, and 256 are needed"

# 127: the dynamic linker has no memory for a library, and says so.
name='little memory for data'
for kib in 512 1024 1536 2048 2560 3072; do
	prlimit --data=$((kib << 10)) "$command" --doctor >"$out" 2>"$err"
	status=$?
	case $status in
	0) continue ;;
	3 | 127) ;;
	*) fail "$kib KiB: status $status" ;;
	esac
	grep -Eq "no memory|cannot (map|allocate)|failed to map" "$err" ||
		fail "$kib KiB: $(cat "$err")"
done

name='help and version'
run 0 --help
has "$out" "Usage: memunreachable [OPTION]... PID"
has "$out" "Exit status: 0 no leaks, 23 leaks"
[ ! -s "$err" ] || fail "words on standard error"
run 0 -h
run 0 --version
grep -Eq '^memunreachable [0-9]+\.[0-9]+\.[0-9]+$' "$out" ||
	fail "version: $(cat "$out")"
for option in --help --version --doctor; do
	"$command" "$option" >/dev/full 2>"$err"
	[ $? -eq 3 ] || fail "$option: a full disk is not noticed"
	has "$err" "cannot write standard output: No space left on device"
done
head -c 100000 /dev/zero | tr '\0' '\n' |
	"$command" --symbolize >/dev/full 2>/dev/null
[ $? -eq 3 ] || fail "--symbolize: a full disk is not noticed"

name='devices and pipes are not replaced'
mkfifo "$work/pipe"
ln -s /dev/full "$work/full"
for option in --save= --core-out= --write-baseline= --report=json:; do
	for place in "$work/pipe" "$work/full" "$work"; do
		run 3 "$option$place" -- "$victim" 0
		has "$err" "is a device, a pipe or a folder"
	done
done
[ -p "$work/pipe" ] || fail "the pipe was replaced"
[ -L "$work/full" ] || fail "the link was replaced"

name='a command'
run 23 -- "$victim" 5
has "$out" "ready"
has "$out" "the end"
has "$err" " 24 bytes in 1 allocation unreachable out of "
has "$err" "  24 bytes unreachable at "
has_no "$err" "contents"
run 5 -- "$victim" 5 clean
has "$err" " 0 bytes in 0 allocations unreachable out of "
run 0 -- "$victim" 0 clean
run 23 --contents --limit=1 --timeout=60 --workers=1 --max-memory=64m \
    -- "$victim" 0
has "$err" "78 78 78 78 78 78 78 78  "
run 23 -- env "$victim" 0
has "$err" " 24 bytes in 1 allocation unreachable out of "
MEMUNREACHABLE_OPTIONS="${given}exitcode=99" run 99 -- "$victim" 0
[ "$(echo line | "$command" -- "$victim" 0 clean 2>/dev/null |
	grep served)" = "served line" ] || fail "input does not arrive"
nothing_left

name='what is not checked is not clean'
cat >"$work/own.c" <<'END'
#include <stdlib.h>
#include <string.h>
static char pool[1 << 20];
static size_t used;
void *malloc(size_t size)
{
	void *block = pool + used;
	used += (size + 31) & ~(size_t)15;
	return used < sizeof(pool) ? block : NULL;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size)
{
	return block != NULL ? memcpy(malloc(size), block, size) : malloc(size);
}
int main(int argc, char **argv)
{
	return malloc(24) == NULL || argc < 2 ? 9 : atoi(argv[1]);
}
END
${CC:-cc} -O1 -o "$work/own" "$work/own.c" || fail "cannot compile"
run 3 -- "$work/own" 0
has "$err" "its own allocator"
run 0 --unchecked=ok -- "$work/own" 0
has "$err" "its own allocator"
run 7 -- "$work/own" 7
nothing_left

name='its children'
printf '%s 7 </dev/null\necho "status $?"\n' "$victim" >"$work/script"
"$command" -- sh "$work/script" >"$out" 2>"$err"
has "$out" "status 7"
has_no "$err" "24 bytes in 1 allocation unreachable"
"$command" --children -- sh "$work/script" >"$out" 2>"$err"
[ $? -eq 23 ] || fail "leaks of a child do not show in the status"
has "$out" "status 7"
has "$err" " 24 bytes in 1 allocation unreachable out of "
nothing_left

name='a file'
umask 022
run 23 -o "$work/report" -- "$victim" 0
has "$work/report" " 24 bytes in 1 allocation unreachable out of "
[ ! -s "$err" ] || fail "words on standard error: $(cat "$err")"
[ "$(stat -c %a "$work/report")" = 600 ] || fail "mode of the file"
chmod 644 "$work/report"
run 0 -o "$work/report" -- "$victim" 0 clean
[ "$(stat -c %a "$work/report")" = 600 ] || fail "mode of the old file"
has_no "$work/report" " 24 bytes"
has "$work/report" " 0 bytes in 0 allocations unreachable out of "
ln -s report "$work/link"
run 3 -o "$work/link" -- "$victim" 0
has "$err" "it is a symbolic link"
[ ! -s "$out" ] || fail "run although its report could not be written"
run 3 -o /no/such/place -- "$victim" 0
has "$err" "cannot write /no/such/place: No such file or directory"
TMPDIR=/no/such/place run 3 -- "$victim" 0
has "$err" "set TMPDIR to another place"
nothing_left

name='commands that are none'
run 3 -- no-such-command
has "$err" "cannot run no-such-command: not found in PATH"
run 3 -- "$work"
has "$err" "it is not a file"
run 3 -- "$work/report"
has "$err" "it may not be executed"
echo 'int main(void) { return 0; }' >"$work/none.c"
if ${CC:-cc} -static -o "$work/static" "$work/none.c" 2>/dev/null; then
	run 0 -- "$work/static"
else
	echo "SKIPPED: cli_usage: no static libc"
fi
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	cp /bin/true "$work/setuid"
	chmod 4755 "$work/setuid"
	chmod 1777 "$TMPDIR"
	setpriv --reuid=65534 --clear-groups --regid=65534 \
	    "$command" -- "$work/setuid" >"$out" 2>"$err"
	[ $? -eq 3 ] || fail "a set-user-ID program is run"
	has "$err" "changes its user, group or capabilities"
	run 0 -- "$work/setuid"
else
	echo "SKIPPED: cli_usage: no set-user-ID program without root"
fi
printf '#!/no/such/interpreter\n' >"$work/script"
chmod 755 "$work/script"
run 3 -- "$work/script"
has "$err" "its interpreter, /no/such/interpreter: No such file or directory"
nothing_left

name='signals'
"$command" -- sh -c 'kill -9 $$' >"$out" 2>"$err"
[ $? -eq 137 ] || fail "the signal is not passed on"
has "$err" " 0 bytes in 0 allocations unreachable out of "
"$command" -- sleep 60 >"$out" 2>"$err" &
pid=$!
pids=$pid
has_child() {
	[ -n "$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)" ]
}
is_sleep() {
	has_child && grep -q sleep \
	    "/proc/$(tr -d ' ' <"/proc/$pid/task/$pid/children")/comm"
}
await is_sleep || fail "not started"
child=$(tr -d ' ' <"/proc/$pid/task/$pid/children")
kill -TERM "$pid"
wait "$pid"
[ $? -eq 143 ] || fail "ended otherwise than the command"
kill -0 "$child" 2>/dev/null && fail "the command still runs"
has "$err" " 0 bytes in 0 allocations unreachable out of "
mkfifo "$work/in"
# No function here: it would be a subshell, and $! that one's.
"$command" --signal=USR2 -- "$victim" 6 <"$work/in" >"$out" 2>"$err" &
pid=$!
pids=$pid
exec 9>"$work/in"
is_ready() {
	grep -q ready "$out"
}
has_reported() {
	[ "$(grep -c ' 24 bytes in 1 allocation unreachable' "$err")" -ge "$1" ]
}
await is_ready || fail "not ready"
kill -USR2 "$pid"
await has_reported 1 || fail "no report while it runs"
echo line >&9
exec 9>&-
wait "$pid"
[ $? -eq 23 ] || fail "status with leaks"
pids=
has_reported 2 || fail "no report at the end"
has "$out" "served line"
nothing_left

name='a terminal'
if command -v python3 >/dev/null; then
	timeout 200 python3 tests/support/command/terminal_session.py "$command" \
	    >"$out" 2>"$err" </dev/null
	case $? in
	0) ;;
	77) echo "SKIPPED: cli_usage: no terminal can be made (/dev/pts)" ;;
	*) fail "$(cat "$out" "$err")" ;;
	esac
else
	echo "SKIPPED: cli_usage: no python3 for a terminal"
fi
nothing_left

[ "$failures" -eq 0 ]
