#!/bin/sh
# LeakTracer's banner, and other behaviour that no other test is named after.
set -u
. tests/recorder/core_play.inc
command=$(cd "$build" && pwd)/memunreachable
cc=${CC:-cc}
export LEAKTRACER_NOBANNER=

# traced PROGRAM...: its report in $work/report.
traced() {
	rm -f "$work/report"
	timeout 60 env LD_PRELOAD="$recorder" \
	    LEAKTRACER_AUTO_REPORTFILENAME="$work/report" \
	    "$@" >"$work/out" 2>"$work/err" </dev/null
}

records() {
	grep -c "^leak, .*, size=$1, data=" "$work/report"
}

# All functions, those too that the original lets pass.
traced "$here/statements_family" lose || fail status
while read -r size; do
	[ "$(records "$size")" -eq 1 ] || fail "intercepted: $size"
done <"$work/out"
[ "$(wc -l <"$work/out")" -eq 19 ] || fail plays
traced "$here/statements_family" free || fail status
[ "$(records '\(50[0-9][0-9]\|20480\)')" -eq 0 ] || fail freed

# Records do not tell of a block that is freed twice; the options do, at the
# same time.
rm -f "$work/report"
LEAKTRACER_AUTO_REPORTFILENAME=$work/report \
    under "free_track backtrace" "$here/core_errors" twice ||
    fail "status: $(tail -n 2 "$work/err")"
[ "$(grep -c '+++ ALLOCATION .* USED AFTER FREE (free)$' "$work/err")" -eq 1 ] ||
    fail told
grep -q '^# LeakTracer report ' "$work/report" || fail report
[ "$(records 100)" -eq 0 ] || fail no_record

cat >"$work/library.c" <<'END'
#include <stdlib.h>
void *volatile lost;
void lose(int n);
void lose(int n)
{
	lost = malloc((unsigned)n); /* library.c:6 */
}
END
cat >"$work/program.c" <<'END'
#include <string.h>
void lose(int n);
static __attribute__((noinline)) void deeper(int n, int m)
{
	if (m > 0)
		deeper(n, m - 1); /* program.c:6 */
	else
		lose(n); /* program.c:8 */
	__asm__ volatile("" ::: "memory", REGISTERS);
}
int main(int argc, char **argv)
{
	int i;
	for (i = 1; i < argc; i++)
		lose((int)strlen(argv[i]) + 6000);
	deeper(700, 6); /* program.c:16 */
	return 5;
}
END
# The frame pointer is a register like others.
case $(uname -m) in
x86_64) registers='"rbx","rbp","r12","r13","r14","r15"' ;;
*) registers='"x19","x20","x29"' ;;
esac
if ! { $cc -g -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fPIC \
    -shared -Wl,--build-id -o "$work/liblose.so" "$work/library.c" &&
	$cc -g -O2 -fomit-frame-pointer -fno-optimize-sibling-calls \
	    -fno-ipa-cp -fno-inline -fPIE -pie -DREGISTERS="$registers" \
	    -Wl,--build-id -o "$work/program" "$work/program.c" -L"$work" \
	    -llose -Wl,-rpath,"$work"; }; then
	fail "cannot build the programs"
	exit 1
fi

# Addresses in a shared library and in a program wherever these were loaded,
# from the report alone; without frame pointers.
traced "$work/program"
[ $? -eq 5 ] || fail "status: $(tail -n 2 "$work/err")"
stack=$(sed -n 's/^leak, .*stack=\(.*\), size=700,.*/\1/p' "$work/report")
[ "$(echo "$stack" | wc -w)" -ge 10 ] || fail "frames: $stack"
"$command" --leaktracer "$work/report" >"$work/shown" 2>&1
[ $? -eq 23 ] || fail status
awk -v folder="$work/" '/^700 bytes lost in 1 blocks? / { on = 1; next }
	!/^\t/ { on = 0 }
	on { sub(folder, ""); print $1 }' "$work/shown" | head -n 9 |
    tr '\n' ' ' >"$work/frames"
deep='program.c:6 program.c:6 program.c:6 program.c:6 program.c:6 program.c:6'
[ "$(cat "$work/frames")" = "library.c:6 program.c:8 $deep program.c:16 " ] || {
	fail "files_and_lines: $(cat "$work/frames")"
	head -n 20 "$work/shown"
}

# The archive says that it is one, in its one line, and can be silenced.
archive=$(dirname "$recorder")/libmemunreachable-malloc-debug.a
if $cc -O1 -fno-builtin -o "$work/static" "$work/library.c" -x c - -x none \
    "$archive" -ldl -pthread <<'END'
void lose(int n);
int main(void) { lose(800); return 6; }
END
then
	LEAKTRACER_AUTO_REPORTFILENAME=$work/report env -u LEAKTRACER_NOBANNER \
	    "$work/static" 2>"$work/err"
	[ $? -eq 6 ] || fail static_status
	[ "$(grep -c '^LeakTracer 3.0.0 (static library) -- ' "$work/err")" -eq 1 ] ||
	    fail "static_banner: $(cat "$work/err")"
	[ "$(wc -l <"$work/err")" -eq 1 ] || fail static_one_line
	[ "$(records 800)" -eq 1 ] || fail static_record
	LEAKTRACER_AUTO_REPORTFILENAME=$work/report "$work/static" 2>"$work/err"
	[ ! -s "$work/err" ] || fail static_silent
else
	fail static
fi

# A command is run as it is, words with spaces as well; a report that was there
# is replaced.
mkdir "$work/there"
echo old >"$work/there/leaks.out"
(
	cd "$work/there" || exit 1
	LEAKTRACER_AUTO_REPORTFILENAME=leaks.out timeout 60 "$command" \
	    --backtrace -- "$work/program" "two words" "" >"$work/out" 2>&1
) </dev/null
status=$?
case $status in
5 | 23) ;;
*) fail "status: $status: $(head -n 5 "$work/out")" ;;
esac
mv "$work/there/leaks.out" "$work/report"
[ "$(records 6009) $(records 6000) $(records 700)" = "1 1 1" ] ||
    fail "words: $(grep -v '^# module' "$work/report" | head -n 5)"
! grep -q '^old' "$work/report" || fail replaced
[ "$(ls "$work/there")" = "" ] || fail "other_files: $(ls "$work/there")"
[ "$failures" -eq 0 ]
