#!/bin/sh
# symbolize=1: reports of the recorder and of the library have files and lines,
# the program notices nothing, and without the command they are as without the
# option. And memunreachable --symbolize, for logs.
# shellcheck disable=SC2016 # other shells expand these
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
library=$build/libmemunreachable.so
leaky=$build/tests/recorder/join_leaky
play=$build/tests/recorder/symbolize_play
unset LD_PRELOAD LIBC_DEBUG_MALLOC_OPTIONS MEMUNREACHABLE_MALLOC_DEBUG

# under WANTED OPTIONS PRELOAD PROGRAM...: out, err; it ends with this status.
under() {
	wanted=$1 options=$2 preload=$3
	shift 3
	timeout -k 5 60 env LIBC_DEBUG_MALLOC_OPTIONS="$options" \
		MEMUNREACHABLE_OPTIONS="$given${symbolize-symbolize=1}" \
		LD_PRELOAD="$preload" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	[ $status -eq "$wanted" ] || {
		fail "status $status, not $wanted"
		sed 's/^/	/' "$work/err"
	}
}

# Frame $2 in $1 is the function $3 at line $5 of the program's source $4.
frame() {
	like "$1" "^(malloc_debug:   |          )#$2  pc [0-9a-f]{16}  /[^ ]* \($3\) [^ ]*$4:$(line "tests/recorder/$4" "$5")$"
}

name='leak_track'
under 0 'backtrace leak_track' "$recorder" "$leaky"
sed -n '/block of size 5000 /,/block of size 24 /p' "$work/err" >"$work/one"
sed -n '/block of size 24 /,$p' "$work/err" >"$work/two"
frame "$work/one" 00 make join_leaky.c MALLOC
frame "$work/one" 01 lose_large join_leaky.c LARGE
frame "$work/two" 00 make join_leaky.c MALLOC
frame "$work/two" 01 lose_small join_leaky.c SMALL
[ "$(grep -c 'leaked block' "$work/err")" -eq 2 ] || fail "not two blocks"
unlike "$work/err" 'symbolize='

name='no symbolize=1'
symbolize='' under 0 'backtrace leak_track' "$recorder" "$leaky"
unlike "$work/err" 'join_leaky\.c'
like "$work/err" '#00  pc [0-9a-f]{16}  /.*/join_leaky$'
cp "$work/err" "$work/plain"

name='a mistake is reported, by one of the two'
symbolize=symbolize=x:nonsense=1 \
	under 0 'backtrace leak_track' "$recorder" "$leaky"
like "$work/err" 'symbolize=x: expected 1, true, yes, 0, false or no$'
symbolize=symbolize=x under 0 'backtrace leak_track' "$recorder:$library" "$leaky"
[ "$(grep -c 'symbolize=x' "$work/err")" -eq 1 ] || fail "not one"

name='stderr closed at exit'
under 0 'backtrace leak_track' "$recorder" cat /dev/null
like "$work/err" '#0[0-9]  pc [0-9a-f]{16}  /.*/libc[.-][^ /]* \(__libc_start_main'

name='in the program'
FREE_NONE=1 under 5 'backtrace verify_pointers' "$recorder:$library" "$play"
for file in out err; do
	frame "$work/$file" 00 lose symbolize_play.c LOST
	[ "$(grep -c 'bytes unreachable at' "$work/$file")" -eq 2 ] ||
		fail "not two blocks: $file"
done
like "$work/err" 'UNKNOWN POINTER'
frame "$work/err" 00 report symbolize_play.c FREED
unlike "$work/err" SIGCHLD
symbolize=symbolize=1:at_exit=1 under 23 'backtrace' "$recorder:$library" "$leaky"
frame "$work/err" 00 make join_leaky.c MALLOC
# The recorder's errors come in threads of any kind, with signals ignored.
FREE_NONE=1 under 5 'backtrace verify_pointers' "$recorder" \
	sh -c 'trap "" CHLD HUP PIPE; exec "$1"' sh "$play"
frame "$work/err" 00 report symbolize_play.c FREED

# Libraries that have no command beside them, but what stands in for it.
mkdir "$work/lib" "$work/tools"
cp "$recorder" "$work/lib/recorder.so"
cp "$library" "$work/lib/library.so"
both=$work/lib/recorder.so:$work/lib/library.so
for tool in cat env grep ls sleep sh; do
	ln -s "$(command -v $tool)" "$work/tools/$tool"
done
elsewhere() {
	PATH=$work/tools under "$@"
}

same_text() {
	grep -v 'symbolize=' "$work/err" | sed 's/ at 0x[0-9a-f]*//' >"$work/one"
	sed 's/ at 0x[0-9a-f]*//' "$work/plain" | cmp -s - "$work/one" ||
		fail "the text is another: $(cat "$work/err")"
}

stand_in() {
	printf '#!/bin/sh\n%s\n' "$1" >"$work/lib/memunreachable"
	chmod 755 "$work/lib/memunreachable"
}

real=$PATH
for tool in timeout env; do
	ln -sf "$(command -v $tool)" "$work/tools/$tool"
done
name='no command'
elsewhere 0 'backtrace leak_track' "$work/lib/recorder.so" "$leaky"
like "$work/err" '^malloc_debug: symbolize=1: no command memunreachable'
same_text
FREE_NONE=1 elsewhere 5 'backtrace verify_pointers' "$both" "$play"
like "$work/err" '^libmemunreachable: symbolize=1: no command memunreachable'
like "$work/out" '#00  pc [0-9a-f]{16}  /.*/symbolize_play$'
PATH=$real

