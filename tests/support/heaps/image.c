#include "tests/support/heaps/image.h"

struct image image;

void
image_setup(void)
{
	memset(&image, 0, sizeof(image));
	image.pages.pagemap = -1;
	image.page = (size_t)sysconf(_SC_PAGESIZE);
	mu_arena_open(&image.arena, (size_t)1 << 30);
}

void
image_open(struct mu_snapshot *snap)
{
	ck_assert_int_eq(mu_mappings_read(getpid(), &snap->mappings,
			     &snap->num_mappings, &image.arena, NULL),
	    MU_OK);
	mu_memory_self_open(
	    &snap->memory, &image.self, snap->mappings, snap->num_mappings);
	ck_assert_uint_eq(snap->memory.page_size, image.page);
}

void
image_teardown(void)
{
	struct mu_memory memory = { .ctx = &image.self };

	close_self(&memory);
	mu_arena_close(&image.arena);
}

bool
ranges_in_order(const struct mu_ranges *set)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		if (set->items[i].begin >= set->items[i].end)
			return false;
		if (i > 0 && set->items[i].begin <= set->items[i - 1].end)
			return false;
	}
	return set->count <= set->max;
}

void
image_ask(struct mu_snapshot *snap, const char *at, size_t pages,
    unsigned char *populated)
{
	uintptr_t begin = (uintptr_t)at, i;
	struct mu_range rest = { begin, begin + pages * image.page }, part;

	memset(populated, 0, pages);
	while (rest.begin < rest.end &&
	    snap->memory.ops->populated(&snap->memory, rest, &part)) {
		ck_assert_uint_ge(part.begin, rest.begin);
		ck_assert_uint_gt(part.end, part.begin);
		ck_assert_uint_le(part.end, rest.end);
		for (i = part.begin; i < part.end; i += image.page)
			populated[(i - begin) / image.page] = 1;
		rest.begin = part.end;
	}
}

char *
map_pages(size_t pages, int flags, int fd)
{
	char *at = mmap(
	    NULL, pages * image.page, PROT_READ | PROT_WRITE, flags, fd, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

char *
map_untouched(size_t pages)
{
	return map_pages(
	    pages, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

char *
map_filled(size_t pages)
{
	char *at = map_untouched(pages);

	memset(at, 'x', pages * image.page);
	return at;
}

int
file_of_pages(const char *directory, size_t pages)
{
	char name[64], contents[4096];
	size_t left;
	int fd;

	snprintf(name, sizeof(name), "%s/mu_test.XXXXXX", directory);
	fd = mkstemp(name);
	if (fd < 0)
		return fd;
	unlink(name);
	memset(contents, 'f', sizeof(contents));
	for (left = pages * image.page; left > 0; left -= sizeof(contents))
		ck_assert_int_eq(
		    write(fd, contents, sizeof(contents)), sizeof(contents));
	return fd;
}
