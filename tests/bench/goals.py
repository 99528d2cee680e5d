"""What was measured, as rows beside their goals."""

from results import LSAN, SHAPES, Results, power, short

MS_A_THREAD = 0.025
PASS_GOALS = {"graph": {1e5: 4, 1e6: 8, 1e7: 13},
              "list": {1e5: 3, 1e6: 3, 1e7: 3},
              "shuffled": {1e5: 4, 1e6: 6, 1e7: 6},
              "wide": {1e5: 4, 1e6: 4, 1e7: 4},
              "tree": {1e5: 4, 1e6: 7, 1e7: 6}}
SMALL_GOAL = 3  # fewer blocks
CPU_GOAL = 0.6  # of LSan's
EDGES = (2, 4, 8, 16)
RECORDERS = ("plain", "recorder, no stacks", "recorder, stacks",
             "recorder, sampled", "lsan-clang", "lsan-gcc", "heaptrack",
             "gperftools", "leaktracer")


class Row:
    """GOAL: in words, "" if none; MET: None if there is none to be met."""

    def __init__(self, subject, measured, goal="", met=None):
        self.subject, self.measured = subject, measured
        self.goal, self.met = goal, met


def at_least(subject, value, goal, words=""):
    if value is None:
        return []
    return [Row(subject, "%s×%s" % (short(value), words), "≥ %g" % goal,
                value >= goal)]


def at_most(subject, value, goal, unit, words=""):
    if value is None:
        return []
    return [Row(subject, "%s %s%s" % (short(value), unit, words),
                "≤ %s %s" % (short(goal), unit), value <= goal)]


def passes(results):
    rows = []
    for blocks in results.blocks_of("pass"):
        for shape in SHAPES:
            ours = results.get("pass", "ours", shape, blocks)
            goal = PASS_GOALS[shape].get(
                blocks, SMALL_GOAL if blocks < 1e5 else None)
            ratio = results.ratio(results.lsan("pass", shape, blocks), ours)
            subject = "whole pass, LSan / ours, %s %s" % (shape, power(blocks))
            if goal is not None:
                rows += at_least(subject, ratio, goal)
            elif ratio is not None:
                rows.append(Row(subject, "%s×" % short(ratio)))
            cpu = results.get("pass.cpu", "ours", shape, blocks)
            share = results.ratio(cpu, results.lsan("pass.cpu", shape, blocks))
            if share is not None:
                rows += at_most("CPU time of a pass, ours / LSan, %s %s" % (
                    shape, power(blocks)), share, CPU_GOAL, "×")
    return rows + [row for blocks in results.blocks_of("pass")
                   for row in memory_speed(results, blocks)]


def memory_speed(results, blocks):
    """Five lines a block in random order, and one look at every byte."""
    line = results.get("limit.independent_ns", "machine", "buffer", blocks)
    speed = results.get("limit.sequential_gbs", "machine", "buffer", blocks)
    ours = results.get("pass", "ours", "graph", blocks)
    size = results.get("pass.bytes", "ours", "graph", blocks)
    if None in (line, speed, ours, size):
        return []
    least = (5 * line * blocks + size / speed) / 1e6
    return at_most("whole pass, graph %s: as a multiple of five independent "
                   "line reads a block and one sequential read (%s ms)" %
                   (power(blocks), short(least)), ours / least, 3, "×")


def pauses(results):
    rows = []
    for blocks in results.blocks_of("pause"):
        for threads in results.threads_of("pause", blocks):
            fork = results.get("pause", "fork", "graph", blocks, threads)
            if fork is None:
                continue
            goal = 1.3 * fork + MS_A_THREAD * threads
            where = "graph %s, %d idle threads" % (power(blocks), threads)
            beside = ", fork() %s ms" % short(fork)
            rows += at_most("pause_ns, " + where, results.get(
                "pause", "ours", "graph", blocks, threads), goal, "ms", beside)
            rows += at_most("longest gap of a thread, " + where, results.get(
                "gap", "ours", "graph", blocks, threads), goal, "ms",
                ", with no check at all %s ms" % short(results.get(
                    "gap", "nothing", "graph", blocks, threads)))
    for blocks, goal in ((1e6, 30), (1e7, 100)):
        rows += at_least(
            "longest gap, LSan / ours, graph " + power(blocks),
            results.ratio(results.lsan("gap", "graph", blocks),
                          results.get("gap", blocks=blocks)), goal)
    return rows


