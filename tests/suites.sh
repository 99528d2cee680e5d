#!/bin/sh
# The test suites of git, sqlite3 and Python, each run twice: plain, and under
# the recorder with a stack for every block. What a program's tests say of it
# must not change: the results are compared test by test. A test that fails both
# ways is the suite's own affair, and counts as passed; one that differs, or
# that only one of the ways has, is run again, and fails if it differs again.
#
# Both ways run at the same time, one test after another in each, so that both
# meet the same machine. A witness shows first, by the maps and the words of a
# process of each suite, that the recorder is there one way and not the other.
# A suite that is not there is a loud skip.
#
# Usage: suites.sh [SUITE...]    (git sqlite python)
# Environment: GIT_SOURCE (a tree of git's sources, built), SQLITE_SOURCE (one
#   of sqlite3's, with testfixture built in it), PYTHON (python3),
#   GIT_TESTS, SQLITE_TESTS, PYTHON_TESTS (words: scripts of git's by pattern,
#   files of sqlite3's, modules of Python's), SUITES_OPTIONS ("backtrace=16"),
#   TEST_TIMEOUT (seconds a script, file or module, 1500), BUILD (build).
#
# Logs and lists of results stay in $BUILD/suites.
set -u
cd "$(dirname "$0")/.." || exit 1
unset LD_PRELOAD LIBC_DEBUG_MALLOC_OPTIONS MEMUNREACHABLE_MALLOC_DEBUG
build=$(cd "${BUILD:-build}" && pwd) || exit 1
recorder=$build/libmemunreachable-malloc-debug.so
options=${SUITES_OPTIONS:-backtrace=16}
limit=${TEST_TIMEOUT:-1500}
git_tests=${GIT_TESTS:-t00 t10 t1100 t1300 t3200 t4001 t530 t60}
sqlite_tests=${SQLITE_TESTS:-veryquick}
# None needs the network, a display, or more than a minute.
python_tests=${PYTHON_TESTS:-test_abc test_argparse test_array test_ast
	test_asyncgen test_base64 test_binascii test_bisect test_buffer
	test_builtin test_bytes test_bz2 test_calendar test_capi test_cmath
	test_codecs test_collections test_compile test_configparser test_copy
	test_coroutines test_csv test_ctypes test_datetime test_decimal
	test_deque test_dict test_difflib test_enum test_exceptions
	test_faulthandler test_file test_float test_fork1 test_fractions
	test_functools test_gc test_generators test_hashlib test_heapq
	test_inspect test_int test_io test_itertools test_json test_list
	test_long test_lzma test_marshal test_memoryview test_mmap test_os
	test_pickle test_posix test_pyexpat test_random test_re test_select
	test_set test_shutil test_sqlite3 test_statistics test_str test_string
	test_struct test_subprocess test_sys test_tarfile test_tempfile
	test_thread test_threading test_tokenize test_traceback test_tuple
	test_typing test_unicode test_weakref test_xml_etree_c test_zipfile
	test_zlib}
passed=0 failed=0 skipped=0

