"""An SVG of the whole pass and of the pause, in colours that are readable on
white and on black."""

import math

import peers
import results as figures

INK = "#808080"
COLOURS = {
    "ours": "#1a9850",
    "lsan-clang": "#d95f02",
    "lsan-gcc": "#e6ab02",
    "hlc": "#7570b3",
    "valgrind": "#e7298a",
    "fork": "#1f9ecf",
}
WIDTH, HEIGHT = 430, 330
LEFT, TOP, RIGHT, BOTTOM = 64, 46, 14, 44


class Panel:
    """One plot with logarithmic axes, its corner at (X, 0)."""

    def __init__(self, x, title, xs, ys):
        self.x = x
        self.out = []
        self.x_span = [math.log10(min(xs)) - 0.15, math.log10(max(xs)) + 0.15]
        self.y_span = [math.floor(math.log10(min(ys))),
                       math.ceil(math.log10(max(ys)) + 1e-9)]
        self.text(x + LEFT, 20, title, weight="bold")
        for power in range(self.y_span[0], self.y_span[1] + 1):
            y = self.y_at(10 ** power)
            self.line(x + LEFT, y, x + WIDTH - RIGHT, y, 0.35)
            self.text(x + LEFT - 6, y + 4, milliseconds(10 ** power), "end")

    def x_at(self, value):
        low, high = self.x_span
        room = WIDTH - LEFT - RIGHT
        return self.x + LEFT + room * (math.log10(value) - low) / (high - low)

    def y_at(self, value):
        low, high = self.y_span
        room = HEIGHT - TOP - BOTTOM
        return HEIGHT - BOTTOM - room * (math.log10(value) - low) / (high -
                                                                     low)

    def text(self, x, y, words, anchor="start", colour=INK, weight="normal"):
        self.out.append(
            '<text x="%.1f" y="%.1f" fill="%s" text-anchor="%s" '
            'font-weight="%s">%s</text>' % (x, y, colour, anchor, weight,
                                            words))

    def line(self, x1, y1, x2, y2, opacity=1.0):
        self.out.append(
            '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" '
            'stroke-opacity="%g"/>' % (x1, y1, x2, y2, INK, opacity))

    def mark_x(self, blocks):
        x = self.x_at(blocks)
        digits = figures.power(blocks)
        front, _, exponent = digits.partition("^")
        self.out.append(
            '<text x="%.1f" y="%d" fill="%s" text-anchor="middle">%s<tspan '
            'dy="-5" font-size="9">%s</tspan></text>' % (
                x, HEIGHT - BOTTOM + 18, INK, front, exponent))

    def curve(self, name, points):
        colour = COLOURS[name]
        at = [(self.x_at(x), self.y_at(y)) for x, y in points]
        self.out.append(
            '<polyline points="%s" fill="none" stroke="%s" '
            'stroke-width="%g"/>' % (
                " ".join("%.1f,%.1f" % p for p in at), colour,
                3 if name == "ours" else 2))
        self.out += ['<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>' %
                     (x, y, colour) for x, y in at]


def milliseconds(value):
    if value >= 1000:
        return "%g s" % (value / 1000)
    return "%g ms" % value if value >= 1 else "%g µs" % (value * 1000)


def curves(results, what, shape="graph"):
    found = {}
    for name in COLOURS:
        # What fork() takes, not how long others notice it.
        meant = "pause" if name == "fork" else what
        points = [(b, results.get(meant, name, shape, b))
                  for b in results.blocks_of(what)]
        points = [(b, v) for b, v in points if v]
        if points:
            found[name] = points
    return found


def plot(x, title, lines):
    values = [p for points in lines.values() for p in points]
    panel = Panel(x, title, [p[0] for p in values], [p[1] for p in values])
    for blocks in sorted({p[0] for p in values}):
        panel.mark_x(blocks)
    panel.text(x + WIDTH - RIGHT, HEIGHT - 8, "blocks", "end")
    for name, points in lines.items():
        panel.curve(name, points)
    return panel.out


def legend(names):
    out, x = [], 16
    for name in names:
        words = dict(peers.NAMES, fork="fork()")[name]
        out.append('<circle cx="%d" cy="%d" r="5" fill="%s"/>' %
                   (x, HEIGHT + 14, COLOURS[name]))
        out.append('<text x="%d" y="%d" fill="%s">%s</text>' %
                   (x + 10, HEIGHT + 18, INK, words))
        x += 28 + int(6.2 * len(words))
    return out


def draw(records, path):
    """False if there is nothing to be drawn."""
    results = figures.Results(records)
    panels = [("Whole pass, shape graph", curves(results, "pass")),
              ("Longest gap of a running thread, and fork()",
               curves(results, "gap"))]
    panels = [(title, lines) for title, lines in panels if lines]
    if not panels:
        return False
    out, names = [], []
    for i, (title, lines) in enumerate(panels):
        out += plot(i * WIDTH, title, lines)
        names += [n for n in lines if n not in names]
    out += legend([n for n in COLOURS if n in names])
    width = max(WIDTH * len(panels), 860)
    with open(path, "w") as file:
        file.write(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
            'font-family="sans-serif" font-size="12">\n%s\n</svg>\n' %
            (width, HEIGHT + 30, "\n".join(out)))
    return True
