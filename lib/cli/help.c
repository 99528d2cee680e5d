/*
 * The text of --help and --version. man/memunreachable.1 has more; a unit test
 * compares both with the table of options.
 */
#include "lib/cli/options.h"

#include "lib/command/configured.h"

static const char usage[] =
    "Usage: memunreachable [OPTION]... [-p] PID, or -p NAME\n"
    "       memunreachable [OPTION]... --core FILE [--exe"
    " FILE] [--sysroot DIR]\n"
    "       memunreachable [OPTION]... [--] COMMAND [ARG]...\n"
    "       memunreachable [OPTION]... LOOK\n"
    "       memunreachable watch [OPTION]... {-p PID | -p NAME | --unit=NAME |\n"
    "                                         -- COMMAND}\n"
    "       memunreachable --doctor [PID]\n"
    "       memunreachable --heap-dump FILE [--symbols DIR] [--html OUT]\n"
    "       memunreachable --diff A B [--symbols DIR] [--html OUT]\n"
    "       memunreachable --leaktracer FILE [--symbols DIR] [--exe FILE]\n"
    "       memunreachable --symbolize [FILE] [--symbols DIR]\n"
    "Find malloc blocks that nothing points to any more: in"
    " a running process, in a\n"
    "core file, or at the end of a command. Or show what recorders wrote.\n"
    "\n";

static const char subjects[] =
    "What to check:\n"
    "  -p, --pid=PID          a process, as it is, without preparation; or"
    " its name\n"
    "      --core=FILE        a core file; may be"
    " compressed\n"
    "      --exe=FILE         the program that left the"
    " core, or leaks.out\n"
    "      --sysroot=DIR      where the files are that it"
    " had mapped\n"
    "      -- COMMAND [ARG]   run this, and report at its"
    " end\n"
    "      LOOK               a look that --save has written\n"
    "      --doctor[=PID]     what would prevent a check, and"
    " what helps\n"
    "\n";

static const char recorded[] =
    "Files that allocation recorders wrote:\n"
    "      --heap-dump=FILE   a heap dump of malloc_debug: the tree of"
    " callers\n"
    "      --diff A B         compare two heap dumps, saved looks or reports"
    " in JSON\n"
    "      --leaktracer=FILE  a leaks.out of LeakTracer: its stacks, with"
    " names\n"
    "      --symbolize[=FILE] copy a log, or standard input, and add files"
    " and lines\n"
    "                         to the stacks in it\n"
    "      --symbols=DIR      look for binaries and debug files below DIR"
    " first\n"
    "      --html=OUT         also write the heap dump, or the difference, as"
    " a page\n"
    "                         (-: only that)\n"
    "\n";

static const char ways[] =
    "How to check:\n"
    "      --stop=HOW         auto, fork (check a copy) or"
    " read (while the process\n"
    "                         is stopped)\n"
    "      --timeout=TIME     time limit: 30, 30s or 500ms"
    " (default 30s, but at\n"
    "                         least four times --max-pause)\n"
    "      --max-pause=TIME   how long the process may be stopped: 2s"
    " or 500ms\n"
    "                         (default 200ms)\n"
    "      --max-memory=SIZE  limit for tables: 512k, 64m, 2g"
    " or none (default: half\n"
    "                         of the available memory)\n"
    "      --workers=N        number of threads (default"
    " 0: one per CPU)\n"
    "      --confirm          check twice, and report what both checks find\n"
    "      --use-unaligned    look for pointers at every byte\n"
    "      --pointer-mask=M   the bits of a pointer that are its address\n"
    "      --use-globals=0, --use-stacks=0, --use-registers=0,"
    " --use-tls=0,\n"
    "      --use-root-regions=0\n"
    "                         ignore references in these places\n"
    "\n";

static const char commands[] =
    "With a COMMAND:\n"
    "      --signal=SIG       also report when this signal"
    " arrives: USR2, RTMIN+5\n"
    "      --children         also check the processes"
    " that it starts\n"
    "      --only-program=PATTERN\n"
    "                         check only programs of this name, of all it"
    " starts\n"
    "      --unchecked=WHAT   if it cannot be checked: fail (status 3) or"
    " ok\n"
    "                         (default fail)\n"
    "      --backtrace[=FRAMES]\n"
    "                         record allocation stacks (default"
    " 16 frames)\n"
    "      --backtrace-size=N, --backtrace-size=MIN-MAX\n"
    "                         record stacks only for blocks of these"
    " requested sizes\n"
    "\n";

