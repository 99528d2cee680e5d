"""Keep a server busy with four clients, and count requests that fail.

Usage: server_load.py http|memcached PORT

It ends when its standard input does, after LEAST requests of each client.
"""

import socket
import sys
import threading
import urllib.request

CLIENTS = 4
LEAST = 100


def http(port, client, number):
    url = "http://127.0.0.1:%d/" % port
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.status == 200 and len(answer.read()) > 0


connections = {}


def memcached(port, client, number):
    if client not in connections:
        connection = socket.create_connection(("127.0.0.1", port), 30)
        connections[client] = connection.makefile("rwb")
    stream = connections[client]
    key = b"key%d_%d" % (client, number % 500)
    value = b"x" * (number * 37 % 2000)
    stream.write(b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value))
    stream.write(b"get %s\r\n" % key)
    stream.flush()
    lines = [stream.readline() for _ in range(4)]
    return lines == [
        b"STORED\r\n",
        b"VALUE %s 0 %d\r\n" % (key, len(value)),
        value + b"\r\n",
        b"END\r\n",
    ]


def main():
    request = {"http": http, "memcached": memcached}[sys.argv[1]]
    port, over = int(sys.argv[2]), threading.Event()
    counts = {True: 0, False: 0}
    lock = threading.Lock()

    def run(client):
        number = 0
        while number < LEAST or not over.is_set():
            number += 1
            try:
                served = request(port, client, number)
            except OSError as error:
                print(error)
                served = False
            with lock:
                counts[served] += 1

    threads = [
        threading.Thread(target=run, args=(i,)) for i in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    over.set()
    for thread in threads:
        thread.join()
    print("%d requests served, %d failed" % (counts[True], counts[False]))
    sys.exit(0 if counts[True] > 0 and counts[False] == 0 else 1)


main()
