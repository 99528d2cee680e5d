"""Has many elements, and more come while it is looked at."""
import select
import sys


class Session:
    def __init__(self, number):
        self.name = "session %d" % number


sessions = {i: Session(i) for i in range(200000)}
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.2)[0]:
    for _ in range(1000):
        sessions[len(sessions)] = Session(len(sessions))
