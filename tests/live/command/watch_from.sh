#!/bin/sh
# The looks of a program's own watch (option looks_path), and the lines of an
# earlier watch, are shown, judged and drawn by watch --from. A damaged file is
# refused with its line.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
shown="$work/out $work/err"

# from WANTED OPTION...: watch --from with these ends with this status.
from() {
	wanted=$1
	shift
	"$command" watch "$@" >"$work/out" 2>"$work/err"
	status=$?
	[ $status -eq "$wanted" ] || fail "exit status $status, not $wanted"
}

cat >"$work/loses.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int i;

	(void)argc;
	for (i = 0; i < 10000; i++) {
		memset(malloc(4000), 1, 4000);
		usleep(10000);
		if (access(argv[1], F_OK) == 0)
			return 0;
	}
	return 1;
}
END
"${CC:-cc}" -O0 -o "$work/loses" "$work/loses.c" || exit 1

name='of a program'
env LD_PRELOAD="$build/libmemunreachable.so" \
    MEMUNREACHABLE_OPTIONS="${given}every=200ms:log_path=/dev/null:looks_path=$work/looks" \
    "$work/loses" "$work/enough" &
pid=$!
pids=$pid
looks=$work/looks.$pid
has_looks() {
	[ "$(wc -l <"$looks")" -ge 12 ]
}
await has_looks || fail "no looks"
touch "$work/enough"
wait "$pid" || fail "the program failed"
[ "$(stat -c %a "$looks")" = 600 ] || fail "mode $(stat -c %a "$looks")"
# How much was lost between two looks depends on the machine's load.
"$command" watch --from="$looks" --csv="$work/csv" --html="$work/page" \
	>"$work/out" 2>"$work/err"
status=$?
[ $status -eq 0 ] || [ $status -eq 23 ] || fail "exit status $status"
[ "$(wc -l <"$work/csv")" -eq $(($(wc -l <"$looks") + 1)) ] ||
	fail "$(cat "$work/csv")"
has "$work/page" '<html'
has "$work/page" '>loses'

# A leak of 24 bytes a second.
name=leak
looks=$work/leak
awk 'BEGIN { for (i = 10; i < 22; i++)
	printf "{\"time\":\"2026-11-29T06:35:%dZ\",\"pid\":7," \
	    "\"program\":\"loses\",\"heap_live_bytes\":10288," \
	    "\"heap_lost_bytes\":%d,\"heap_free_bytes\":0," \
	    "\"status\":\"complete\",\"reason\":\"\"}\n", i, 24 * i }' >"$looks"
from 23 --from="$looks"
has "$work/out" 'leak: +84.4 KiB/h lost'
from 23 --from=- <"$looks"
has "$work/out" 'leak: +84.4 KiB/h lost'

# The lines that it writes are those that it reads.
from 23 --from="$looks" --format=json
cp "$work/out" "$work/lines"
from 23 --from="$work/lines" --format=json
cmp "$work/out" "$work/lines" || fail "other lines"
has "$work/out" '"verdict": "leak"'
has "$work/out" '"program": "loses"'

name='a program that was killed'
head -c -20 "$looks" >"$work/cut"
from 23 --from="$work/cut"
has "$work/out" '11 looks in 10'

name='another process'
sed 's/^{/{"restarted":true,/;1q' "$looks" >"$work/again"
cat "$looks" "$work/again" >"$work/two"
from 23 --from="$work/two" -q
has "$work/out" 'leak: +'

name=damaged
for line in 'not JSON' '[1]' '{}' '{"time":"yesterday","status":"complete"}' \
    '{"time":"2026-11-29T06:35:30Z","status":"unheard of"}'; do
	{
		sed 3q "$looks"
		echo "$line"
		sed 3q "$looks"
	} >"$work/damaged"
	from 3 --from="$work/damaged"
	has "$work/err" "damaged, line 4: it is no "
done
from 3 --from="$work/none"
has "$work/err" 'No such file'
: >"$work/empty"
from 3 --from="$work/empty"

name=options
from 2 --from="$looks" -p $$
has "$work/err" 'one of them at a time'
exit $((failures > 0))
