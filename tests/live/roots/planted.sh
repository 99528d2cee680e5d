#!/bin/sh
# Count how many of a thousand blocks that were lost amid work of C++
# containers and of Python are found; nothing else may be reported.
# (roots_planted.c has the flavours in C.)
#
# PLANTED_TABLE=1: all flavours, beside what Valgrind and LeakSanitizer find of
# the same programs, as a table. A matter of minutes.
set -u
. tests/support/script_setup.sh
library=$build/libmemunreachable.so
checked=0

# NAME, the answer "found N others N", what must be found at least
judge() {
	name=$1
	echo "$1: $2"
	checked=$((checked + 1))
	case $2 in
	"found "*" others 0")
		found=${2#found }
		[ "${found%% *}" -ge "$3" ] && return
		;;
	esac
	fail "not $3 found and no others"
}

# SOURCE, OUTPUT, more arguments
compile() {
	source=$1 output=$2
	shift 2
	case $source in
	*.cc) set -- "${CXX:-c++}" -std=c++11 "$source" "$@" ;;
	*) set -- "${CC:-cc}" -std=gnu11 "$source" "$@" ;;
	esac
	"$@" -O2 -D_GNU_SOURCE -Iinclude -I. -o "$output" -pthread
}

cat >"$work/planted.py" <<'END'
import ctypes, json, random, re, sys, threading, zlib

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.memset.restype = None
draw = random.Random(1)
texts = {}

def work(n):
    table = {str(i): [i, "x" * (i % 50), {"n": i}] for i in range(n)}
    text = json.dumps(table)
    back = json.loads(text)
    key = draw.randrange(300)
    texts[key] = [text[:draw.randrange(2000)], zlib.compress(text.encode())]
    if len(texts) > 200:
        texts.popitem()
    return len(back) + len(re.findall("9+", text))

def lose():
    size = draw.randrange(16, 2000) // 16 * 16 + 8
    libc.memset(libc.malloc(size), 0x5a, size)

threads = [threading.Thread(target=lambda: [work(200) for _ in range(20)])
           for _ in range(3)]
for thread in threads:
    thread.start()
for i in range(1000):
    work(draw.randrange(40))
    lose()
for thread in threads:
    thread.join()
for _ in range(300):
    work(draw.randrange(40))
print("ready", flush=True)
sys.stdin.readline()
END

is_ready() {
	grep -q '^ready' "$work/out" 2>/dev/null || ! kill -0 "$pid" 2>/dev/null
}

has_answered() {
	grep -q 'unreachable out of\|detection failed' "$work/log.$pid" \
	    2>/dev/null || ! kill -0 "$pid" 2>/dev/null
}

# What of 1,000 is said to be lost by Python with the given setting: $answer.
ask_python() {
	rm -f "$work"/in "$work"/out "$work"/log.*
	mkfifo "$work/in"
	env "$1" LD_PRELOAD="$library" \
	    MEMUNREACHABLE_OPTIONS="${given}signal=RTMIN+5:min_interval=0:log_path=$work/log" \
	    "$python" "$work/planted.py" <"$work/in" >"$work/out" 2>&1 &
	pid=$!
	pids=$pid
	exec 9>"$work/in"
	await is_ready && kill -s RTMIN+5 "$pid" && await has_answered
	echo >&9
	exec 9>&-
	wait "$pid"
	pids=
	lost=$(sed -n 's/.* in \([0-9]*\) alloc.* unreachable out of.*/\1/p' \
	    "$work/log.$pid")
	if [ "${lost:=0}" -le 1000 ]; then
		answer="found $lost others 0"
	else
		answer="found 1000 others $((lost - 1000))"
	fi
}

valgrind_of() {
	valgrind -q --leak-check=full --show-leak-kinds=none \
	    --log-file=/dev/null "$@" | sed 's/found \([0-9]*\).*/\1/'
}

valgrind_of_python() {
	env "$1" valgrind --leak-check=full --log-file="$work/valgrind" \
	    "$python" "$work/planted.py" </dev/null >/dev/null 2>&1
	tr -d , <"$work/valgrind" | awk '
		/(definitely|indirectly) lost:/ { n += $7 } END { print n }'
}

# The first summary is the one that was asked for, the second that at exit.
lsan_of() {
	"$@" 2>&1 | sed -n \
	    's/^SUMMARY: .* in \([0-9]*\) allocation.*/\1/p' | sed 1q
}

row() {
	printf '| %s | %s | %s | %s |\n' "$@"
}

table() {
	planted=$build/tests/live/victims/victim_planted
	compile tests/live/victims/victim_planted.c "$work/lsan" -DPLANTED_LSAN \
	    -fsanitize=leak
	compile tests/live/roots/planted_cxx.cc "$work/lsan_cxx" -DPLANTED_LSAN \
	    -fsanitize=leak
	row work "this library" Valgrind LeakSanitizer
	row --- --- --- ---
	for flavour in $("$planted"); do
		row "$flavour" "$("$planted" "$flavour" 1)" \
		    "$(valgrind_of "$planted" "$flavour" 1)" \
		    "$(lsan_of "$work/lsan" "$flavour" 1)"
	done
	row C++ "$("$work/planted_cxx" 1)" \
	    "$(valgrind_of "$work/planted_cxx" 1)" \
	    "$(lsan_of "$work/lsan_cxx" 1)"
	for setting in PYTHONMALLOC=default PYTHONMALLOC=malloc; do
		ask_python $setting
		row "python3, $setting" "$answer" \
		    "$(valgrind_of_python $setting)" -
	done
}

if compile tests/live/roots/planted_cxx.cc "$work/planted_cxx" -L"$build" \
    -lmemunreachable -Wl,-rpath,"$build"; then
	for seed in 1 2 3; do
		judge "C++, seed $seed" "$("$work/planted_cxx" $seed)" 940
	done
else
	echo "SKIPPED: no C++ compiler"
fi
# A wrapper script (pyenv) would be the one that is preloaded.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
if [ -x /usr/bin/python3 ]; then
	python=/usr/bin/python3
fi
if [ -n "$python" ]; then
	ask_python PYTHONMALLOC=default
	judge python3 "$answer" 900
	ask_python PYTHONMALLOC=malloc
	judge python3-malloc "$answer" 880
else
	echo "SKIPPED: no python3"
fi
[ -z "${PLANTED_TABLE:-}" ] || table

[ $failures -eq 0 ] || exit 1
[ $checked -gt 0 ] || exit 77