static const char reports[] =
    "What to report:\n"
    "      --limit=N          show at most N groups or entries"
    " (default 100)\n"
    "      --by=WHAT          group entries by stack (by shape if none is"
    " known),\n"
    "                         shape, type or module, or list each block"
    " (default\n"
    "                         stack)\n"
    "      --contents         show the first bytes of each"
    " block; may be secrets\n"
    "      --retained[=N]     show the N largest holders of the heap"
    " (default 10)\n"
    "      --why=ADDR         show the path from a root to this block\n"
    "      --why=[N:]TYPE     the same for the N (default 3) blocks of"
    " this type\n"
    "                         that have the shortest paths; may be a pattern\n"
    "      --all              with --why: also every reference to it\n"
    "      --in-use           show what lives, by size, type and"
    " stack\n"
    "      --baseline=FILE    groups in this file are known, and do not fail\n"
    "      --write-baseline=FILE\n"
    "                         write such a file\n"
    "      --suppressions=FILE\n"
    "                         groups that match its patterns do not fail\n"
    "      --write-suppressions=FILE\n"
    "                         write such a file of what was lost\n"
    "      --only-module=PATTERN, --only-function=PATTERN\n"
    "                         nothing that was not allocated there\n"
    "      --since=FILE       only what was lost since this look, or report"
    " in JSON\n"
    "      --core-out=FILE    also write a core, compressed if it ends with"
    " .zst\n"
    "      --save=FILE        also save the look, to be shown later as LOOK\n"
    "      --format=FORMAT    text, json or html (default text), and for other"
    " tools\n"
    "                         sarif, junit, github, gitlab, folded, pprof,"
    " lsan,\n"
    "                         markdown\n"
    "      --report=FORMAT:FILE\n"
    "                         write one more report; may be repeated\n"
    "      --source-root=DIR  paths of sources in them are relative to it\n"
    "  -o, --output=FILE      write to FILE, with mode 0600\n"
    "  -q, --quiet            show no progress\n"
    "      --color=WHEN       auto, always or never (default"
    " auto)\n"
    "\n";

static const char watching[] =
    "Look again and again, and say what grows (watch):\n"
    "      --unit=NAME        the oldest process of this unit of systemd\n"
    "      --every=TIME       from look to look: 60s, 500ms, 5m, 1h"
    " (default 60s)\n"
    "      --count=N          so many looks (default: until it ends, or Ctrl-C)\n"
    "      --duration=TIME    for so long\n"
    "      --round=CMD        run CMD by a shell, tell what each round left"
    " behind\n"
    "      --rounds=N         so many rounds (default 5)\n"
    "      --csv=OUT          also write each look as a line of a table\n"
    "      --from=FILE        show the looks that --format=json has written, or"
    " the\n"
    "                         option looks_path of a program\n"
    "      --html=OUT         keep a page with curves and groups in this file\n"
    "      --prometheus=FILE  keep the latest look in this file, for a"
    " textfile\n"
    "                         collector\n"
    "      --stale=TIME       name what is in use and did not change for so long"
    "\n"
    "      --syslog           also send each look and the verdict to the journal"
    "\n"
    "\n";

static const char others[] =
    "  -h, --help[=all]       show the first, or all options\n"
    "  -V, --version          show the version\n"
    "\n";

static const char statuses[] =
    "Exit status: 0 no leaks, 23 leaks, 2 bad usage, 3 could not check, 4"
    " partial\n"
    "answer. With a COMMAND: 23 for leaks, else its own status unless that is"
    " 0.\n"
    "Heap dumps never give 23.\n";

/* What most need, on two screens of 24 lines. */
static const char first[] =
    "Usage: memunreachable [OPTION]... PID\n"
    "       memunreachable [OPTION]... PROGRAM [ARG]...\n"
    "       memunreachable [OPTION]... --core=FILE\n"
    "       memunreachable [OPTION]... LOOK\n"
    "       memunreachable watch [OPTION]... {PID | -p NAME | -- PROGRAM}\n"
    "Find malloc blocks that nothing points to any more: in a running process,"
    " at\n"
    "the end of a program, in a core file.\n"
    "\n"
    "  -p, --pid=PID, -p NAME a process, as it is, without preparation\n"
    "      -- PROGRAM [ARG]   run this, and report at its end\n"
    "      --backtrace        record who allocates, in PROGRAM\n"
    "      --children         also check the processes that PROGRAM starts\n"
    "      --only-program=PATTERN\n"
    "                         of these only programs of this name\n"
    "      --core=FILE        a core file; --exe=FILE is its program\n"
    "      --doctor[=PID]     what would prevent a check, and what helps\n"
    "\n"
    "      --retained         show the largest holders of the heap\n"
    "      --why=ADDR         show the path from a root to this block, or to"
    " those\n"
    "                         of a type: --why=TYPE\n"
    "      --in-use           show what lives, by size, type and stack\n"
    "      --limit=N          show at most N groups or entries (default 100)\n"
    "      --baseline=FILE    groups in this file are known, and do not fail\n"
    "      --save=FILE        also save the look, to be shown later as LOOK\n"
    "      --format=FORMAT    text, json, html, sarif, junit, github, gitlab,\n"
    "                         folded, pprof, lsan, markdown (default text)\n"
    "      --report=FORMAT:FILE\n"
    "                         write one more report; may be repeated\n"
    "  -o, --output=FILE      write to FILE, with mode 0600\n"
    "  -q, --quiet            show no progress\n"
    "  -h, --help[=all]       show this help, or all options\n"
    "  -V, --version          show the version\n"
    "\n"
    "Recorders: --heap-dump, --diff, --leaktracer, --symbolize.\n"
    "\n";

void
mu_cli_help(FILE *out, bool all)
{
	if (!all) {
		fputs(first, out);
		fputs(statuses, out);
		return;
	}
	fputs(usage, out);
	fputs(subjects, out);
	fputs(recorded, out);
	fputs(ways, out);
	fputs(commands, out);
	fputs(reports, out);
	fputs(watching, out);
	fputs(others, out);
	fputs(statuses, out);
}

void
mu_cli_version(FILE *out)
{
	fprintf(out, "memunreachable %s\n", mu_configured_version);
}
