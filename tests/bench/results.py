"""What was measured, as medians or quartiles, and how figures are written."""

SHAPES = ["graph", "list", "shuffled", "wide", "tree"]
LSAN = ("lsan-clang", "lsan-gcc")


def median(values):
    values = sorted(values)
    half = len(values) // 2
    return (values[half] if len(values) % 2
            else (values[half - 1] + values[half]) / 2)


def power(blocks):
    """10^6, 5*10^7"""
    digits = "%d" % blocks
    zeros = len(digits) - len(digits.rstrip("0"))
    front = digits[:len(digits) - zeros]
    return ("" if front == "1" else front + "·") + "10^%d" % zeros


def short(value):
    if value is None:
        return "–"
    if value >= 100:
        return "%.0f" % value
    return "%.1f" % value if value >= 10 else "%.2f" % value


class Results:
    """Medians by what, peer, shape, blocks and threads."""

    def __init__(self, records):
        self.values = {}
        for _, what, peer, shape, blocks, threads, value, _ in records:
            key = (what, peer, shape, blocks, threads)
            self.values.setdefault(key, []).append(value)

    def get(self, what, peer="ours", shape="graph", blocks=1e6, threads=0):
        found = self.values.get((what, peer, shape, int(blocks), threads))
        return median(found) if found else None

    def quick(self, what, peer, shape, threads=0):
        """The lower quartile: others on the machine can only add."""
        found = sorted(self.values.get((what, peer, shape, 0, threads), []))
        return found[len(found) // 4] if found else None

    def ratio(self, above, below):
        return above / below if above and below else None

    def lsan(self, what, shape, blocks, threads=0):
        """The faster of the two."""
        both = [self.get(what, p, shape, blocks, threads) for p in LSAN]
        return min((v for v in both if v), default=None)

    def blocks_of(self, what):
        return sorted({k[3] for k in self.values if k[0] == what})

    def threads_of(self, what, blocks):
        return sorted({k[4] for k in self.values
                       if k[0] == what and k[3] == blocks})

    def shapes_of(self, what):
        found = []
        for key in self.values:
            if key[0] == what and key[2] not in found:
                found.append(key[2])
        return found
