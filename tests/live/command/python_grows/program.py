"""Keeps ever more in some containers, and not in others."""
import collections
import functools
import sys

STEP = 200
FIRST = 1500


class Registry:
    instances = []

    def __init__(self):
        self.cache = {
            "users": {},
            "fixed": {i: "fixed %d" % i for i in range(3000)},
        }
        self.noise = []


class Slotted:
    __slots__ = ("items", "other")

    def __init__(self):
        self.items = []
        self.other = None


class Session:
    def __init__(self, number):
        self.name = "session %d" % number
        self.orders = [number, str(number)]


@functools.lru_cache(maxsize=None)
def lookup(number):
    return "looked up %0100d" % number


def counter():
    kept = []

    def add(number):
        kept.append("kept %0100d" % number)

    return add


sessions = {}
names = set()
events = collections.deque()
ring = collections.deque(maxlen=500)
sawtooth = {}
registry = Registry()
slotted = Slotted()
add = counter()
made = 0


def step(count):
    global made
    for _ in range(count):
        made += 1
        sessions["key %d" % made] = Session(made)
        registry.cache["users"][made] = "user %0100d" % made
        Registry.instances.append("instance %0100d" % made)
        names.add("name %0100d" % made)
        events.append("event %0100d" % made)
        lookup(made)
        slotted.items.append("slot %0100d" % made)
        add(made)
        ring.append("ring %d" % made)
        sawtooth[made] = "sawtooth %d" % made
        if len(sawtooth) > 1300:
            sawtooth.clear()
        registry.noise.append("noise %d" % made)
    del registry.noise[:]


step(FIRST)
print("ready", flush=True)
for _ in sys.stdin:
    step(STEP)
    print("done", flush=True)
