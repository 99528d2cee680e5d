#include "lib/report/frame_text.h"

#include <string.h>

#include "heapwalk/subject/classify.h"
#include "lib/report/exported.h"
#include "lib/report/recorder_here.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"

#define ARENA_LIMIT ((size_t)64 << 20) /* 65530 mappings take 8 MiB */
#define NAMED 256u                     /* a power of 2 */
#define NAME_SIZE 96                   /* names of C++ may be cut */
#define MODULE_REACH 16 /* mappings from a module's first to its last */

#if UINTPTR_MAX > 0xffffffffu
#define PC "%016lx"
#else
#define PC "%08lx"
#endif

struct mu_frame_named {
	uintptr_t pc;     /* 0: none */
	const char *path; /* the module's; NULL: no module */
	uintptr_t place;  /* in the module */
	size_t into;      /* bytes behind the beginning of NAME */
	char name[NAME_SIZE];
};

static void
open_names(struct mu_frame_names *names)
{
	names->opened = true;
	mu_arena_open(&names->arena, ARENA_LIMIT);
	names->named =
	    mu_arena_alloc(&names->arena, NAMED, sizeof(*names->named));
	names->chunk = mu_arena_alloc(&names->arena, MU_EXPORTED_CHUNK, 1);
	/* Without /proc there are no modules. */
	if (mu_mappings_read(mu_sys_gettid(), &names->mappings,
		&names->num_mappings, &names->arena, NULL) != MU_OK)
		names->num_mappings = 0;
}

/* The mapping that the file of MAPPING begins with. */
static const struct mu_mapping *
first_of(const struct mu_frame_names *names, const struct mu_mapping *mapping)
{
	const struct mu_mapping *first = mapping;
	size_t reach;

	for (reach = 0; reach < MODULE_REACH; reach++) {
		if (first->offset == 0 && mu_mapping_same_file(first, mapping))
			return first;
		if (first-- == names->mappings)
			break;
	}
	return mapping;
}

/* Entries of the recorder's never go, nor do their strings. */
static void
find_unloaded(struct mu_frame_named *named)
{
	const struct mu_recorded *about = &memunreachable_recorded;
	size_t number = (uint64_t)named->pc >> MU_FRAME_SHIFT;
	const struct mu_recorded_module *module;

	if (about == NULL || number == 0 ||
	    number > __atomic_load_n(&about->num_modules, __ATOMIC_ACQUIRE))
		return;
	module = &((const struct mu_recorded_module *)(uintptr_t)
		       about->modules)[number - 1];
	named->path = (const char *)(uintptr_t)module->path;
	named->place = mu_frame_address(named->pc) - module->bias;
}

static void
find_name(const struct mu_frame_names *names, struct mu_frame_named *named)
{
	const struct mu_mapping *mapping =
	    mu_mapping_from(names->mappings, names->num_mappings, named->pc);
	const struct mu_mapping *first;
	struct mu_exported exported;

	if (mapping == NULL || !mu_range_has(mapping->range, named->pc) ||
	    mapping->name[0] == '\0') {
		find_unloaded(named);
		return;
	}
	first = first_of(names, mapping);
	named->path = first->name;
	named->place = named->pc - mapping->range.begin + mapping->offset;
	if (!mu_exported_open(&exported, first->range.begin))
		return;
	named->place = named->pc - exported.bias;
	if (names->chunk != NULL)
		mu_exported_find(&exported, named->pc, names->chunk,
		    named->name, sizeof(named->name), &named->into);
}

/* A path may hold a newline; a line is a line. */
static void
add_path(struct mu_text *out, const char *path)
{
	for (; *path != '\0'; path++)
		mu_text_add(out, "%c",
		    (unsigned char)*path < 0x20 || *path == 0x7f ? '?' : *path);
}

void
mu_frame_text(struct mu_text *out, struct mu_frame_names *names, size_t number,
    uintptr_t pc)
{
	struct mu_frame_named none = { .pc = 0 }, *named = &none;

	if (!names->opened)
		open_names(names);
	if (names->named != NULL)
		named = &names->named[pc * 0x9e3779b97f4a7c15ull >> 32 &
		    (NAMED - 1)];
	if (named->pc != pc) {
		*named = (struct mu_frame_named) { .pc = pc };
		find_name(names, named);
	}
	if (named->path == NULL) {
		mu_text_add(out, "          #%02zu  pc " PC "  <unknown>\n",
		    number, (unsigned long)pc);
		return;
	}
	mu_text_add(out, "          #%02zu  pc " PC "  ", number,
	    (unsigned long)named->place);
	add_path(out, named->path);
	if (named->name[0] != '\0')
		mu_text_add(out, " (%s+%zu)", named->name, named->into);
	mu_text_add(out, "\n");
}

void
mu_frame_names_close(struct mu_frame_names *names)
{
	mu_arena_close(&names->arena);
	*names = (struct mu_frame_names) { .opened = false };
}
