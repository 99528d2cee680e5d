#!/bin/sh
# --format and --report for other tools: each file is read strictly; one file of
# several processes, of a clean one, and of one that is not checked.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
python=${PYTHON:-/usr/bin/python3}
formats='sarif junit github gitlab folded lsan markdown'
shown=$work/answer
cat >"$work/program.c" <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
struct node {
	struct node *next;
	char *name;
};
static struct node *list;
static void add(const char *name)
{
	struct node *node = malloc(sizeof(*node));

	node->next = list;
	node->name = malloc(24);
	strcpy(node->name, name);
	list = node;
}
int main(int argc, char **argv)
{
	if (argc > 1 && fork() == 0)
		return 0;
	while (wait(NULL) > 0)
		;
	if (argc > 2)
		return 0;
	add(argv[0] + strlen(argv[0]));
	add("");
	list = NULL;
	return 0;
}
END
${CC:-cc} -g -O0 -o "$work/program" "$work/program.c" || exit 1
at=$(grep -n 'malloc(sizeof' "$work/program.c" | cut -d : -f 1)

# run STATUS OPTION... -- WORD...: a report of each format in $work/out/.
run() {
	expected=$1
	shift
	rm -rf "$work/out"
	mkdir "$work/out"
	set -- --source-root="$work" "$@"
	for format in $formats; do
		set -- "--report=$format:$work/out/$format" "$@"
	done
	"$command" -q "$@" >"$work/answer" 2>&1
	status=$?
	[ $status -eq "$expected" ] || fail "$*: status $status"
}

name='one program'
run 23 --backtrace -- "$work/program"
# Eight at most: pprof is another run.
"$command" -q --backtrace -o "$work/out/pprof" --format=pprof -- \
	"$work/program" 2>"$work/answer"
"$python" tests/live/command/reports.py "$work/out" "$at" add \
	>"$work/read" 2>&1 || fail "$(cat "$work/read")"
[ "$(stat -c %a "$work/out/sarif")" = 600 ] || fail "mode"
if command -v go >/dev/null; then
	go tool pprof -raw "$work/out/pprof" >"$work/answer" 2>&1
	like "$work/answer" 'lost_objects/count lost_space/bytes\[dflt\]'
	like "$work/answer" "add .*program.c:$at"
fi
if command -v xmllint >/dev/null; then
	xmllint --noout "$work/out/junit" 2>"$work/answer" || fail "XML"
fi

name='the same as --format'
for format in $formats; do
	"$command" -q --backtrace --source-root="$work" --format="$format" \
		-o "$work/alone" -- "$work/program" 2>"$work/answer"
	sed 's/0x[0-9a-f]*\|==[0-9]*==\|time="[^"]*"//g' "$work/alone" >"$work/a"
	sed 's/0x[0-9a-f]*\|==[0-9]*==\|time="[^"]*"//g' \
		"$work/out/$format" >"$work/b"
	cmp -s "$work/a" "$work/b" || fail "$format: $(diff "$work/a" "$work/b")"
done

name=children
run 23 --children -- "$work/program" fork
"$python" - "$work/out" >"$work/read" 2>&1 <<'END' || fail "$(cat "$work/read")"
import json, sys, xml.etree.ElementTree as xml
folder = sys.argv[1] + '/'
runs = json.load(open(folder + 'sarif'))['runs']
assert sorted(len(run['results']) > 0 for run in runs) == [False, True], runs
suites = xml.parse(folder + 'junit').getroot()
assert sorted(suite.get('failures') for suite in suites) == ['0', '1'] or \
    sorted(suite.get('failures') for suite in suites)[0] == '0', 'junit'
assert all(len(suite) == int(suite.get('tests')) for suite in suites)
assert len(json.load(open(folder + 'gitlab'))) >= 1
END

name='many findings take no memory'
cat >"$work/many.c" <<'END'
#include <stdlib.h>
#include <string.h>
int main(void)
{
	for (size_t i = 0; i < 30000; i++)
		memset(malloc(16 + i * 7919 % 2000), 1, 16);
	return 0;
}
END
${CC:-cc} -O0 -w -o "$work/many" "$work/many.c" || exit 1
"$command" -q --save="$work/look" -- "$work/many" 2>"$work/answer"
# shellcheck disable=SC2086 # words
"$python" - "$command" "$work" $formats pprof json html \
	>"$work/read" 2>&1 <<'END' || fail "$(cat "$work/read")"
import os, subprocess, sys
command, folder = sys.argv[1:3]
def peak(form):
    """In KiB."""
    process = subprocess.Popen([command, '-q', '--limit=40000', '--by=block',
        '--format=' + form, '-o', folder + '/written', folder + '/look'])
    _, status, used = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 23, form
    return used.ru_maxrss
text = peak('text')
for form in sys.argv[3:]:
    most = peak(form)
    assert most < text + 12288, f'{form}: {most} KiB, text {text}'
END

name=clean
run 0 -- "$work/program" no leak
like "$work/out/junit" 'tests="1" failures="0" errors="0"'
like "$work/out/sarif" '"results": \[\]'
[ "$(tr -d '\n' <"$work/out/gitlab")" = '[]' ] || fail "gitlab"
cat "$work/out/github" "$work/out/lsan" >"$work/lines"
[ ! -s "$work/lines" ] || fail "lines"
has "$work/out/markdown" 'program: no memory is lost'

name='not run'
run 3 -- "$work/none"
like "$work/out/sarif" '"executionSuccessful": false'
like "$work/out/junit" 'errors="1"'
like "$work/out/github" '^::error title=none was not checked::'
like "$work/out/gitlab" '"critical"'
has "$work/out/markdown" 'none: not checked'

name='standard output'
"$command" -q --report=github:- -- "$work/program" >"$work/answer" 2>/dev/null
like "$work/answer" '^::error .*title=Lost memory::96 bytes in 4 blocks'

name='bad usage'
"$command" --report=sarif -- true 2>"$work/answer"
[ $? -eq 2 ] || fail "no file"
has "$work/answer" 'expected a format as of --format and a file'
"$command" --format=pprof --children -- true 2>"$work/answer"
[ $? -eq 2 ] || fail "pprof of several"
"$command" -q --report=sarif:"$work/none/file" -- true 2>"$work/answer"
[ $? -eq 3 ] || fail "no folder"
exit $((failures > 0))
