#!/bin/sh
# Check servers from outside again and again while clients use them: no request
# fails, and only known leaks are reported (none in these). A server with
# another malloc is refused by its name.
set -u
. tests/support/script_setup.sh
command=$build/memunreachable
load=$PWD/tests/support/command/server_load.py
CHECKS=${TESTS_CHECKS:-8}

free_port() {
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

answers() {
	python3 - "$1" <<-'END'
		import socket, sys
		socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1)
	END
} 2>/dev/null

# check PROTOCOL PORT PID: under load, every answer "no leaks".
check() {
	if ! await answers "$2"; then
		fail "does not answer"
		return
	fi
	rm -f "$work/checking" "$work/load"
	mkfifo "$work/checking"
	python3 "$load" "$1" "$2" <"$work/checking" >"$work/load" 2>&1 &
	clients=$!
	exec 9>"$work/checking"
	for _ in $(seq "$CHECKS"); do
		"$command" -q -p "$3" >"$work/report" 2>&1
		status=$?
		[ $status -eq 0 ] ||
			fail "exit status $status: $(cat "$work/report")"
	done
	exec 9>&-
	wait $clients || fail "$(tail -n 3 "$work/load")"
	echo "$name: $(tail -n 1 "$work/load"), $CHECKS checks, the last:" \
		"$(head -n 1 "$work/report" | sed 's/.*threads* //')"
}

name=python3
mkdir "$work/site"
echo served >"$work/site/index.html"
port=$(free_port)
python3 -m http.server --directory "$work/site" --bind 127.0.0.1 "$port" \
	>/dev/null 2>&1 &
pids="$pids $!"
check http "$port" $!

# Servers of another user: without CAP_SYS_PTRACE root may not look at them.
name=nginx
if [ "$(id -u)" -eq 0 ] && ! may_trace_all; then
	echo "SKIPPED: check_servers: nginx, memcached: no CAP_SYS_PTRACE"
elif command -v nginx >/dev/null; then
	port=$(free_port)
	chmod 755 "$work/site"
	cat >"$work/nginx.conf" <<-END
		daemon off;
		worker_processes 1;
		pid $work/nginx.pid;
		error_log $work/nginx.error;
		events { worker_connections 64; }
		http {
			access_log off;
			client_body_temp_path $work/t1;
			proxy_temp_path $work/t2;
			fastcgi_temp_path $work/t3;
			uwsgi_temp_path $work/t4;
			scgi_temp_path $work/t5;
			server { listen 127.0.0.1:$port; root $work/site; }
		}
	END
	nginx -p "$work" -c "$work/nginx.conf" >/dev/null 2>&1 &
	pids="$pids $!"
	await answers "$port"
	worker=$(pgrep -P $! | head -n 1)
	pids="$pids $worker" # it outlives a master that is killed
	check http "$port" "${worker:-$!}"
else
	echo "SKIPPED: $name: not installed"
fi

name=memcached
if [ "$(id -u)" -eq 0 ] && ! may_trace_all; then
	: # said above
elif command -v memcached >/dev/null; then
	port=$(free_port)
	memcached -u nobody -l 127.0.0.1 -p "$port" -U 0 -t 4 >/dev/null 2>&1 &
	pids="$pids $!"
	check memcached "$port" $!
else
	echo "SKIPPED: $name: not installed"
fi

name=redis
if command -v redis-server >/dev/null; then
	port=$(free_port)
	redis-server --port "$port" --bind 127.0.0.1 --save '' \
		--dir "$work" >/dev/null 2>&1 &
	pids="$pids $!"
	await answers "$port"
	"$command" -p $! >"$work/report" 2>&1
	status=$?
	# jemalloc of other releases than 5.2.1, 5.3.0, 5.3.1 is refused.
	if grep -q jemalloc "/proc/$!/maps" && [ $status -ne 0 ]; then
		if [ $status -ne 3 ] || ! grep -q jemalloc "$work/report"; then
			fail "jemalloc was not named: $(cat "$work/report")"
		fi
	elif [ $status -ne 0 ]; then
		fail "exit status $status: $(cat "$work/report")"
	fi
else
	echo "SKIPPED: $name: not installed"
fi

[ "$failures" -eq 0 ]