def writes(results):
    rows = []
    for command, words in (
            ("write", "writes to random pages"),
            ("hot", "writes, nine of ten to one page in 50"),
            ("copy", "writes to random pages beside a plain fork()")):
        for blocks in results.blocks_of(command + ".factor"):
            def get(key):
                return results.get(command + key, blocks=blocks)

            rows.append(Row(
                "slow-down while the copy lives, graph %s: %s" %
                (power(blocks), words),
                "%s× (%s to %s writes/ms), for %s ms; the %s took %s ms" % (
                    short(get(".factor")), short(get(".before")),
                    short(get(".during")), short(get(".slow")),
                    "fork()" if command == "copy" else "pass",
                    short(get(".took")))))
    return rows


def memory(results):
    rows = []
    for blocks in results.blocks_of("memory"):
        for shape in results.shapes_of("memory"):
            tables = results.get("memory.tables", "ours", shape, blocks)
            span = results.get("memory.span", "ours", shape, blocks)
            if tables is None:
                continue
            row = at_most(
                "the sweeper's memory, of the heap's span, %s %s" %
                (shape, power(blocks)), 100 * tables / span, 12, "%",
                " (%s KiB)" % short(tables))
            if "all lost" in shape:  # the report itself is as large
                row[0].goal, row[0].met = "", None
            rows += row
    return rows


def phases(results, what, shape, blocks, threads=0):
    found = []
    for phase in ("pause", "walk", "mark", "fold"):
        value = results.get("%s.%s" % (what, phase), "ours", shape, blocks,
                            threads)
        if value is not None:
            found.append("%s %s" % (phase, short(value)))
    return ", ".join(found)


def growth(results):
    rows = []
    reference = results.get("blocks", blocks=1e7)
    for blocks in results.blocks_of("blocks"):
        took = results.get("blocks", blocks=blocks)
        row = Row("graph of %s blocks, ns a block" % power(blocks),
                  "%s (%s ms: %s)" % (short(took * 1e6 / blocks), short(took),
                                      phases(results, "blocks", "graph",
                                             blocks)))
        if blocks > 1e7 and reference:
            row.goal = "≤ 1.3 × that of 10^7"
            row.met = took / blocks <= 1.3 * reference / 1e7
        rows.append(row)
    return rows + edges(results) + leaks(results) + crowds(results)


def edges(results):
    rows, last = [], None
    for count in EDGES:
        for blocks in results.blocks_of("edges"):
            shape = "graph, %d edges" % count
            took = results.get("edges.mark", "ours", shape, blocks)
            if took is None:
                continue
            row = Row("marking, %s %s" % (shape, power(blocks)),
                      "%s ms" % short(took))
            if last is not None:
                row.goal = "≤ 2 × that of half as many"
                row.met = took <= 2 * last
            last = took
            rows.append(row)
    return rows


def leaks(results):
    rows = []
    for shape in ("shuffled", "cycle", "graph"):
        for blocks in results.blocks_of("leaks"):
            fold = results.get("leaks.fold", "ours", shape + ", all lost",
                               blocks)
            mark = results.get("leaks.mark", "ours", shape, blocks)
            if fold and mark:
                rows += at_most(
                    "folding a lost %s of %s blocks" %
                    ({"shuffled": "chain", "graph": "random graph"}.get(
                        shape, shape), power(blocks)), fold, mark, "ms",
                    ", marking the same %s ms" % short(mark))
    return rows


def crowds(results):
    """Threads, mappings, free lists."""
    rows = []
    for blocks in results.blocks_of("threads"):
        for threads in results.threads_of("threads", blocks):
            rows.append(Row(
                "%d idle threads, graph %s: pass, pause" %
                (threads, power(blocks)), "%s ms, %s ms" % (
                    short(results.get("threads", "ours", "graph", blocks,
                                      threads)),
                    short(results.get("threads.pause", "ours", "graph",
                                      blocks, threads)))))
    for shape in results.shapes_of("mappings"):
        for blocks in results.blocks_of("mappings"):
            rows.append(Row(
                "%s more, %s: pass, pause" % (shape.split(", ")[1],
                                              power(blocks)),
                "%s ms, %s ms" % (
                    short(results.get("mappings", "ours", shape, blocks)),
                    short(results.get("mappings.pause", "ours", shape,
                                      blocks)))))
    for blocks in results.blocks_of("freed"):
        full = results.get("freed.walk", "ours", "list, full", blocks)
        for shape in results.shapes_of("freed"):
            walk = results.get("freed.walk", "ours", shape, blocks)
            if walk and full and "full" not in shape:
                rows += at_most(
                    "walk of a heap of %s blocks, %s; full %s ms" %
                    (power(blocks), shape.split(", ")[1], short(full)),
                    walk, 2 * full, "ms")
    return rows


