/* The release of glibc, from its version string. */
#include <gnu/libc-version.h>

#include "heapwalk/heaps/glibc/banner.h"
#include "tests/support/heaps/self_snapshot.h"
#include "tests/support/suite.h"

static const struct {
	const char *text;
	bool found;
	unsigned major, minor;
} cases[] = {
	{ "GNU C Library (Debian GLIBC 2.36-9+deb12u10) stable release version"
	  " 2.36.\n",
	    true, 2, 36 },
	{ "GNU C Library (Ubuntu GLIBC 2.31-0ubuntu9.17) stable release"
	  " version 2.31.\n",
	    true, 2, 31 },
	{ "GNU C Library (GNU libc) development release version 2.42.9000.\n",
	    true, 2, 42 },
	{ "GNU C Library", false, 0, 0 },
	{ "GNU C Library stable release version ", false, 0, 0 },
	{ "GNU C Library stable release version 2", false, 0, 0 },
	{ "GNU C Library stable release version 2.", false, 0, 0 },
	{ "GNU C Library stable release version x.36", false, 0, 0 },
	{ "release version 2.36", false, 0, 0 },
	{ "GNU C Librar GNU C Library GNU C Library release version 2.40.",
	    true, 2, 40 },
	{ "GNU C Library release version 2.4", false, 0, 0 }, /* cut */
	{ "", false, 0, 0 },
};

TEST_LOOP(texts, 0, sizeof(cases) / sizeof(*cases))
{
	unsigned major = 0, minor = 0;
	bool found;

	found = mu_glibc_banner_parse(
	    cases[_i].text, strlen(cases[_i].text), &major, &minor);
	ck_assert_int_eq(found, cases[_i].found);
	if (!found)
		return;
	ck_assert_uint_eq(major, cases[_i].major);
	ck_assert_uint_eq(minor, cases[_i].minor);
}

/* The one that this program runs with. */
TEST(our_own)
{
	struct self_snapshot self;
	unsigned major = 0, minor = 0;
	char text[32];

	ck_assert_int_eq(self_snapshot_take(&self, NULL, 0), MU_OK);
	ck_assert(mu_glibc_banner_find(&self.snap, &major, &minor));
	snprintf(text, sizeof(text), "%u.%u", major, minor);
	ck_assert_str_eq(text, gnu_get_libc_version());
	mu_arena_close(&self.arena);
}

static const struct mu_memory_ops *real_ops;
static const struct mu_snapshot *viewed;
static size_t views_of_code;

static const void *
count_view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(viewed, address);

	views_of_code += mapping != NULL && mapping->executable;
	return real_ops->view(memory, address, size);
}

/* Read-only data is enough, unless a linker has put it among the code. */
TEST(code_is_left_alone)
{
	struct self_snapshot self;
	struct mu_memory_ops ops;
	unsigned major = 0, minor = 0;

	ck_assert_int_eq(self_snapshot_take(&self, NULL, 0), MU_OK);
	real_ops = self.snap.memory.ops;
	viewed = &self.snap;
	ops = *real_ops;
	ops.view = count_view;
	self.snap.memory.ops = &ops;
	ck_assert(mu_glibc_banner_find(&self.snap, &major, &minor));
	ck_assert_uint_eq(views_of_code, 0);
	mu_arena_close(&self.arena);
}