name='by PATH'
ln -s "$command" "$work/tools/memunreachable"
elsewhere 0 'backtrace leak_track' "$work/lib/recorder.so" "$leaky"
PATH=$real
frame "$work/err" 00 make join_leaky.c MALLOC

name='a command that fails'
stand_in 'cat; exit 1'
elsewhere 0 'backtrace leak_track' "$work/lib/recorder.so" "$leaky"
PATH=$real
like "$work/err" 'symbolize=1: memunreachable cannot be run, or has failed$'
same_text
stand_in 'kill -9 $$'
elsewhere 0 'backtrace leak_track' "$work/lib/recorder.so" "$leaky"
PATH=$real
same_text
FREE_NONE=1 elsewhere 5 'backtrace verify_pointers' "$both" "$play"
PATH=$real
unlike "$work/err" SIGCHLD

name='a command that does not end'
stand_in "echo \$\$ >$work/pid; exec sleep 100"
elsewhere 0 'backtrace leak_track' "$work/lib/recorder.so" "$leaky"
PATH=$real
like "$work/err" 'did not end within 10 s and is not asked again$'
same_text
! kill -0 "$(cat "$work/pid")" 2>/dev/null || fail "it still runs"

name='what the command gets'
stand_in "env >$work/env; grep ^Sig /proc/self/status >$work/signals
ls /proc/self/fd >$work/fds; cat"
LEAKTRACER_NOBANNER=1 MEMUNREACHABLE_NO=1 WANTED=1 elsewhere 0 \
	'backtrace leak_track' "$work/lib/recorder.so" \
	sh -c 'trap "" HUP INT CHLD; exec 7</dev/null; exec "$1"' sh "$leaky"
PATH=$real
same_text
like "$work/env" '^WANTED=1$'
unlike "$work/env" '^(LD_PRELOAD|LIBC_DEBUG|MEMUNREACHABLE_|LEAKTRACER_)'
unlike "$work/signals" '^Sig(Blk|Ign):.*[1-9a-f]'
[ "$(tr '\n' ' ' <"$work/fds")" = '0 1 2 3 ' ] || # 3 is that of ls
	fail "descriptors: $(cat "$work/fds")"

# The filter.
name='filter'
pc=$(sed -n 's/.*#00  pc \([0-9a-f]*\)  .*/\1/p' "$work/plain" | head -n 1)
plain="#00  pc $pc  $leaky"
named="#00  pc $pc  $leaky \(make\) .*join_leaky.c:$(line tests/recorder/join_leaky.c MALLOC)"
{
	printf 'Nov 22 host x[1]: malloc_debug:   %s\n' "$plain"
	printf '          %s (some+1)\n' "$plain"
} >"$work/log"
for way in stdin file; do
	case $way in
	stdin) "$command" --symbolize <"$work/log" >"$work/out" ;;
	*) "$command" --symbolize "$work/log" >"$work/out" ;;
	esac || fail "status"
	like "$work/out" "^Nov 22 host x\[1\]: malloc_debug:   $named$"
	like "$work/out" "^          $named$"
	[ "$(wc -l <"$work/out")" -eq 2 ] || fail "lines"
done

name='filter, hostile'
{
	printf '\000\377\033[31m \r\n\n  #\n  #00\n  #00  pc \n'
	printf '  #00  pc 0000000000000001  /dev/zero\n'
	printf '  #00  pc 0000000000000001  /etc/passwd\n'
	printf '  #00  pc ffffffffffffffff  %s\n' "$leaky"
	printf '  #00  pc 00000000000000000000000000001  %s\n' "$leaky"
	printf '  #00000000000000000  pc 0000000000000001  %s\n' "$leaky"
	printf '  %s\000hidden\n' "$plain"
	printf '%s\n #%s\n' "$plain" "$plain"
	printf '  #00  pc %s  %s (%s+\n' "$pc" "$leaky" "$leaky"
	printf '  #00  pc %s  /%s\n' "$pc" "$(head -c 9000 /dev/zero | tr '\0' /)x"
	head -c 200000 /dev/zero
	printf '  %s\n' "$plain"
	head -c 300000 /dev/urandom
	printf '\nlibmemunreachable: no stacks were recorded: LIBC_DEBUG_MALLOC_OPTIONS='
	printf "'backtrace backtrace_min_size=1 backtrace_max_size=2'\n"
	printf '  #00  pc'
} >"$work/log"
"$command" --symbolize <"$work/log" >"$work/out" || fail "status"
cmp "$work/log" "$work/out" || fail "changed"
printf '  %s' "$plain" | "$command" --symbolize >"$work/out"
like "$work/out" "^  $named$"

name='filter, as it comes'
mkfifo "$work/in"
"$command" --symbolize <"$work/in" >"$work/out" &
pids="$pids $!"
exec 9>"$work/in"
printf '  %s\n' "$plain" >&9
await grep -q 'join_leaky.c' "$work/out" || fail "it waits for the end"
exec 9>&-

name='filter, --symbols'
mkdir -p "$work/root/no/such"
cp "$leaky" "$work/root/no/such/program"
printf '  #00  pc %s  /no/such/program\n  %s\n' "$pc" "$plain" |
	"$command" --symbolize --symbols "$work/root" >"$work/out"
like "$work/out" "^  #00  pc $pc  /no/such/program \(make\) .*join_leaky.c:"
like "$work/out" "^  $named$"

name='filter, failures'
for bad in "$work/none" "$work"; do
	"$command" --symbolize="$bad" >"$work/out" 2>"$work/err"
	[ $? -eq 3 ] || fail "status of $bad"
	like "$work/err" '^memunreachable: cannot read '
done
echo x | "$command" --symbolize >/dev/full 2>"$work/err"
[ $? -eq 3 ] || fail "a full disk is not noticed"
exit $((failures > 0))