[ $# -gt 0 ] || set -- git sqlite python
[ -r "$recorder" ] || {
	echo "no $recorder"
	exit 1
}
work=$build/suites
mkdir -p "$work" || exit 1

skip() {
	printf 'SKIPPED: %-7s %s\n' "$1" "$2"
	skipped=$((skipped + 1))
}

# run COMMAND...: the way that $way says.
run() {
	if [ "$way" = under ]; then
		set -- LD_PRELOAD="$recorder" \
			LIBC_DEBUG_MALLOC_OPTIONS="$options" "$@"
	fi
	timeout -k 10 "$limit" env "$@"
}

# Of each suite: why it cannot be run; its units; how to run one, in $out, with
# exit status and what it prints; how to let it show its maps and what the
# recorder says to it, in $out/maps and $out/said; and its results in $out, as
# lines of name, tab, "ok", "not ok" or "skip".

absent_git() {
	[ -n "${GIT_SOURCE:-}" ] || {
		echo "GIT_SOURCE is not set"
		return 0
	}
	[ -x "$GIT_SOURCE/git" ] && [ -x "$GIT_SOURCE/t/helper/test-tool" ] && {
		GIT_SOURCE=$(cd "$GIT_SOURCE" && pwd)
		return 1
	}
	echo "nothing is built in $GIT_SOURCE"
}

# test-lib.sh would preload glibc's own checks in our place.
environment_git() {
	export TEST_NO_MALLOC_CHECK=1 GIT_TEST_CHAIN_LINT=0 \
		GIT_TEST_GIT_DAEMON=false GIT_TEST_HTTPD=false \
		TEST_DIRECTORY="$GIT_SOURCE/t" TEST_OUTPUT_DIRECTORY="$out"
}

units_git() {
	for pattern in $git_tests; do
		(cd "$GIT_SOURCE/t" && ls -d "$pattern"*.sh)
	done
}

run_git() {
	environment_git
	cd "$GIT_SOURCE/t" && run sh "./$1"
}

# In a test, where git's test-lib.sh has made the environment what it likes.
# The words are for the shell of the test to expand.
# shellcheck disable=SC2016
show_git() {
	environment_git
	export WITNESS="$out"
	printf '%s\n' 'test_description="who is in git"' \
		'. "$TEST_DIRECTORY/test-lib.sh"' \
		'test_expect_success "look" "' \
		'exec >\"\$WITNESS/maps\" 2>\"\$WITNESS/said\" &&' \
		'git interpret-trailers /proc/self/maps"' \
		test_done >"$out/t0000-witness.sh"
	cd "$GIT_SOURCE/t" && run sh "$out/t0000-witness.sh"
}

results_git() {
	for log in "$out"/*.log; do
		sed "s|$out|OUT|g" "$log" |
			awk -v unit="$(basename "$log" .log)" '
			/^1\.\.0/ { print unit "\tskip" }
			/^1\.\./ { print unit " totals\t" $1 }
			/^(not )?ok [0-9]/ {
				result = /^ok [0-9]+ # skip/ ? "skip" : \
					/ # TODO known breakage/ ? "known" : \
					/^not/ ? "not ok" : "ok"
				sub(/^(not )?ok /, "")
				sub(/ # TODO.*/, "")
				if (sub(/ # skip/, " -"))
					sub(/ \(missing [^()]*\)$/, "")
				gsub(/\t/, " ")
				print unit " " $0 "\t" result
			}'
	done
}

absent_sqlite() {
	[ -n "${SQLITE_SOURCE:-}" ] || {
		echo "SQLITE_SOURCE is not set"
		return 0
	}
	[ -x "$SQLITE_SOURCE/testfixture" ] && {
		SQLITE_SOURCE=$(cd "$SQLITE_SOURCE" && pwd)
		nobody test -r "$SQLITE_SOURCE/test/tester.tcl" &&
			nobody test -x "$work" && nobody test -r "$recorder" &&
			return 1
		echo "its tests refuse root, and user nobody may not read" \
			"$SQLITE_SOURCE and $build"
		return 0
	}
	echo "no testfixture is built in $SQLITE_SOURCE"
}

# nobody COMMAND...: not as root. The options come through, as nothing gains
# rights.
nobody() {
	[ "$(id -u)" -ne 0 ] ||
		set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	if [ -n "$way" ]; then
		run "$@"
	else
		"$@"
	fi
}

units_sqlite() {
	for file in $sqlite_tests; do
		echo "${file%.test}"
	done
}

# The tests of the shell look for it where they begin.
run_sqlite() {
	mkdir -p "$out/$1" && cd "$out/$1" || return 1
	[ ! -x "$SQLITE_SOURCE/sqlite3" ] ||
		ln -sf "$SQLITE_SOURCE/sqlite3" . || return 1
	[ "$(id -u)" -ne 0 ] || chown 65534:65534 . || return 1
	nobody "$SQLITE_SOURCE/testfixture" "$SQLITE_SOURCE/test/$1.test"
}

show_sqlite() {
	echo 'puts -nonewline [read [open /proc/self/maps]]' >"$out/witness.tcl"
	nobody "$SQLITE_SOURCE/testfixture" "$out/witness.tcl" \
		>"$out/maps" 2>"$out/said"
}

# Failures are told again in one line at the end.
results_sqlite() {
	for log in "$out"/*.log; do
		awk -v unit="$(basename "$log" .log)" '
			/\.\.\. (\([^)]*\) +)?Ok$/ {
				sub(/\.\.\. (\([^)]*\) +)?Ok$/, "")
				gsub(/\t/, " ")
				print unit " " $0 "\tok"
			}
			/^!Failures on these tests:/ {
				for (i = 5; i <= NF; i++)
					print unit " " $i "\tnot ok"
			}
			/^[0-9]+ errors out of [0-9]+ tests/ {
				print unit " totals\t" $1 " errors of " $5
			}' "$log"
	done
}

absent_python() {
	python=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)') || {
		echo "no ${PYTHON:-python3}"
		return 0
	}
	"$python" -c 'import test.test_list' 2>/dev/null && return 1
	echo "$python is there without its tests"
}

# Not every release has every module.
units_python() {
	# The words are names.
	# shellcheck disable=SC2086
	"$python" -c 'import importlib.util as u, sys
for name in sys.argv[1:]:
    if u.find_spec("test." + name):
        print(name)
    else:
        print("SKIPPED: python: no module", name, file=sys.stderr)' \
		$python_tests
}

# A process for each module: regrtest's own workers look at no PYTHONMALLOC.
run_python() {
	mkdir -p "$out/$1" && cd "$out/$1" &&
		run PYTHONMALLOC=malloc PYTHONHASHSEED=0 "$python" -m test \
			--junit-xml "$out/$1.xml" "$1"
}

show_python() {
	run PYTHONMALLOC=malloc "$python" -c \
		'print(open("/proc/self/maps").read())' >"$out/maps" 2>"$out/said"
}

results_python() {
	# A module that is skipped as a whole leaves no list.
	sed -n 's/^\(test_[a-z0-9_]*\) skipped -- .*/\1\tskip\n\1 totals\t0/p' \
		"$out"/*.log
	"$python" - "$out"/*.xml <<'PYTHON'
import os, sys
import xml.etree.ElementTree as tree
for path in sys.argv[1:]:
    unit = os.path.basename(path)[:-4]
    cases = list(tree.parse(path).iter("testcase"))
    print(unit, "totals\t%d" % len(cases))
    for case in cases:
        inside = {part.tag for part in case}
        name = " ".join(case.get("name", "?").split())
        if inside & {"failure", "error", "outcome"}:
            result = "not ok"
        else:
            result = "skip" if "skipped" in inside else "ok"
        print(unit, name.encode("ascii", "backslashreplace").decode() +
              "\t" + result)
PYTHON
}

# all SUITE WAY UNITS: every unit, what it says and its exit status; the time.
all() {
	suite=$1 way=$2 out=$3/$2
	mkdir -p "$out" || exit 1
	: >"$out/statuses"
	while read -r unit; do
		("run_$suite" "$unit") >"$out/$unit.log" 2>&1 </dev/null
		printf '%s exit status\t%s\n' "$unit" $? >>"$out/statuses"
	done
	times >"$out/times"
	{
		"results_$suite"
		sed 's/\t0$/\tok/; s/\t[0-9]*$/\tnot ok (&)/; s/(\t/(/' \
			"$out/statuses"
	} >"$out/results"
}

# both SUITE FOLDER <UNITS: the two ways, and what differs between them.
both() {
	mkdir -p "$2" && cat >"$2/units"
	all "$1" plain "$2" <"$2/units" &
	one=$!
	all "$1" under "$2" <"$2/units" &
	wait "$one" $!
	awk -F '\t' -v counts="$2/counts" -v extra=' (exit status|totals)$' '
		FNR == 1 { way++ }
		{
			key = $1
			if (++seen[way, key] > 1)
				key = key " (" seen[way, key] ")"
			if (!(key in keys))
				order[++n] = key
			keys[key]
			r[way, key] = $2
			if (key !~ extra)
				sum[way, substr($2, 1, 6)]++
		}
		function got(way, key) {
			return (way, key) in r ? r[way, key] : "missing"
		}
		function told(way) {
			return sprintf("%d ok, %d not ok, %d skipped%s",
				sum[way, "ok"], sum[way, "not ok"],
				sum[way, "skip"], sum[way, "known"] ? \
				", " sum[way, "known"] " known to fail" : "")
		}
		END {
			for (i = 1; i <= n; i++) {
				key = order[i]
				if (got(1, key) != got(2, key)) {
					print key "\t" got(1, key) "\t" got(2, key)
					differ++
				} else if (r[1, key] == "skip") {
					skip++
				} else if (key !~ extra) {
					same++
				}
			}
			print same + 0, differ + 0, skip + 0 >counts
			print told(1) >counts
			print told(2) >counts
		}' "$2/plain/results" "$2/under/results" >"$2/differs"
}

# The seconds, user and system, of all that a way ran.
seconds() {
	awk 'NR == 2 {
		split($1 "m" $2, t, /[ms]+/)
		printf "%.1f", t[1] * 60 + t[2] + t[3] * 60 + t[4]
	}' "$1"
}

# witness SUITE: the recorder is there one way and not the other.
witness() {
	for way in plain under; do
		out=$work/$1/witness/$way
		mkdir -p "$out" || return 1
		(
			options="$options verbose"
			"show_$1"
		) >"$out/log" 2>&1 </dev/null
		[ -s "$out/maps" ] || return 1
	done
	out=$work/$1/witness
	grep -q 'malloc-debug\.so' "$out/under/maps" &&
		grep -q '^malloc_debug: .*enabled' "$out/under/said" &&
		! grep -q 'malloc-debug\.so' "$out/plain/maps" &&
		! grep -q '^malloc_debug: ' "$out/plain/said"
}

report() {
	suite=$1 from=$work/$1/first
	read -r same differ skip <"$from/counts"
	printf '%-7s plain: %s; CPU %ss\n' "$suite" \
		"$(sed -n 2p "$from/counts")" "$(seconds "$from/plain/times")"
	printf '%-7s under: %s; CPU %ss\n' "$suite" \
		"$(sed -n 3p "$from/counts")" "$(seconds "$from/under/times")"
	grep '[0-9] errors out of' "$from"/*/*.log 2>/dev/null |
		sed "s|^$from/||; s/^/    /"
	passed=$((passed + same)) skipped=$((skipped + skip))
	said=$(grep -l '^malloc_debug: ' "$from/under"/*.log)
	[ -z "$said" ] || {
		echo "    FAILED: the recorder complains in" "$said"
		failed=$((failed + 1))
	}
	unfinished=$(for ended in "$from/plain" "$from/under"; do
		grep ' totals	' "$ended/results" | cut -d ' ' -f 1 |
			grep -Fxv -f - "$from/units" | sed "s|^|$ended/|"
	done)
	[ -z "$unfinished" ] || {
		echo "    FAILED: came to no end:" "$unfinished"
		failed=$((failed + 1))
	}
	[ -s "$from/units" ] || {
		echo "    FAILED: no test has run"
		failed=$((failed + 1))
	}
	[ "$differ" -gt 0 ] || return 0
	sed 's/^/    differs: /; s/\t/: plain /; s/\t/, under /' "$from/differs"
	cut -d ' ' -f 1 "$from/differs" | sort -u | both "$suite" "$work/$1/again"
	again=$(awk -F '\t' 'NR == FNR { was[$1]; next } $1 in was' \
		"$from/differs" "$work/$1/again/differs" |
		tee "$work/$1/failed" | wc -l)
	sed 's/^/    FAILED: /; s/\t/: plain /; s/\t/, under /' \
		"$work/$1/failed"
	failed=$((failed + again)) passed=$((passed + differ - again))
}

for suite in "$@"; do
	case $suite in
	git | sqlite | python) ;;
	*)
		echo "no suite $suite: git, sqlite, python"
		exit 1
		;;
	esac
	way=
	if why=$("absent_$suite"); then
		skip "$suite" "$why"
		continue
	fi
	# Again, for what it sets.
	"absent_$suite"
	rm -rf "${work:?}/$suite"
	if ! witness "$suite"; then
		echo "$suite: FAILED: no proof that the recorder is there," \
			"see $work/$suite/witness"
		failed=$((failed + 1))
		continue
	fi
	"units_$suite" | both "$suite" "$work/$suite/first"
	report "$suite"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
