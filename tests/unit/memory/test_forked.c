/* How much of a process a fork copies, by its smaps. */
#include "heapwalk/memory/forked.h"
#include "tests/support/suite.h"

#define AREA "7f00a000-7f00c000 rw-p 00000000 00:00 0 \n"
#define KIB 1024u

static struct mu_forked
parse(const char *text)
{
	struct mu_forked forked = { 0 };

	mu_forked_parse(&forked, text, strlen(text));
	return forked;
}

TEST(sums)
{
	struct mu_forked forked = parse(
	    AREA "Anonymous:          1000 kB\nAnonHugePages:       400 kB\n"
		 "Swap:                 50 kB\nSwapPss:   7 kB\n"
		 "VmFlags: rd wr mr mw me ac sd \n" AREA
		 "Anonymous:  30 kB\nVmFlags: rd wr mr mw me dc ac sd \n" AREA
		 "Anonymous:   5 kB\nVmFlags: rd wf\n");

	ck_assert_uint_eq(forked.small, 655 * KIB);
	ck_assert_uint_eq(forked.huge, 400 * KIB);
	ck_assert_uint_eq(forked.dontfork, 30 * KIB);
}

TEST(pool)
{
	ck_assert(parse("VmFlags: rd wr mr mw me de ht sd \n").pooled);
	ck_assert(!parse("VmFlags: rd wr mr mw me dc ht sd \n").pooled);
	ck_assert(!parse("VmFlags: rd wr sh mr mw me ms de ht sd \n").pooled);
	ck_assert(!parse("VmFlags: rd wr mr mw me ac hg sd \n").pooled);
}

/* vDSO states of glibc 2.41 are droppable. */
TEST(wiped)
{
	ck_assert(parse("VmFlags: rd wr mr mw me ac wf sd \n").wiped);
	ck_assert(!parse("VmFlags: rd wr mr mw me ac wf dp \n").wiped);
	ck_assert(!parse("VmFlags: rd wr mr mw me dc \n").wiped);
}

TEST(watched)
{
	static const char *const flags[] = { "um", "uw", "ui" };
	char text[64];
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		snprintf(
		    text, sizeof(text), "VmFlags: rd wr %s ac\n", flags[i]);
		ck_assert(parse(text).watched);
	}
	ck_assert(!parse("VmFlags: rd wr mr mw me ac sd \n").watched);
	ck_assert(!parse("VmFlags: rd wr um").watched);
}

TEST(malformed)
{
	ck_assert_uint_eq(parse("Anonymous: 4 kB\nVmFlags: dc").dontfork, 0);
	ck_assert_uint_eq(parse("Anonymous:\nVmFlags: dc\n").dontfork, 0);
	ck_assert_uint_eq(parse("Anonymous: x\nVmFlags:\n").small, 0);
	ck_assert_uint_eq(
	    parse("AnonHugePages: 9 kB\nAnonymous: 4 kB\nVmFlags: rd\n").huge,
	    4 * KIB);
	ck_assert_uint_eq(parse("").small, 0);
}

/* Of private memory; what is swapped out is there. */
TEST(missing)
{
	ck_assert(parse("Size: 12 kB\nRss: 4 kB\nSwap: 4 kB\nVmFlags: rd um\n")
		      .missing);
	ck_assert(!parse("Size: 8 kB\nRss: 4 kB\nSwap: 4 kB\nVmFlags: rd um\n")
		       .missing);
	ck_assert(!parse("Size: 8 kB\nRss: 4 kB\nVmFlags: rd uw\n").missing);
	ck_assert(!parse("Size: 8 kB\nRss: 4 kB\nVmFlags: sh um\n").missing);
	ck_assert(!parse("Size: 8 kB\nVmFlags: rd\n"
			 "Size: 4 kB\nRss: 4 kB\nVmFlags: um\n")
		       .missing);
}

/* In private mappings of which the process has changed a page. */
TEST(pages_of_files)
{
	const char *const some = "Rss: 900 kB\nAnonymous: 100 kB\nVmFlags: rd ";
	char text[96];

	snprintf(text, sizeof(text), "%s\n", some);
	ck_assert_uint_eq(parse(text).files, 800 * KIB);
	ck_assert_uint_eq(parse(text).small, 100 * KIB);
	snprintf(text, sizeof(text), "%ssh \n", some);
	ck_assert_uint_eq(parse(text).files, 0);
	snprintf(text, sizeof(text), "%sdc \n", some);
	ck_assert_uint_eq(parse(text).files, 0);
	ck_assert_uint_eq(
	    parse("Rss: 900 kB\nAnonymous: 0 kB\nVmFlags: rd\n").files, 0);
	ck_assert_uint_eq(
	    parse("Rss: 900 kB\nSwap: 4 kB\nVmFlags: rd\n").files, 900 * KIB);
}

TEST(this_process)
{
	struct mu_forked before, after;
	size_t size = (size_t)8 << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(memory, 1, size);
	ck_assert(mu_forked_find(&before, getpid()));
	ck_assert_uint_ge(before.small + before.huge, size);
	ck_assert_int_eq(madvise(memory, size, MADV_DONTFORK), 0);
	ck_assert(mu_forked_find(&after, getpid()));
	ck_assert_uint_eq(after.dontfork, before.dontfork + size);
	after.small = 1;
	ck_assert(!mu_forked_find(&after, -1));
	ck_assert_uint_eq(after.small, 1);
}
