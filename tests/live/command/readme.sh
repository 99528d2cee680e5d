#!/bin/sh
# Run the examples of README.md: the blocks of shell commands in order, in one
# folder; each block of C or C++ is compiled and run. A block that is not
# listed here fails.
set -u
. tests/support/script_setup.sh
root=$PWD
unset LD_PRELOAD MEMUNREACHABLE_OPTIONS LIBC_DEBUG_MALLOC_OPTIONS
unset TMPDIR
cc=${CC:-cc}
checks=0
cxx=${CXX:-c++}

# N.LANGUAGE for each block, counted by language.
awk -v to="$work/" '
	/^```[a-z]/ { language = substr($0, 4); file = to (++n[language]) "." language; next }
	/^```/ { language = ""; next }
	language != "" { print >file }' "$root/README.md"

# What the commands find: as after "make install" and ldconfig.
LD_LIBRARY_PATH=$build
PATH=$work/bin:$build:$PATH
export LD_LIBRARY_PATH PATH
mkdir "$work/bin"
cat >"$work/bin/pkg-config" <<END
#!/bin/sh
echo -I$root/include -L$build -lmemunreachable
END
chmod +x "$work/bin/pkg-config"

# A server, which loses blocks as it runs. Tests: one that is clean.
cat >"$work/server.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) void
lose(void)
{
	char *volatile p = malloc(1 << 20);

	memset(p, 'x', 1 << 20);
	p = NULL;
}

static __attribute__((noinline)) void
overwrite_old_stack(void)
{
	volatile char old[16384];
	size_t i;

	for (i = 0; i < sizeof(old); i++)
		old[i] = 0;
}

int
main(void)
{
	int i;

	for (i = 0; i < 1200; i++) {
		if (i % 5 == 0)
			lose();
		overwrite_old_stack();
		usleep(100000);
	}
	return 0;
}
END
echo 'int main(void) { return 0; }' >"$work/tests.c"
"$cc" -g -O0 -o "$work/server" "$work/server.c" &&
	"$cc" -o "$work/tests" "$work/tests.c" || exit 1
echo ./tests >"$work/run-tests.sh"

# What the examples are spared: an hour's sleep or watch, another's process of that name,
# and what would install.
cat >"$work/prelude" <<END
sleep() { command sleep "\$( [ "\$1" -ge 60 ] && echo 2 || echo "\$1" )"; }
pidof() { echo \$served; }
memunreachable() {
	[ "\$1" != watch ] || set -- "\$1" "\$2" "\$3" --every=2s --count=6
	command memunreachable "\$@"
}
make() { command make -C "$root" -n "\$@"; }
cc() { command "$cc" "\$@"; }
cd "$work" || exit 1
END

# block N STATUS PATTERN...: block N of the shell ends so, and its output has
# these lines.
block() {
	name="block $1 of the shell"
	checks=$((checks + 1))
	shell="$work/$1.sh" wanted=$2 before=$failures
	shift 2
	[ -s "$shell" ] || {
		fail "there is none"
		return
	}
	# The files are made above.
	# shellcheck disable=SC1090,SC1091
	(
		. "$work/prelude"
		. "$shell"
		status=$?
		echo "${!-}" >"$work/started"
		exit $status
	) >"$work/out" 2>&1 </dev/null
	status=$?
	while read -r pid; do
		[ -n "$pid" ] || continue
		pids="$pids $pid"
		rm -f "/tmp/leaks.$pid" "/tmp/backtrace_heap.$pid.txt"
	done <"$work/started"
	[ $status -eq "$wanted" ] || fail "status $status, not $wanted"
	for pattern; do
		grep -Eq -e "$pattern" "$work/out" || fail "no \"$pattern\""
	done
	rm "$shell"
	[ $failures -eq "$before" ] || sed 's/^/	/' "$work/out"
}

mv "$work/1.c" "$work/program.c" || exit 1
block 1 0
block 2 23 '^  24 bytes unreachable at ' \
    '^   referencing 72 unreachable bytes in 3 allocations' \
    ' \(add\) .*/program.c:11$' ' \(main\) .*/program.c:21$'
sed -n 's/^\( *#00  pc [0-9a-f]*  [^ ]*\).*/\1/p' "$work/out" >"$work/program.log"

# The examples look at one that runs.
"$work/server" &
served=$!
pids=$served
sleep 1
may_trace_all || {
	echo "SKIPPED: processes cannot be looked at without CAP_SYS_PTRACE"
	exit 77
}
lost='^  [1-9][0-9]* bytes in [0-9]+ unreachable allocations?$'
block 3 0 "$lost" "process $served \\(server\\)"
if command -v gcore >/dev/null; then
	block 4 23 '"leak_bytes": [1-9]'
else
	echo "SKIPPED: block 4: no gcore"
	rm "$work/4.sh"
fi
block 5 0 '^passed$'
block 6 23 ' 96 bytes in 4 allocations unreachable '
block 7 23 '^leak: [+].* lost, '
block 8 0 ' [1-9][0-9]* bytes in [0-9]+ allocations? unreachable '
block 9 0 "$lost" '^[1-9][0-9]* stacks? grew by '
block 10 0
block 11 23 '^found 4 leak'
block 12 0 ' \(add\) .*/program.c:11$' '^Not freed: [1-9]'
[ -s "$work/heap.html" ] || fail "no page"

# what LANGUAGE N: the N-th block of that, in main(), with what it needs.
compiled() {
	name="block $1 of $2"
	checks=$((checks + 1))
	source="$work/$1.$2" compiler=$3
	grep '^#include' "$source" >"$work/whole.$2"
	grep -v '^#include' "$source" >"$work/body"
	{
		[ "$2" = cpp ] || echo '#include <stdio.h>'
		echo '#include <memunreachable/memunreachable.h>'
		echo '#define ck_assert(x) do { if (!(x)) return 1; } while (0)'
		echo 'int main(void) {'
		cat "$work/body"
		echo 'return 0; }'
	} >>"$work/whole.$2"
	rm "$source"
	# The words are options.
	# shellcheck disable=SC2046
	"$compiler" -o "$work/whole" "$work/whole.$2" \
	    $("$work/bin/pkg-config") || {
		fail "it does not compile"
		return
	}
	"$work/whole" >"$work/out" 2>&1 || fail "status $?: $(cat "$work/out")"
}
compiled 2 c "$cc"
compiled 3 c "$cc"
compiled 1 cpp "$cxx"

name='every block'
for left in "$work"/[0-9]*.sh "$work"/[0-9]*.c "$work"/[0-9]*.cpp; do
	[ ! -e "$left" ] || fail "not tested: ${left##*/}"
done
echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
