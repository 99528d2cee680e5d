#!/bin/sh
# The command shows what recorders wrote: a position-independent program and a
# shared library are built and run, and record stacks in each format; names,
# files and lines must be those in the sources, whatever the load addresses.
set -u
. tests/support/command/command.sh
unset NO_COLOR DEBUGINFOD_URLS

name='building'
cat >"$work/library.c" <<'END'
#include <execinfo.h>
int made(void **stack);
int made(void **stack)
{
	int depth = backtrace(stack, 16); /* library.c:5 */
	return depth;
}
END
cat >"$work/program.c" <<'END'
#include <link.h>
#include <stdio.h>
#include <string.h>
int made(void **stack);
static int dump;
static __attribute__((noinline)) int make(void **stack)
{
	int depth = made(stack); /* program.c:8 */
	return depth;
}
static int tell(struct dl_phdr_info *info, size_t size, void *path)
{
	int i;
	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		unsigned long begin = info->dlpi_addr + ph->p_vaddr;
		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X &&
		    (info->dlpi_name[0] == '/' || info->dlpi_name[0] == 0))
			printf("# module %lx-%lx %lx %lx - %s\n", begin & -4096,
			    (begin + ph->p_memsz + 4095) & -4096,
			    (unsigned long)ph->p_offset & -4096,
			    (unsigned long)info->dlpi_addr,
			    info->dlpi_name[0] ? info->dlpi_name : (char *)path);
	}
	return 0;
}
int main(int argc, char **argv)
{
	char line[4096];
	void *stack[16];
	int i, depth = make(stack); /* program.c:32 */
	FILE *maps = fopen("/proc/self/maps", "r");
	dump = strcmp(argv[1], "dump") == 0;
	if (dump)
		printf("Android Native Heap Dump v1.2\n\n"
		    "Build fingerprint: 'unknown'\n\nTotal memory: 1\n"
		    "Allocation records: 2\nBacktrace size: 16\n\n"
		    "z 0  sz       24  num    %s  bt", argv[2]);
	else {
		puts("# LeakTracer report diff_utc_mono=1.000000");
		dl_iterate_phdr(tell, argv[0]);
		printf("leak, time=000001.500000, stack=");
	}
	for (i = 0; i < depth; i++)
		printf(dump ? " %lx" : i ? " 0x%lx" : "0x%lx",
		    (unsigned long)stack[i] - (unsigned long)dump);
	if (!dump) {
		printf(", size=24, data=..., 1\n");
		return argc < 0;
	}
	printf("\nz 1  sz     1000  num    1  bt\nMAPS\n");
	while (fgets(line, sizeof(line), maps))
		fputs(line, stdout);
	puts("END");
	return 0;
}
END
cc=${CC:-cc}
# shellcheck disable=SC2086
if ! { $cc -g -O1 -fPIC -shared -Wl,--build-id -o "$work/libmade.so" \
    "$work/library.c" &&
	$cc -g -O1 -fPIE -pie -D_GNU_SOURCE -Wl,--build-id -o "$work/program" \
	    "$work/program.c" -L"$work" -lmade -Wl,-rpath,"$work"; }; then
	fail "cannot build the programs"
	exit 1
fi

name='a heap dump'
"$work/program" dump 3 >"$work/a.txt" || fail "it cannot be run"
run 0 --heap-dump "$work/a.txt"
[ ! -s "$err" ] || fail "words on standard error: $(cat "$err")"
has "$out" "Not freed: 1072 bytes in 4 blocks"
has "$out" "Inherited (z 0; on Android the zygote's): 72 bytes in 3 blocks, 1 stack"
has "$out" "main at $work/program.c:32 (program)"
has "$out" "make at $work/program.c:8 (program)"
has "$out" "made at $work/library.c:5 (libmade.so)"
has "$out" "Own (z 1; on Android the app's): 1000 bytes in 1 block, 1 stack"
has "$out" "(no stack was recorded)"
order=$(grep -nE 'main at|make at|made at' "$out" | cut -d: -f1 | tr '\n' ' ')
[ "$order" = "$(echo "$order" | tr ' ' '\n' | sort -n | tr '\n' ' ' |
	sed 's/^ *//')" ] || fail "the outermost is not the first: $order"
run 0 --heap-dump "$work/a.txt" -o "$work/report"
[ "$(stat -c %a "$work/report")" = 600 ] || fail "mode of the file"
has "$work/report" "make at $work/program.c:8 (program)"
run 0 --heap-dump "$work/a.txt" --color=always
has "$out" "$(printf '\033[1mNot freed')"
run 0 --heap-dump "$work/a.txt" --limit=0
has "$out" "(1 smaller branch, pruned)"
has_no "$out" "make at"

