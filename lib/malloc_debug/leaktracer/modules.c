#include "lib/malloc_debug/leaktracer/modules.h"

#include <errno.h>
#include <limits.h>
#include <link.h>

#include "lib/malloc_debug/unwind/dump_modules.h"
#include "mu/text.h"

struct table {
	void (*line)(void *ctx, const char *text, size_t length);
	void *ctx;
};

static void
print(const struct table *table, const struct dl_phdr_info *object,
    const ElfW(Phdr) * segment, const char *path)
{
	char line[PATH_MAX + 128];
	unsigned long start = object->dlpi_addr + segment->p_vaddr;
	size_t length = mu_text_format(line, sizeof(line),
	    "# module %lx-%lx %lx %lx - %s\n", start,
	    (unsigned long)(start + segment->p_memsz),
	    (unsigned long)segment->p_offset, (unsigned long)object->dlpi_addr,
	    path);

	if (length < sizeof(line))
		table->line(table->ctx, line, length);
}

/* The program itself has an empty name in the list. */
static int
take_object(struct dl_phdr_info *object, size_t size, void *ctx)
{
	const char *path = object->dlpi_name;
	const ElfW(Phdr) * segment;
	size_t i;

	(void)size;
	if (path[0] == '\0')
		path = program_invocation_name;
	for (i = 0; i < object->dlpi_phnum; i++) {
		segment = &object->dlpi_phdr[i];
		if (segment->p_type == PT_LOAD &&
		    (segment->p_flags & PF_X) != 0)
			print(ctx, object, segment, path);
	}
	return 0;
}

void
leaktracer_modules(
    void (*line)(void *ctx, const char *text, size_t length), void *ctx)
{
	struct table table = { line, ctx };

	if (!dump_modules(line, ctx))
		dl_iterate_phdr(take_object, &table);
}
