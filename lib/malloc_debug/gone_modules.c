/*
 * Modules that dlclose() has unloaded: see gone_modules.h.
 *
 * Each module is looked at once, before the first dlclose() behind its loading:
 * later its build-id is gone. Entries are never freed, as readers take no lock.
 */
#include "lib/malloc_debug/gone_modules.h"

#include <limits.h>
#include <link.h>
#include <string.h>

#include "lib/malloc_debug/dump_modules.h"
#include "lib/malloc_debug/recorder.h"
#include "lib/malloc_debug/stack_capture_memory.h"
#include "mu/sys.h"
#include "mu/text.h"

#define MOST 1024
#define TEXT_BYTES ((size_t)64 << 10)

static struct {
	struct mu_recorded_module *all;
	char *text; /* what is left for paths and build-ids */
	size_t room;
	int busy;
} gone;

static void *
map(size_t size)
{
	long memory = mu_sys_mmap(
	    NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);

	return mu_sys_failed(memory) ? NULL : (void *)memory;
}

/* How many there are, for all to see: other processes, too. */
static size_t
count_of(void)
{
	return __atomic_load_n(
	    &memunreachable_recorded.num_modules, __ATOMIC_ACQUIRE);
}

/* Of static duration; 0: no memory. */
static uint64_t
keep(const char *text, uint32_t *kept_size)
{
	size_t size = strlen(text) + 1;
	char *kept;

	*kept_size = (uint32_t)size;
	if (size > TEXT_BYTES)
		return 0;
	if (gone.room < size) {
		gone.text = map(TEXT_BYTES);
		gone.room = gone.text == NULL ? 0 : TEXT_BYTES;
	}
	if (gone.room < size)
		return 0;
	kept = memcpy(gone.text, text, size);
	gone.text += size;
	gone.room -= size;
	return (uintptr_t)kept;
}

static const ElfW(Phdr) * code_of(const struct dl_phdr_info *object)
{
	size_t i;

	for (i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD &&
		    (object->dlpi_phdr[i].p_flags & PF_X) != 0)
			return &object->dlpi_phdr[i];
	return NULL;
}

static const char *
path_of(const struct mu_recorded_module *module)
{
	return (const char *)(uintptr_t)module->path;
}

/* One place has one module at a time. */
static struct mu_recorded_module *
find_present(const struct dl_phdr_info *object, const ElfW(Phdr) * code)
{
	uint64_t start = object->dlpi_addr + code->p_vaddr;
	size_t i, count = count_of();

	for (i = 0; i < count; i++)
		if (gone.all[i].present && gone.all[i].start == start &&
		    gone.all[i].bias == object->dlpi_addr &&
		    gone.all[i].end == start + code->p_memsz)
			return &gone.all[i];
	return NULL;
}

static int
note(struct dl_phdr_info *object, size_t size, void *ctx)
{
	const ElfW(Phdr) *code = code_of(object);
	char id[DUMP_MODULES_ID], path[PATH_MAX];
	struct mu_recorded_module *module;
	size_t count = count_of();

	(void)size;
	(void)ctx;
	/* The program has no name in the list, the vDSO no path. */
	if (code == NULL || strchr(object->dlpi_name, '/') == NULL ||
	    count == MOST || find_present(object, code) != NULL)
		return 0;
	/* dlopen("./plugin.so"): where that is the kernel knows. */
	if (object->dlpi_name[0] == '/')
		mu_text_format(path, sizeof(path), "%s", object->dlpi_name);
	else
		dump_modules_path(object->dlpi_addr + code->p_vaddr, path);
	if (path[0] != '/')
		return 0;
	dump_modules_id(object, id);
	module = &gone.all[count];
	module->start = object->dlpi_addr + code->p_vaddr;
	module->end = module->start + code->p_memsz;
	module->offset = code->p_offset;
	module->bias = object->dlpi_addr;
	module->path = keep(path, &module->path_size);
	module->id = keep(id, &module->id_size);
	module->present = 1;
	if (module->path != 0 && module->id != 0)
		__atomic_store_n(&memunreachable_recorded.num_modules,
		    count + 1, __ATOMIC_RELEASE);
	return 0;
}

void
gone_modules_note(void)
{
	if (__atomic_exchange_n(&gone.busy, 1, __ATOMIC_ACQUIRE) != 0)
		return;
	if (gone.all == NULL)
		gone.all = map(MOST * sizeof(*gone.all));
	memunreachable_recorded.modules = (uintptr_t)gone.all;
	if (gone.all != NULL)
		dl_iterate_phdr(note, NULL);
	__atomic_store_n(&gone.busy, 0, __ATOMIC_RELEASE);
}

/* CTX: for each entry, whether it was met. */
static int
meet(struct dl_phdr_info *object, size_t size, void *ctx)
{
	const ElfW(Phdr) *code = code_of(object);
	const struct mu_recorded_module *module =
	    code == NULL ? NULL : find_present(object, code);
	bool *met = ctx;

	(void)size;
	if (module != NULL)
		met[module - gone.all] = true;
	return 0;
}

void
gone_modules_update(void)
{
	bool met[MOST] = { false };
	size_t i, count = count_of();

	if (__atomic_exchange_n(&gone.busy, 1, __ATOMIC_ACQUIRE) != 0)
		return;
	dl_iterate_phdr(meet, met);
	for (i = 0; i < count; i++)
		if (!met[i])
			__atomic_store_n(
			    &gone.all[i].present, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&gone.busy, 0, __ATOMIC_RELEASE);
}

static bool
has(const struct mu_recorded_module *module, uintptr_t pc)
{
	return pc - module->start < module->end - module->start;
}

/* The last that was there: the stack may be of an older one, which no one
 * knows. */
const struct mu_recorded_module *
gone_modules_find(uintptr_t pc)
{
	size_t i = count_of();

	while (i-- > 0)
		if (has(&gone.all[i], pc))
			return gone.all[i].present != 0 ? NULL : &gone.all[i];
	return NULL;
}

void
gone_modules_print(
    void (*line)(void *ctx, const char *text, size_t length), void *ctx)
{
	size_t i, length, count = count_of();
	const struct mu_recorded_module *module;
	char text[PATH_MAX + 256];

	for (i = 0; i < count; i++) {
		module = &gone.all[i];
		/* What has come to its place has a line already. */
		if (gone_modules_find(module->start) != module ||
		    stack_memory_probe(module->start))
			continue;
		length = mu_text_format(text, sizeof(text),
		    "# unloaded %lx-%lx %lx %lx %s %s\n",
		    (unsigned long)module->start, (unsigned long)module->end,
		    (unsigned long)module->offset, (unsigned long)module->bias,
		    (const char *)(uintptr_t)module->id, path_of(module));
		if (length < sizeof(text))
			line(ctx, text, length);
	}
}
