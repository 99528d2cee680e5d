#!/bin/sh
# Programs that know nothing of the library, in mid-run: what the walk lists is
# held against what the recorder saw, address by address, several times a run,
# in each of their processes. See tests/support/recorder/recorded_checks.sh.
set -u
. tests/support/recorder/recorded_checks.sh

# ---- interpreters ----

cat >"$work/work.py" <<'END'
import collections, json, os, re, threading, zlib

def work(n):
    table = {str(i): [i, i * i] for i in range(n)}
    text = json.dumps(table)
    back = json.loads(text)
    return (sum(v[1] for v in back.values()) + len(re.findall("9+", text)) +
            len(zlib.compress(text.encode())))

results = []
for each in range(2):
    threads = [threading.Thread(target=lambda: results.append(work(900)))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    pid = os.fork()
    if pid == 0:
        work(200)
        os._exit(0)
    os.waitpid(pid, 0)
    for thread in threads:
        thread.join()
tree = collections.OrderedDict((i % 97, "x" * i) for i in range(2000))
print(results, sum(map(len, tree.values())))
END

# A wrapper script (pyenv) would be what is recorded.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
if has "${python:-python3}"; then
	check python3 2 300 env PYTHONHASHSEED=1 "$python" -W ignore "$work/work.py"
	check "python3 PYTHONMALLOC=malloc" 2 3000 env PYTHONHASHSEED=1 \
	    PYTHONMALLOC=malloc "$python" -W ignore "$work/work.py"
fi

cat >"$work/work.pl" <<'END'
use strict;
my %seen;
$seen{"key" . $_ % 3000} .= $_ for 1 .. 20000;
my @sorted = sort { $a cmp $b } map { s/1/22/gr } values %seen;
my $text = join ",", @sorted;
my $count = () = $text =~ /(\d)\1/g;
my $pid = fork;
if ($pid == 0) {
	my @lists = map { [ 1 .. $_ ] } 1 .. 300;
	exit @lists == 300 ? 0 : 1;
}
waitpid $pid, 0;
delete $seen{"key" . 3 * $_} for 1 .. 900;
my $said = `echo from a shell`;
print scalar(keys %seen), " ", length $text, " $count $? $said";
END
if has perl; then
	check perl 1 1000 env PERL_HASH_SEED=1 perl "$work/work.pl"
fi

cat >"$work/work.bash" <<'END'
declare -A seen
words=() text=
for ((i = 0; i < 3000; i++)); do
	seen[key$((i % 97))]+=$i
	words+=("word $i")
	text+=${words[i]: -3}
done
for f in /etc/*; do
	[[ $f =~ ^/etc/(.)(.*)$ ]] && text+=${BASH_REMATCH[1]}
done
inner=$(for ((i = 0; i < 300; i++)); do words+=("more $i"); done
	echo ${#words[@]})
unset 'words[5]'
printf '%s %s %s %s\n' "$inner" "${#seen[@]}" "${#words[@]}" "${#text}" | cat
END
if has bash; then
	check bash 1 1000 bash "$work/work.bash"
fi

cat >"$work/work.sql" <<'END'
create table t (id integer primary key, name text, size real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
insert into t select i, printf('name %d', i % 1000), i / 7.0 from n;
create index by_name on t (name);
delete from t where id % 3 = 0;
select count(*), round(sum(size), 3), max(name) from t where name like '%9';
select name, group_concat(id) from t group by name order by 2 desc limit 3;
END
if has sqlite3; then
	check sqlite3 1 200 sh -c \
	    "exec sqlite3 -batch :memory: <'$work/work.sql'"
fi

# ---- tools ----

cat >"$work/work.git" <<'END'
set -e
rm -rf repository
git init -q repository
cd repository
git config user.name nobody
git config user.email nobody@localhost
git config gc.auto 0
git config pack.threads 4
for round in 1 2 3; do
	for file in 1 2 3 4 5 6 7 8 9 10 11 12; do
		seq $((file * round)) 7 $((file * 400)) >"file$file"
	done
	git add .
	git commit -q -m "round $round"
done
git checkout -q -b side HEAD~1
seq 5 500 >other
git add other
git commit -q -m side
git merge -q -m merged - -s ours
git gc -q
git log --stat --format=%H%s
git blame file7 | tail -n 3
git grep -c 77 HEAD
git fsck --strict
END
if has git; then
	check git 1 150 env GIT_AUTHOR_DATE='1700000000 +0000' \
	    GIT_COMMITTER_DATE='1700000000 +0000' GIT_CONFIG_NOSYSTEM=1 \
	    sh -c "cd '$work' && sh work.git"
fi

if has gdb; then
	filter='s/[0-9][0-9]*/N/g; s/Nx[0-9a-fN]*/N/g'
	# $pc is the debugger's.
	# shellcheck disable=SC2016
	check gdb 1 2000 gdb -nx -q -batch -ex 'unset environment LD_PRELOAD' \
	    -ex 'set confirm off' -ex 'set breakpoint pending on' \
	    -ex 'break write' -ex run -ex bt \
	    -ex 'info sharedlibrary' -ex 'info functions mem' \
	    -ex 'x/40i $pc' -ex kill --args /bin/echo a line
	filter=
fi

if has "${CC:-gcc}"; then
	awk 'BEGIN {
		print "int printf(const char *, ...);"
		for (i = 0; i < 120; i++)
			printf "int f%d(int a, char *s)\n{\nint i, t = 0;\n" \
			    "for (i = 0; i < a; i++) {\nt += s[i] * %d;\n" \
			    "if (t > %d)\nt -= a * i;\nswitch (t %% 5) {\n" \
			    "case 0: t++; break;\ncase 3: t ^= i;\n" \
			    "printf(\"%%d\", t);\n}\n}\nreturn t;\n}\n",
			    i, i + 3, i * 7
	}' >"$work/big.c"
	# Where gcc is ccache's, it must not answer in the place of cc1.
	check "cc1 and as" 1 1000 sh -c \
	    "CCACHE_DISABLE=1 ${CC:-gcc} -O2 -g -c -o '$work/big.o' '$work/big.c' &&
	    cksum <'$work/big.o'"
fi

# ---- GLib ----

if pkg-config --exists glib-2.0 2>/dev/null && has "${CC:-cc}"; then
	# The flags are words.
	# shellcheck disable=SC2046
	if "${CC:-cc}" -O2 $(pkg-config --cflags glib-2.0) -o "$work/glib" \
	    "tests/support/recorder/recorded_glib.c" $(pkg-config --libs glib-2.0); then
		check "GLib program" 5 1000 "$work/glib"
	else
		name='GLib program'
		fail "does not compile"
	fi
else
	echo "SKIPPED: no headers of GLib"
fi
if has glib-compile-schemas; then
	mkdir "$work/schemas"
	seq 1 60 | while read -r i; do
		cat >"$work/schemas/a.n$i.gschema.xml" <<END
<schemalist><schema id="a.n$i" path="/a/n$i/">
<key name="k$i" type="as"><default>['x', 'y$i']</default></key>
<key name="number" type="i"><default>$i</default><summary>A number</summary>
</key></schema></schemalist>
END
	done
	check glib-compile-schemas 1 300 glib-compile-schemas --strict \
	    "$work/schemas"
fi

conclude
