#!/bin/sh
# --suppressions, --write-suppressions, --only-module, --only-function.
set -u
. tests/support/command/look_program.sh
rules=$work/rules

name=all
ends 23 --backtrace --write-suppressions="$rules" -- "$work/program"
like "$rules" '^# [0-9]+ bytes in [0-9]+ blocks? lost.*make\(int\) < lose'
like "$rules" '^leak:\^make\(int\)\$$'
[ "$(stat -c %a "$rules")" = 644 ] || fail "mode"
ends 0 --backtrace --suppressions="$rules" -- "$work/program"
like "$work/answer" '^Suppressions used:$'
like "$work/answer" '^ +[0-9]+ +[0-9]+ leak:\^make\(int\)\$$'
has_no "$work/answer" ' #00  pc '
has_no "$work/answer" 'not used'

name=function
echo 'leak:lose' >"$rules"
ends 23 --backtrace --suppressions="$rules" -- "$work/program"
name=valgrind
cat >"$rules" <<'END'
{
   made on purpose
   Memcheck:Leak
   match-leak-kinds: definite
   fun:_Znwm
   fun:_Z4makei
   ...
   fun:main
}
{
   of no stack
   Memcheck:Leak
   fun:malloc
   fun:main
}
END
ends 0 --backtrace --suppressions="$rules" -- "$work/program"
like "$work/answer" '^ +[0-9]+ +[0-9]+ valgrind:made on purpose$'
has "$work/answer" 'Suppression not used: valgrind:of no stack'
name=module
echo 'module:/program$' >"$rules"
ends 0 --backtrace --suppressions="$rules" -- "$work/program"

name='cap, date, unused'
cat >"$rules" <<'END'
# These do nothing.
leak:make count=1
leak:make until=2020-01-01
leak:no_such_function
type:NoSuchType
END
ends 23 --backtrace --suppressions="$rules" -- "$work/program"
has "$work/answer" 'Suppression not used: leak:make count=1 (there are more'
has "$work/answer" 'until=2020-01-01 (that day is over)'
has "$work/answer" 'Suppression not used: type:NoSuchType'

name='no stack'
echo 'leak:make' >"$rules"
ends 23 --suppressions="$rules" -- "$work/program"
has "$work/answer" '(cannot match: no stack is known, see --backtrace)'

name='keep lists'
ends 0 --backtrace --only-function=no_such_function -- "$work/program"
like "$work/answer" '^Left out by --only-module or --only-function: [1-9]'
ends 23 --backtrace --only-function='^make' -- "$work/program"
ends 23 --backtrace --only-module=program -- "$work/program"
ends 0 --backtrace --only-module=libnone -- "$work/program"

name='bad usage'
echo 'race:x' >"$rules"
ends 3 --suppressions="$rules" -- true
has "$work/answer" 'line 1: expected leak:'
ends 3 --suppressions="$work/none" -- true
ends 2 --by=block --suppressions="$rules" -- true
name='more than 100 groups'
cat >"$work/many.c" <<'END'
#include <stdlib.h>
#include <string.h>
int main(void)
{
	for (size_t size = 24; size < 24 + 150 * 16; size += 16)
		memset(malloc(size), 1, size);
	return 0;
}
END
${CC:-cc} -O0 -w -o "$work/many" "$work/many.c" || exit 1
ends 23 --write-suppressions="$rules" -- "$work/many"
[ "$(grep -c ^size: "$rules")" -eq 150 ] || fail "$(grep -c ^size: "$rules")"
ends 0 --suppressions="$rules" -- "$work/many"
ends 23 --write-baseline="$work/known" -- "$work/many"
ends 0 --baseline="$work/known" -- "$work/many"

# An earlier file stays as it was.
name='some groups only'
for file in suppressions baseline; do
	echo '# earlier' >"$work/$file"
	ends 3 --limit=100 --write-$file="$work/$file" -- "$work/many"
	has "$work/answer" 'written: there are more groups than --limit says'
	[ "$(cat "$work/$file")" = '# earlier' ] || fail "$file"
done

name='no room'
ends 23 --save="$work/look" -- "$work/many"
for file in suppressions baseline; do
	(
		trap '' XFSZ
		ulimit -f 1
		"$command" -q --write-$file="$work/$file" "$work/look" 2>&1
		echo "ended $?"
	) | cat >"$work/answer"
	has "$work/answer" "$file cannot be written: File too large"
	has "$work/answer" 'ended 3'
	[ "$(cat "$work/$file")" = '# earlier' ] || fail "$file"
done
exit $((failures > 0))
