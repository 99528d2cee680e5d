"""Writes what was measured: raw data, a table, a chart."""

import csv
import os
import time

import chart
import goals
import peers
import results as figures

BEGIN = "<!-- bench: begin; what follows is written by make bench -->"
END = "<!-- bench: end -->"


def write_raw(path, bench, described):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="") as out:
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["date", "what", "peer", "shape", "blocks", "threads",
                        "value", "unit", "machine"])
        for record in bench.records:
            record = list(record)
            record[6] = "%.6g" % record[6]
            lines.writerow(record + [described])


def pass_table(records, what, title):
    """Medians, one line a heap and one column a peer."""
    results = figures.Results(records)
    names = [n for n in peers.NAMES if any(k[0] == what and k[1] == n
                                           for k in results.values)]
    if not names:
        return []
    lines = [title, "",
             "| heap | " + " | ".join(peers.NAMES[n] for n in names) + " |",
             "|---|" + "---|" * len(names)]
    for blocks in results.blocks_of(what):
        for shape in figures.SHAPES:
            values = [results.get(what, n, shape, blocks) for n in names]
            if any(values):
                lines.append("| %s %s | %s |" % (
                    shape, figures.power(blocks),
                    " | ".join(map(figures.short, values))))
    return lines + [""]


def goal_table(rows):
    lines = ["| | measured | goal | met |", "|---|---|---|---|"]
    for row in rows:
        met = {None: "", True: "yes", False: "**no**"}[row.met]
        lines.append("| %s | %s | %s | %s |" % (row.subject, row.measured,
                                                row.goal, met))
    return lines


def explain_table(records):
    """CPU time, and memory of the largest process."""
    measured = figures.Results(records)
    shapes = measured.shapes_of("explain.check")
    if not shapes:
        return []
    lines = ["Explaining, CPU time in ms, and MiB of the largest process:", ""]
    for shape in shapes:
        ways = ["check"] + sorted({
            what.split(".")[1] for _, what, _, of, *_ in records
            if what.startswith("explain.") and of == shape} - {"check"})
        lines += ["| blocks, %s | %s |" % (shape, " | ".join(ways)),
                  "|---" * (len(ways) + 1) + "|"]
        for blocks in measured.blocks_of("explain.check"):
            cells = []
            for way in ways:
                took = measured.get("explain." + way, "ours", shape, blocks)
                used = measured.get("explain." + way + ".memory", "ours",
                                    shape, blocks)
                cells.append("–" if took is None else "%s (%s)" % (
                    figures.short(took), figures.short(used / 1024)))
            lines.append("| %s | %s |" % (
                figures.power(blocks), " | ".join(cells)))
        lines.append("")
    return lines


def put_between(path, text):
    with open(path) as page:
        before, _, rest = page.read().partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit("bench: no markers in %s" % path)
    with open(path, "w") as page:
        page.write(before + BEGIN + "\n\n" + text + "\n" + END + after)


def write(bench):
    if not bench.records:
        print("bench: nothing was measured")
        return 1
    described = bench.described
    rows = goals.rows(bench.records)
    checked = [row for row in rows if row.met is not None]
    told = "%d of %d goals met" % (sum(row.met for row in checked), len(checked))
    folder = os.path.join(bench.build, "bench")
    raw = os.path.join(folder, bench.name + ".csv")
    write_raw(raw, bench, described)
    drawn = chart.draw(bench.records, os.path.join(
        os.path.join(peers.HERE, "results") if bench.whole else folder,
        bench.name + ".svg"))
    lines = ["%s; %s; %.0f minutes; medians of %d or more; %s." % (
        time.strftime("%Y-%m-%d"), described, bench.took / 60, bench.rounds,
        told), ""]
    lines += ["%s." % warning for warning in bench.warnings]
    lines += [""] if bench.warnings else []
    lines += pass_table(bench.records, "pass", "Whole pass, ms:")
    lines += pass_table(bench.records, "pass.cpu",
                        "CPU time of the same, ms, of all threads:")
    lines += explain_table(bench.records)
    lines += goal_table(rows)
    if bench.whole:
        lines[2:2] = ["![whole pass and pause](results/%s.svg)" % bench.name,
                      ""] if drawn else []
        put_between(os.path.join(peers.HERE, "README.md"),
                    "\n".join(lines) + "\n")
    else:
        print("\n".join(lines))
    print("bench: %s; raw data in %s" % (told, os.path.relpath(raw)))
    return 0
