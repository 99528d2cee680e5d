#!/bin/sh
# pytest: a test fails for the C memory that it lost, with its name and line; no
# other test does. The plug-in becomes an sdist and a wheel.
set -u
. tests/support/script_setup.sh
. tests/support/glue_setup.sh
shown=$work/out
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import pytest' 2>/dev/null || {
	echo "SKIPPED: no pytest"
	exit 77
}
unset PYTHONMALLOC PYTEST_ADDOPTS
export LD_LIBRARY_PATH="$build" PYTHONPATH="$PWD/lib/glue/pytest"
export PYTHONDONTWRITEBYTECODE=1

# What Python's objects do not write holds old addresses, by chance.
# run OPTION...: its output is in $work/out.
run() {
	LD_PRELOAD=${LD_PRELOAD:-$zeroed} \
		"$python" -m pytest -p pytest_memunreachable -p no:cacheprovider \
		--color=no -rfE "$@" >"$work/out" 2>&1
}

# ended LINE...: these and no other tests failed or had errors.
ended() {
	sed -n 's/^\(FAILED\|ERROR\) [^ ]*::\([^ ]*\).*/\1 \2/p' "$work/out" \
		>"$work/failed"
	printf '%s\n' "$@" >"$work/should_fail"
	same "$work/should_fail" "$work/failed"
}

name=example
run --memunreachable examples/test_leaks.py
ended 'FAILED test_forgotten'
has "$work/out" '1 failed, 2 passed'
has "$work/out" 'test_forgotten lost 24 bytes in 1 allocation'
has "$work/out" "examples/test_leaks.py:$(grep -n 'def test_forgotten' \
    examples/test_leaks.py | cut -d : -f 1): test_forgotten: memory was lost"

name=without
run examples/test_leaks.py
has "$work/out" '3 passed'

name=ends
export PYTHONMALLOC=malloc
run $glue/ends_pytest.py
ended 'FAILED test_marked_loses' 'FAILED test_above_limit' \
	'FAILED test_fails_once' 'FAILED test_fixture_loses' \
	'FAILED test_parameter[24]' 'FAILED test_behind_clean_test_loses'
like "$work/out" 'test_above_limit lost 48 bytes in 2 allocations'

name=stacks
LD_PRELOAD="$recorder $zeroed" \
	LIBC_DEBUG_MALLOC_OPTIONS="backtrace=64 backtrace_python fill_on_alloc fill_on_free" \
	run -k test_marked_loses $glue/ends_pytest.py
has "$work/out" '#00  pc '
like "$work/out" 'libffi|python'
like "$work/out" "#[0-9]+  lose .*/ends_pytest.py:$(grep -n 'assert libc' \
    $glue/ends_pytest.py | cut -d : -f 1)\$"
like "$work/out" '#[0-9]+  test_marked_loses .*/ends_pytest.py:[0-9]+$'

name=missing
MEMUNREACHABLE_LIBRARY=libnone.so run --memunreachable examples/test_leaks.py
like "$work/out" 'memunreachable: libnone.so: cannot open shared object'

name=package
unset PYTHONPATH
cp -r lib/glue/pytest "$work/package"
(cd "$work/package" && "$python" -c 'import setuptools.build_meta as build
import sys
version = __import__("setuptools").__version__
if int(version.split(".")[0]) < 61:
    sys.exit(77)
print(build.build_sdist("."), build.build_wheel("."))') >"$work/out" 2>&1
case $? in
0)
	wheel=$(echo "$work"/package/pytest_memunreachable-*.whl)
	"$python" -m zipfile -e "$wheel" "$work/installed"
	tar -tzf "$work"/package/pytest*memunreachable-*.tar.gz >"$work/out"
	has "$work/out" 'pytest_memunreachable.py'
	export PYTHONPATH="$work/installed"
	# The entry point loads it.
	LD_PRELOAD=$zeroed "$python" -m pytest -p no:cacheprovider \
		--memunreachable examples/test_leaks.py >"$work/out" 2>&1
	has "$work/out" '1 failed, 2 passed'
	;;
*)
	grep -q Traceback "$work/out" && ! grep -q 'No module' "$work/out" &&
		fail "no package is built"
	echo "SKIPPED: no setuptools 61 or later"
	;;
esac
exit $((failures > 0))
