#!/bin/sh
# Programs that know nothing of the recorder say the same under it, and it has
# nothing to say of them.
set -u
. tests/recorder/core_play.inc
all="guard fill free_track=50 verify_pointers expand_alloc backtrace=8"

cat >"$work/bash" <<'END'
for i in {1..300}; do a[i]=$(( i * i )); b="$b${a[i]},"; done
echo "${#b} ${b:100:50}"
declare -A m; for i in {1..200}; do m[k$i]=$i; done; echo "${#m[@]}"
(echo sub; echo shell) | while read -r x; do echo "<$x>"; done
unset m a
END
cat >"$work/python" <<'END'
import collections, json, re, subprocess, threading, zlib
data = {str(i): list(range(i % 50)) for i in range(3000)}
text = json.dumps(data)
assert json.loads(text) == data
print(len(text), zlib.crc32(text.encode()), len(re.findall(r"\d+", text)))
def work(n, out=[]):
    out.append(sum(len(bytes(i)) for i in range(n)))
threads = [threading.Thread(target=work, args=(2000,)) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(subprocess.run(["/bin/echo", "child"], capture_output=True).stdout)
print(collections.Counter(text).most_common(3))
END
cat >"$work/perl" <<'END'
my %h = map { $_ => "x" x ($_ % 100) } 1 .. 5000;
my $n = 0; $n += length $h{$_} for sort { $a <=> $b } keys %h;
print "$n\n", join(",", (map { $_ * 2 } grep { $_ % 7 == 0 } 1 .. 100)), "\n";
delete $h{$_} for 1 .. 2500; print scalar(keys %h), "\n";
END
cat >"$work/sql" <<'END'
create table t (a integer primary key, b text);
with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
insert into t select i, hex(zeroblob(i % 50)) from n;
create index x on t (b);
select count(*), sum(length(b)) from t where b > '00';
select b, count(*) from t group by b order by 2 desc, 1 limit 3;
delete from t where a % 3 = 0; vacuum; select count(*) from t;
END
cat >"$work/git" <<'END'
set -e
cd "$1" && rm -rf repo && git init -q repo && cd repo
git config user.email a@b && git config user.name n
for i in 1 2 3; do
	seq "$i" $((i * 500)) >file; echo "$i" >"f$i"; git add .
	GIT_AUTHOR_DATE="100000000$i +0000" \
	    GIT_COMMITTER_DATE="100000000$i +0000" git commit -q -m "c$i"
done
git log --format=%H; git diff HEAD~2 --stat; git gc -q; git fsck
git grep -c 49 HEAD
END

# same NAME OPTIONS PROGRAM...
same() {
	name=$1
	shift
	under "$@" || fail "$name: status $?: $1"
	cmp -s "$work/out" "$work/$name.wanted" || {
		fail "$name: says something else: $1"
		diff "$work/out" "$work/$name.wanted" | head -n 5
	}
	[ -z "$(complaints)" ] ||
	    fail "$name: $1: $(complaints | head -n 3)"
}

# play NAME PROGRAM...
play() {
	name=$1
	shift
	command -v "$1" >/dev/null || {
		echo "no $1 here"
		return
	}
	"$@" >"$work/$name.wanted" 2>/dev/null </dev/null || {
		fail "$name does not run by itself"
		return
	}
	for options in leak_track "backtrace=16 leak_track" "$all"; do
		same "$name" "$options" "$@"
	done
}

# pyenv's shims are scripts.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
play bash bash "$work/bash"
play python env PYTHONMALLOC=malloc "${python:-python3}" "$work/python"
play perl perl "$work/perl"
# The recorder leaves no descriptor open.
play fds ls /proc/self/fd
play sql sqlite3 -init "$work/sql" :memory: .exit
play git sh "$work/git" "$work"
[ "$failures" -eq 0 ]