name='a page'
run 0 --heap-dump "$work/a.txt" --html "$work/a.html"
has "$out" "make at"
[ "$(stat -c %a "$work/a.html")" = 600 ] || fail "mode of the page"
has "$work/a.html" ">made at $work/library.c:5 (libmade.so)</span>"
run 0 --heap-dump "$work/a.txt" --html -
cmp -s "$out" "$work/a.html" || fail "another page on standard output"
run 3 --heap-dump "$work/a.txt" --html /no/such/folder/x
has "$err" "cannot write /no/such/folder/x"
sed 's|bt .*|bt 123|; s|Build.*|Build fingerprint: '"'"'"><script>x'"'"'|' \
    "$work/a.txt" |
	sed 's|^z 0.*|&\n  bt_info {"</script><img src=x>" 1 "a<b>\&\x1b" 2}|' \
	    >"$work/hostile.txt"
run 0 --heap-dump "$work/hostile.txt" --html "$work/hostile.html"
has_no "$work/hostile.html" "<img"
has "$work/hostile.html" "a&lt;b&gt;&amp;\\x1b"
run 0 --diff "$work/a.txt" "$work/hostile.txt" --html "$work/diff.html"
has "$out" "Before: "
has "$work/diff.html" "<h2>Grew: "
has_no "$work/diff.html" "<img"
run 0 --diff "$work/a.txt" "$work/hostile.txt" --html -
cmp -s "$out" "$work/diff.html" || fail "another page on standard output"
if command -v python3 >/dev/null; then
	for page in "$work/a.html" "$work/hostile.html" "$work/diff.html"; do
		python3 tests/support/command/html_check.py "$page" >"$work/words" ||
			fail "$(cat "$work/words")"
	done
else
	echo "SKIPPED: cli_view: no python3 to look at pages"
fi

name='a difference'
"$work/program" dump 5 >"$work/b.txt"
run 0 --diff "$work/a.txt" "$work/b.txt"
has "$out" "1 stack grew by 48 bytes, 0 shrank by 0 bytes"
has "$out" "+48 bytes: +2 blocks of 24 bytes, 3 before, 5 now"
has "$out" "#00  made at $work/library.c:5 (libmade.so)"
run 0 --diff "$work/b.txt" "$work/a.txt"
has "$out" "-48 bytes: -2 blocks of 24 bytes, 5 before, 3 now"
run 0 --diff "$work/a.txt" "$work/a.txt"
has "$out" "0 stacks grew by 0 bytes, 0 shrank by 0 bytes"
run 3 --diff "$work/a.txt" "$work/none.txt"
has "$err" "none.txt: No such file or directory"
run 2 --diff "$work/a.txt"

name="LeakTracer's report"
"$work/program" leaks >"$work/leaks.out"
"$work/program" leaks >"$work/more.out"
run 23 --leaktracer "$work/leaks.out"
has "$out" "Processing \"$work/leaks.out\" log for \"$work/program\""
has "$out" "found 1 leak(s)"
has "$out" "24 bytes lost in 1 blocks (one of them allocated at 000001.500000), from following call stack:"
has "$out" "	$work/library.c:5 made (libmade.so)"
has "$out" "	$work/program.c:8 make (program)"
has "$out" "	$work/program.c:32 main (program)"
head -n 1 "$work/leaks.out" >"$work/clean.out"
run 0 --leaktracer "$work/clean.out"
has "$out" "found 0 leak(s)"
grep -v '^# module' "$work/leaks.out" >"$work/old.out"
run 23 --leaktracer "$work/old.out"
has "$out" "give the program by --exe"
run 23 --leaktracer "$work/old.out" --exe "$work/program"
has "$out" "may have been loaded anywhere (PIE)"
run 3 --leaktracer "$work/old.out" --exe "$work/leaks.out"
has "$err" "it is not an ELF file"

name='an old report of a program that is where its file says'
cat >"$work/fixed.c" <<'END'
#include <execinfo.h>
#include <stdio.h>
int main(void)
{
	void *stack[1] = { 0 };
	backtrace(stack, 1); /* fixed.c:6 */
	printf("# LeakTracer report diff_utc_mono=1.0\n"
	    "leak, time=1.5, stack=0x%lx, size=8, data=\n",
	    (unsigned long)stack[0]);
	return 0;
}
END
if $cc -g -O0 -fno-pie -no-pie -o "$work/fixed" "$work/fixed.c" 2>/dev/null; then
	"$work/fixed" >"$work/fixed.out"
	(cd "$work" && "$command" --leaktracer fixed.out --exe ./fixed) \
	    >"$out" 2>"$err"
	[ $? -eq 23 ] || fail "status of an old report"
	has "$out" "	$work/fixed.c:6 main (fixed)"
	has "$out" "log for \"./fixed\""
else
	echo "SKIPPED: cli_view: no program without PIE"
fi

