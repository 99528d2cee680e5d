/*
 * The text of --help and --version. man/memunreachable.1 has more; a unit test
 * compares both with the table of options.
 */
#include "lib/cli/options.h"

#include "lib/command/configured.h"

static const char usage[] =
    "Usage: memunreachable [OPTION]... -p PID\n"
    "       memunreachable [OPTION]... --core FILE [--exe"
    " FILE] [--sysroot DIR]\n"
    "       memunreachable [OPTION]... -- COMMAND [ARG]...\n"
    "       memunreachable --doctor [PID]\n"
    "       memunreachable --heap-dump FILE [--symbols DIR] [--html OUT]\n"
    "       memunreachable --diff A B [--symbols DIR]\n"
    "       memunreachable --leaktracer FILE [--symbols DIR] [--exe FILE]\n"
    "       memunreachable --symbolize [FILE] [--symbols DIR]\n"
    "Find malloc blocks that nothing points to any more: in"
    " a running process, in a\n"
    "core file, or at the end of a command. Or show what recorders wrote.\n"
    "\n";

static const char subjects[] =
    "What to look at:\n"
    "  -p, --pid=PID          a process, as it is, without"
    " preparation\n"
    "      --core=FILE        a core file; may be"
    " compressed\n"
    "      --exe=FILE         the program that left the"
    " core, or leaks.out\n"
    "      --sysroot=DIR      where the files are that it"
    " had mapped\n"
    "      -- COMMAND [ARG]   run this, and report at its"
    " end\n"
    "      --doctor[=PID]     what would prevent a check, and"
    " what helps\n"
    "\n";

static const char recorded[] =
    "What recorders of allocations wrote:\n"
    "      --heap-dump=FILE   a heap dump of malloc_debug: the tree of"
    " callers\n"
    "      --diff A B         two of them: what grew, what shrank\n"
    "      --leaktracer=FILE  a leaks.out of LeakTracer: its stacks, with"
    " names\n"
    "      --symbolize[=FILE] a log, or standard input: copy it, and add"
    " files and\n"
    "                         lines to the stacks in it\n"
    "      --symbols=DIR      look for their files below DIR, then where"
    " they were\n"
    "      --html=OUT         write a heap dump as a page, too (- for"
    " nothing else)\n"
    "\n";

static const char ways[] =
    "How to look:\n"
    "      --stop=HOW         auto, fork (look at a copy) or"
    " read (while it is\n"
    "                         stopped)\n"
    "      --timeout=TIME     give up after this: 30, 30s or"
    " 500ms (default 30s,\n"
    "                         and four times --max-pause at least)\n"
    "      --max-pause=TIME   the longest stop of a process: 2s or"
    " 500ms (default\n"
    "                         200ms)\n"
    "      --max-memory=SIZE  for tables: 512k, 64m, 2g, or"
    " none (default: half of\n"
    "                         what is available)\n"
    "      --workers=N        threads that search (default"
    " 0: one a CPU)\n"
    "      --confirm          look twice, and report what both looks find\n"
    "      --use-unaligned    pointers at every byte count\n"
    "      --pointer-mask=M   the bits of a pointer that are its address\n"
    "      --use-globals=0, --use-stacks=0, --use-registers=0,"
    " --use-tls=0,\n"
    "      --use-root-regions=0\n"
    "                         these do not count\n"
    "\n";

static const char commands[] =
    "With a COMMAND:\n"
    "      --signal=SIG       report also when this signal"
    " arrives: USR2, RTMIN+5\n"
    "      --children         report also for the processes"
    " that it starts\n"
    "      --unchecked=WHAT   not checked is: fail (end with 3) or ok"
    " (default fail)\n"
    "      --backtrace[=FRAMES]\n"
    "                         record stacks of 16 frames, or so"
    " many: who allocated\n"
    "      --backtrace-size=N, --backtrace-size=MIN-MAX\n"
    "                         only of blocks that were asked for"
    " with such sizes\n"
    "\n";

static const char reports[] =
    "What to report:\n"
    "      --limit=N          entries at most (default 100);"
    " totals count all\n"
    "      --contents         show the first bytes of each"
    " block; may be secrets\n"
    "      --format=FORMAT    text or json (default text)\n"
    "  -o, --output=FILE      write to FILE, with mode 0600\n"
    "  -q, --quiet            show no progress\n"
    "      --color=WHEN       auto, always or never (default"
    " auto)\n"
    "\n";

static const char others[] = "  -h, --help             this\n"
			     "  -V, --version          the version\n"
			     "\n";

static const char statuses[] =
    "Exit status: 0 no leaks, 23 leaks, 2 bad usage, 3 could"
    " not check, 4 partial\n"
    "answer. With a COMMAND: 23, or its own unless that is 0. A heap dump has"
    " no 23.\n";

void
mu_cli_help(FILE *out)
{
	fputs(usage, out);
	fputs(subjects, out);
	fputs(recorded, out);
	fputs(ways, out);
	fputs(commands, out);
	fputs(reports, out);
	fputs(others, out);
	fputs(statuses, out);
}

void
mu_cli_version(FILE *out)
{
	fprintf(out, "memunreachable %s\n", mu_configured_version);
}
