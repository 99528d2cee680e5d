/*
 * Each module is read once, before the first dlclose() after it was loaded:
 * once it is unloaded its build-id is no longer mapped. Entries are never
 * freed, as readers take no lock.
 */
#include "lib/malloc_debug/unwind/gone_modules.h"

#include <limits.h>
#include <link.h>
#include <string.h>

#include "lib/malloc_debug/state/state.h"
#include "lib/malloc_debug/unwind/dump_modules.h"
#include "mu/sys.h"
#include "mu/text.h"

#define TEXT_BYTES ((size_t)64 << 10)

static struct {
	struct mu_recorded_module *all;
	char *text; /* free space for paths and build-ids */
	size_t room;
	uint32_t unloadings; /* the highest "gone" of all */
	uint64_t low, high;  /* bounds of all unloaded modules */
	int busy;
} gone;

static void *
map(size_t size)
{
	long memory = mu_sys_mmap(
	    NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);

	return mu_sys_failed(memory) ? NULL : (void *)memory;
}

/* Number of entries; other processes read it, too. */
static size_t
count_of(void)
{
	return __atomic_load_n(
	    &memunreachable_recorded.num_modules, __ATOMIC_ACQUIRE);
}

/* Copy TEXT for good; 0: no memory. */
static uint64_t
keep(const char *text)
{
	size_t size = strlen(text) + 1;
	char *kept;

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

static const char *
id_of(const struct mu_recorded_module *module)
{
	return (const char *)(uintptr_t)module->id;
}

/* Only one module can be at an address at a time. */
static struct mu_recorded_module *
find_present(const struct dl_phdr_info *object, const ElfW(Phdr) * code)
{
	uint64_t start = object->dlpi_addr + code->p_vaddr;
	size_t i, count = count_of();

	for (i = 0; i < count; i++)
		if (gone.all[i].gone == 0 && gone.all[i].start == start &&
		    gone.all[i].bias == object->dlpi_addr &&
		    gone.all[i].end == start + code->p_memsz)
			return &gone.all[i];
	return NULL;
}

static bool
is_same(const struct mu_recorded_module *a, const struct mu_recorded_module *b)
{
	return a->start == b->start && a->end == b->end &&
	    a->offset == b->offset && a->bias == b->bias &&
	    strcmp(path_of(a), path_of(b)) == 0 &&
	    strcmp(id_of(a), id_of(b)) == 0;
}

static uint32_t
first_of(const struct mu_recorded_module *module, uint32_t index)
{
	uint32_t i = 0;

	while (i < index && !is_same(&gone.all[i], module))
		i++;
	return i;
}

static bool
overlap(const struct mu_recorded_module *a, const struct mu_recorded_module *b)
{
	return a->start < b->end && b->start < a->end;
}

/*
 * The array is full: note if this module is the last one that was at its
 * address.
 */
static void
note_again(const struct mu_recorded_module *module)
{
	struct mu_recorded_module *last;
	size_t i = MU_RECORDED_MODULES;
	uint32_t again;

	while (i > 0 && !overlap(&gone.all[i - 1], module))
		i--;
	if (i == 0)
		return;
	last = &gone.all[i - 1];
	again = is_same(last, module) && last->again != MU_MODULE_OTHER
	    ? MU_MODULE_SAME
	    : MU_MODULE_OTHER;
	__atomic_store_n(&last->again, again, __ATOMIC_RELEASE);
}

static void
add(const struct mu_recorded_module *module)
{
	size_t count = count_of();
	struct mu_recorded_module *added;

	if (count == MU_RECORDED_MODULES) {
		note_again(module);
		return;
	}
	added = &gone.all[count];
	*added = *module;
	added->first = first_of(module, (uint32_t)count);
	if (added->first < count) {
		added->path = gone.all[added->first].path;
		added->id = gone.all[added->first].id;
	} else {
		added->path = keep(path_of(module));
		added->id = keep(id_of(module));
	}
	if (added->path != 0 && added->id != 0)
		__atomic_store_n(&memunreachable_recorded.num_modules,
		    count + 1, __ATOMIC_RELEASE);
}

static int
note(struct dl_phdr_info *object, size_t size, void *ctx)
{
	const ElfW(Phdr) *code = code_of(object);
	char id[DUMP_MODULES_ID], path[PATH_MAX];
	struct mu_recorded_module module = { 0 };

	(void)size;
	(void)ctx;
	/* The program has an empty name in the list, and the vDSO no path. */
	if (code == NULL || strchr(object->dlpi_name, '/') == NULL ||
	    find_present(object, code) != NULL)
		return 0;
	/*
	 * For a relative path, as from dlopen("./plugin.so"), read the real one
	 * from /proc.
	 */
	if (object->dlpi_name[0] == '/')
		mu_text_format(path, sizeof(path), "%s", object->dlpi_name);
	else
		dump_modules_path(object->dlpi_addr + code->p_vaddr, path);
	if (path[0] != '/')
		return 0;
	dump_modules_id(object, id);
	module.start = object->dlpi_addr + code->p_vaddr;
	module.end = module.start + code->p_memsz;
	module.offset = code->p_offset;
	module.bias = object->dlpi_addr;
	module.path = (uintptr_t)path;
	module.path_size = (uint32_t)strlen(path) + 1;
	module.id = (uintptr_t)id;
	module.id_size = (uint32_t)strlen(id) + 1;
	add(&module);
	return 0;
}

void
gone_modules_note(void)
{
	if (__atomic_exchange_n(&gone.busy, 1, __ATOMIC_ACQUIRE) != 0)
		return;
	if (gone.all == NULL)
		gone.all = map(MU_RECORDED_MODULES * sizeof(*gone.all));
	memunreachable_recorded.modules = (uintptr_t)gone.all;
	if (gone.all != NULL)
		dl_iterate_phdr(note, NULL);
	__atomic_store_n(&gone.busy, 0, __ATOMIC_RELEASE);
}

/* CTX: a flag for each entry, set if it is still loaded. */
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

/*
 * Mark the module as unloaded, so that its stacks differ from those of a module
 * loaded there later.
 */
static void
note_gone(struct mu_recorded_module *module)
{
	uint64_t low = gone.low, high = gone.high;

	if (gone.unloadings == 0 || module->start < low)
		__atomic_store_n(&gone.low, module->start, __ATOMIC_RELAXED);
	if (module->end > high)
		__atomic_store_n(&gone.high, module->end, __ATOMIC_RELAXED);
	__atomic_store_n(&module->gone, gone.unloadings + 1, __ATOMIC_RELEASE);
	__atomic_store_n(
	    &gone.unloadings, gone.unloadings + 1, __ATOMIC_RELEASE);
}

void
gone_modules_update(void)
{
	bool met[MU_RECORDED_MODULES] = { false };
	size_t i, count = count_of();

	if (__atomic_exchange_n(&gone.busy, 1, __ATOMIC_ACQUIRE) != 0)
		return;
	dl_iterate_phdr(meet, met);
	for (i = 0; i < count; i++)
		if (!met[i] && gone.all[i].gone == 0)
			note_gone(&gone.all[i]);
	__atomic_store_n(&gone.busy, 0, __ATOMIC_RELEASE);
}

static bool
has(const struct mu_recorded_module *module, uint64_t address)
{
	return address - module->start < module->end - module->start;
}

/* The highest number of an unloaded module that was at ADDRESS; 0: none. */
static uint32_t
last_at(uint64_t address)
{
	size_t i, count = count_of();
	uint32_t last = 0, number;

	for (i = 0; i < count; i++) {
		number = __atomic_load_n(&gone.all[i].gone, __ATOMIC_ACQUIRE);
		if (number > last && has(&gone.all[i], address))
			last = number;
	}
	return last;
}

void
gone_modules_mark(uintptr_t *frames, size_t num)
{
	uint64_t low, high;
	size_t i;

	if (__atomic_load_n(&gone.unloadings, __ATOMIC_ACQUIRE) == 0)
		return;
	low = __atomic_load_n(&gone.low, __ATOMIC_RELAXED);
	high = __atomic_load_n(&gone.high, __ATOMIC_RELAXED);
	for (i = 0; i < num; i++)
		if (frames[i] >= low && frames[i] < high)
			frames[i] |= (uint64_t)last_at(frames[i])
			    << MU_FRAME_SHIFT;
}

uint64_t
gone_modules_frame(uint64_t frame)
{
	return mu_recorded_frame(gone.all, count_of(), frame);
}

const struct mu_recorded_module *
gone_modules_of(uint64_t frame)
{
	size_t number = frame >> MU_FRAME_SHIFT;

	return number == 0 || number > count_of() ? NULL
						  : &gone.all[number - 1];
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
		if (module->gone == 0 || module->first != i)
			continue;
		length = mu_text_format(text, sizeof(text),
		    "# unloaded %lx-%lx %lx %lx %s %s\n",
		    (unsigned long)mu_frame_of_module(module->start, i),
		    (unsigned long)mu_frame_of_module(module->end, i),
		    (unsigned long)module->offset,
		    (unsigned long)mu_frame_of_module(module->bias, i),
		    id_of(module), path_of(module));
		if (length < sizeof(text))
			line(ctx, text, length);
	}
}