name='symbols elsewhere'
mkdir -p "$work/symbols$work"
mv "$work/program" "$work/symbols$work/program"
run 0 --heap-dump "$work/a.txt"
has_no "$out" "program.c"
has "$out" "program+0x"
has "$out" "made at $work/library.c:5"
run 0 --heap-dump "$work/a.txt" --symbols "$work/symbols"
has "$out" "make at $work/program.c:8 (program)"
has "$out" "made at $work/library.c:5"
run 23 --leaktracer "$work/leaks.out" --symbols "$work/symbols"
has "$out" "	$work/program.c:8 make (program)"
run 0 --diff "$work/a.txt" "$work/b.txt" --symbols "$work/symbols"
has "$out" "make at $work/program.c:8 (program)"

name='another build'
if command -v readelf >/dev/null; then
	id=$(readelf -n "$work/libmade.so" | sed -n 's/.*Build ID: //p')
	{
		sed '/^END/d' "$work/a.txt"
		echo "# build-id $id $work/libmade.so"
		echo END
		echo "# build-id 00c0ffee $work/program"
		echo "# sampled: one stack in 9 bytes"
	} >"$work/ids.txt"
	run 0 --heap-dump "$work/ids.txt" --symbols "$work/symbols"
	has "$out" "made at $work/library.c:5 (libmade.so)"
	has_no "$out" "program.c"
	has "$out" "Note: $work/program is of another build now"
	has "$out" "Note: the recorder says: sampled: one stack in 9 bytes."
	has "$out" "the report has 00c0ffee): its names are not used."
else
	echo "SKIPPED: cli_view: no readelf"
fi

name='what is cut off, damaged, or something else'
head -c 400 "$work/a.txt" >"$work/cut.txt"
run 4 --heap-dump "$work/cut.txt"
has "$err" "cut.txt: the file is cut off after line "
has "$out" "Note: "
sed 's/^z 1.*/z 1 damaged/' "$work/a.txt" >"$work/damaged.txt"
run 4 --heap-dump "$work/damaged.txt"
has "$err" "1 line of the file cannot be read and is left out"
run 4 --diff "$work/a.txt" "$work/cut.txt"
printf 'leak, time=1, stack=0x1' >>"$work/more.out"
run 4 --leaktracer "$work/more.out"
has "$err" "the file is cut off in line "
has "$out" "found 1 leak(s)"
run 3 --heap-dump "$work/leaks.out"
has "$err" "it is not a heap dump"
run 3 --leaktracer "$work/a.txt"
has "$err" "it is not a report of LeakTracer"
run 3 --heap-dump "$work"
run 3 --heap-dump /no/such/file
: >"$work/empty"
run 3 --heap-dump "$work/empty"
run 3 --leaktracer "$work/empty"
for usage in "--html x" "--symbols x" "--heap-dump a --leaktracer b" \
    "--heap-dump a --exe b" "--leaktracer a --html b" "--heap-dump"; do
	# shellcheck disable=SC2086
	run 2 $usage
done

# Stacks that all differ, which took 100 MB and more; what is written is gone.
name='more stacks than fit into memory'
awk 'BEGIN {
	print "Android Native Heap Dump v1.2\n\nAllocation records: 150000\n"
	for (i = 0; i < 150000; i++) {
		printf "z 0 sz 64 num 1 bt"
		for (j = 0; j < 16; j++) {
			seed = (seed * 16807 + 12345) % 2147483647
			printf " %x", 16777216 + seed % 4000
		}
		print ""
	}
	print "MAPS\nEND"
}' >"$work/many.txt"
mkdir "$work/sorted"
for html in '' "--html=$work/many.html"; do
	# shellcheck disable=SC2086
	(
		# shellcheck disable=SC3045 # dash and bash have it
		ulimit -d 50000
		TMPDIR="$work/sorted" "$command" --heap-dump "$work/many.txt" \
			$html >"$out" 2>"$err"
	) || fail "it ended with another status: $(cat "$err")"
	has "$out" "9600000 bytes in 150000 blocks, 150000 stacks"
done
[ "$(grep -c '^\[64,1,\|,\[64,1,\|\[\[64,1,' "$work/many.html")" -ge 149999 ] ||
	fail "the page does not have all stacks"
awk 'BEGIN {
	print "# LeakTracer report diff_utc_mono=1.000000"
	for (i = 0; i < 300000; i++)
		printf "leak, time=%06d.5, stack=0x%x 0x%x 0x%x, size=64, data=\n",
			i, 16777216 + i % 3001, 16777216 + i % 1009, 16777216
}' >"$work/many.out"
(
	# shellcheck disable=SC3045 # dash and bash have it
	ulimit -d 50000
	TMPDIR="$work/sorted" "$command" --leaktracer "$work/many.out" \
		>"$out" 2>"$err"
)
[ $? -eq 23 ] || fail "it ended with another status: $(cat "$err")"
has "$out" "found 300000 leak(s)"
[ -z "$(ls -A "$work/sorted")" ] || fail "a file was left in TMPDIR"

name='a pipe'
mkfifo "$work/pipe"
cat "$work/a.txt" >"$work/pipe" &
run 0 --heap-dump "$work/pipe"
wait
has "$out" "made at $work/library.c:5"

[ "$failures" -eq 0 ]