def workers(results):
    rows = []
    for shape in SHAPES:
        for blocks in results.blocks_of("workers1"):
            one, two = (results.get("workers%d" % n, "ours", shape, blocks)
                        for n in (1, 2))
            if not one or not two:
                continue
            rows.append(Row(
                "2 workers for 1, %s %s" % (shape, power(blocks)),
                "%s× (%s to %s ms; with 1: %s; with 2: %s)" % (
                    short(one / two), short(one), short(two),
                    phases(results, "workers1", shape, blocks),
                    phases(results, "workers2", shape, blocks))))
            same = results.get("workers.same", "ours", shape, blocks)
            rows.append(Row("the same report, to the bit, %s %s" %
                            (shape, power(blocks)), "yes" if same else "no",
                            "yes", bool(same)))
    return rows


def idle(results):
    rows = []
    for name in ("median", "least"):
        value = results.get("idle." + name, "ours", "malloc and free", 0)
        if value is not None:
            rows.append(Row("malloc and free with the library idle, %s" % name,
                            "%.4f×" % value, "1.00 ± 0.01",
                            abs(value - 1) <= 0.01))
    return rows


def recorder(results):
    return pairs(results) + programs(results)


def pairs(results):
    rows = []
    for threads in (1, 2):
        def get(peer):
            return results.quick("pairs", peer, "depth 10", threads)

        plain = get("plain")
        if plain is None:
            continue
        lsan = min((v for v in map(get, LSAN) if v), default=None)
        where = "malloc and free at depth 10, %d thread%s: " % (
            threads, "s" if threads > 1 else "")
        rows.append(Row(where + "ns a pair", ", ".join(
            "%s %s" % (peer, short(get(peer))) for peer in RECORDERS
            if get(peer) is not None)))
        rows += factor(where + "stacks, overhead as a share of LSan's",
                       get("recorder, stacks"), lsan, plain, 0.8)
        rows += factor(where + "stacks, overhead as a share of heaptrack's",
                       get("recorder, stacks"), get("heaptrack"), plain, 0.1)
        for peer, goal in (("recorder, no stacks", 2),
                           ("recorder, sampled", 1.05)):
            if get(peer) is not None:
                rows += at_most(where + peer + ", over plain malloc",
                                get(peer) / plain, goal, "×")
    return rows


def factor(subject, ours, theirs, plain, goal):
    if ours is None or theirs is None or theirs <= plain:
        return []
    return at_most(subject, (ours - plain) / (theirs - plain), goal, "×")


def programs(results):
    rows = []
    for program in ("python3", "sqlite3"):
        for what, word, goal in (("program", "CPU time", 1.1),
                                 ("program.rss", "memory", 1.3)):
            plain = results.quick(what, "plain", program)
            for peer in RECORDERS[1:]:
                value = results.quick(what, peer, program)
                if plain is None or value is None:
                    continue
                row = at_most("%s under %s, %s over plain" % (
                    program, peer, word), value / plain, goal, "×")
                if not peer.startswith("recorder"):
                    row[0].goal, row[0].met = "", None
                rows += row
    return rows


def limits(results):
    rows = []
    for blocks in results.blocks_of("limit.independent_ns"):
        def get(key):
            return results.get("limit." + key, "machine", "buffer",
                               blocks)
        rows.append(Row(
            "the machine, a buffer as large as a heap of %s blocks" %
            power(blocks),
            "in order %s GB/s, by two threads %s; a line in random order %s "
            "ns, where it says which is next %s ns; fork() %s ms, then the "
            "first read of a page in the child %s ns" % (
                short(get("sequential_gbs")), short(get("sequential2_gbs")),
                short(get("independent_ns")), short(get("dependent_ns")),
                short(get("fork_ms")), short(get("copied_ns")))))
    return rows


def rows(records):
    results = Results(records)
    return [row for part in (limits, passes, pauses, writes, memory, growth,
                             workers, idle, recorder) for row in part(results)]
