/*
 * Many leaks refer to the same few addresses, so answers are cached. A module
 * is opened when its first address is looked up.
 */
#include "lib/symbolize/symbols.h"

#include <bsd/string.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/symbolize/cache.h"
#include "lib/symbolize/frame_rules.h"
#include "lib/symbolize/guard.h"
#include "lib/symbolize/module_symbols.h"
#include "lib/symbolize/subject_files.h"
#include "mu/sys.h"

#define KEPT ((size_t)1 << 14) /* answers; a power of 2 */
#define FAULTS_MAX 3           /* for one question */
#define PATIENCE_NS (10 * MU_NS_PER_SEC)
#define SPREAD 0x9e3779b97f4a7c15ull /* 2^64 / the golden ratio */

struct kept {
	uintptr_t address;
	bool asked, found, inlined;
	struct mu_symbol symbol;
};

struct mu_symbols {
	struct mu_symbols_source source;
	struct mu_subject_files subject;
	struct mu_debug_files files;
	struct mu_loaded *list;
	size_t count;
	struct mu_module_symbols *modules; /* as list */
	struct kept *kept;
};

struct question {
	struct mu_symbols *symbols;
	uintptr_t address;
	const struct mu_loaded *loaded;
	const struct mu_mapping *mapping;
	bool found;
	struct mu_symbol symbol;
	enum mu_symbols_detail detail;
	struct mu_frame_rules rules;
};

struct mu_symbols *
mu_symbols_open(const struct mu_symbols_source *source)
{
	struct mu_symbols *symbols = calloc(1, sizeof(*symbols));

	if (symbols == NULL)
		return NULL;
	elf_version(EV_CURRENT);
	symbols->source = *source;
	symbols->list = mu_loaded_list(
	    source->mappings, source->num_mappings, &symbols->count);
	mu_subject_files_open(
	    &symbols->subject, &symbols->source, symbols->list, symbols->count);
	symbols->modules =
	    calloc(symbols->count + 1, sizeof(*symbols->modules));
	symbols->kept = calloc(KEPT, sizeof(*symbols->kept));
	if (!mu_debug_files_open(
		&symbols->files, symbols->subject.root, source) ||
	    symbols->modules == NULL || symbols->kept == NULL) {
		mu_symbols_close(symbols);
		return NULL;
	}
	return symbols;
}

void
mu_symbols_close(struct mu_symbols *symbols)
{
	size_t i;

	if (symbols == NULL)
		return;
	for (i = 0; symbols->modules != NULL && i < symbols->count; i++)
		mu_module_symbols_close(&symbols->modules[i]);
	mu_debug_files_close(&symbols->files);
	mu_subject_files_close(&symbols->subject);
	free(symbols->modules);
	free(symbols->list);
	free(symbols->kept);
	free(symbols);
}

static struct mu_module_symbols *
open_module(const struct question *question)
{
	struct mu_symbols *symbols = question->symbols;
	struct mu_module_symbols *module =
	    &symbols->modules[question->loaded - symbols->list];

	if (!module->opened)
		mu_module_symbols_open(module, &symbols->source,
		    &symbols->subject, question->loaded, &symbols->files);
	return module;
}

static void
find(void *ctx)
{
	struct question *question = ctx;

	question->found =
	    mu_module_symbols_find(open_module(question), question->loaded,
		question->mapping, question->address, &question->symbol);
}

static void
find_detail(void *ctx)
{
	struct question *question = ctx;
	struct mu_module_symbols *module = open_module(question);

	if (mu_module_symbols_has_lines(module))
		question->detail = MU_SYMBOLS_LINES;
	else if (module->table.functions > 0)
		question->detail = MU_SYMBOLS_NAMES;
}

static void
find_rules(void *ctx)
{
	struct question *question = ctx;
	struct mu_module_symbols *module = open_module(question);

	question->found = module->module != NULL &&
	    mu_frame_rules_find(
		module->module, question->address, &question->rules);
}

static void
find_inlined(void *ctx)
{
	struct question *question = ctx;

	mu_module_symbols_inlined(
	    open_module(question), question->address, &question->symbol);
}

/*
 * After each fault the module gives up a source: first lines, then names, then
 * the file.
 */
static void
ask(struct question *question, void (*work)(void *ctx))
{
	struct mu_symbols *symbols = question->symbols;
	int faults = 0;

	question->loaded = mu_loaded_find(symbols->list, symbols->count,
	    question->address, &question->mapping);
	if (question->loaded == NULL)
		return;
	while (!mu_guarded(work, question) && faults++ < FAULTS_MAX)
		mu_module_symbols_give_up(
		    &symbols->modules[question->loaded - symbols->list]);
}

static struct kept *
find_kept(struct mu_symbols *symbols, uintptr_t address)
{
	struct question question = { .symbols = symbols, .address = address };
	struct kept *kept = &symbols->kept[address * SPREAD >> 32 & (KEPT - 1)];

	if (!kept->asked || kept->address != address) {
		*kept = (struct kept) { .address = address, .asked = true };
		ask(&question, find);
		kept->found = question.found;
		kept->symbol = question.symbol;
	}
	return kept;
}

bool
mu_symbols_find(
    struct mu_symbols *symbols, uintptr_t address, struct mu_symbol *symbol)
{
	struct kept *kept = find_kept(symbols, address);

	*symbol = kept->symbol;
	return kept->found;
}

bool
mu_symbols_find_call(
    struct mu_symbols *symbols, uintptr_t address, struct mu_symbol *symbol)
{
	struct question question = { .symbols = symbols, .address = address };
	struct kept *kept = find_kept(symbols, address);

	if (kept->found && kept->symbol.file != NULL && !kept->inlined) {
		question.symbol = kept->symbol;
		ask(&question, find_inlined);
		kept->symbol = question.symbol;
		kept->inlined = true;
	}
	*symbol = kept->symbol;
	return kept->found;
}

bool
mu_symbols_read(const struct mu_symbols *symbols, uintptr_t address,
    void *buffer, size_t size)
{
	const struct mu_symbols_source *source = &symbols->source;

	return source->read != NULL &&
	    source->read(source->ctx, address, buffer, size);
}

bool
mu_symbols_in_file(const struct mu_symbols *symbols, uintptr_t address,
    const struct mu_mapping **mapping)
{
	return mu_loaded_find(
		   symbols->list, symbols->count, address, mapping) != NULL;
}

const struct mu_loaded *
mu_symbols_loaded(const struct mu_symbols *symbols, size_t *count)
{
	*count = symbols->count;
	return symbols->list;
}

bool
mu_symbols_has_file(const struct mu_symbols *symbols, const char *part)
{
	size_t i;

	for (i = 0; i < symbols->count; i++)
		if (strstr(symbols->list[i].first->name, part) != NULL)
			return true;
	return false;
}

bool
mu_symbols_debug_id(const struct mu_symbols *symbols,
    const struct mu_loaded *loaded, struct mu_debug_id *id)
{
	const struct mu_module_symbols *module =
	    &symbols->modules[loaded - symbols->list];
	struct stat about = module->search.found;

	return (about.st_ino != 0 ||
		   (module->file.fd >= 0 &&
		       fstat(module->file.fd, &about) == 0)) &&
	    mu_debug_id_make(id, module->file.build_id.hex, &about);
}

struct mu_cache *
mu_symbols_cache(const struct mu_symbols *symbols)
{
	return symbols->source.cache;
}

uint64_t
mu_symbols_until(const struct mu_symbols *symbols)
{
	const struct mu_patience *patience = symbols->source.patience;
	uint64_t now = mu_sys_now_ns(), end;

	if (patience == NULL)
		return now + PATIENCE_NS;
	end = __atomic_load_n(&patience->until_ns, __ATOMIC_RELAXED);
	return end > now ? now + (end - now) / 8 * 7 : now;
}

void
mu_symbols_late(const struct mu_symbols *symbols)
{
	if (symbols->source.patience != NULL)
		symbols->source.patience->ended = true;
}

struct debug {
	struct question question;
	void (*read)(void *ctx, Dwfl_Module *module);
	void *ctx;
};

static void
read_debug(void *ctx)
{
	struct debug *debug = ctx;
	struct mu_module_symbols *module = open_module(&debug->question);

	module->stage = MU_MODULE_LINES;
	if (module->module != NULL && module->limit < MU_SYMBOLS_NO_DEBUG)
		debug->read(debug->ctx, module->module);
}

bool
mu_symbols_debug(struct mu_symbols *symbols, const struct mu_loaded *loaded,
    void (*read)(void *ctx, Dwfl_Module *module), void *ctx)
{
	struct debug debug = {
		.question = { .symbols = symbols, .loaded = loaded },
		.read = read,
		.ctx = ctx,
	};

	if (mu_guarded(read_debug, &debug))
		return true;
	mu_module_symbols_give_up(&symbols->modules[loaded - symbols->list]);
	return false;
}

void
mu_symbols_limit(
    struct mu_symbols *symbols, uintptr_t address, enum mu_symbols_limit limit)
{
	const struct mu_mapping *mapping;
	const struct mu_loaded *loaded =
	    mu_loaded_find(symbols->list, symbols->count, address, &mapping);

	if (loaded != NULL)
		symbols->modules[loaded - symbols->list].limit = limit;
}

enum mu_symbols_detail
mu_symbols_detail(struct mu_symbols *symbols, uintptr_t address)
{
	struct question question = { .symbols = symbols, .address = address };

	ask(&question, find_detail);
	return question.detail;
}

bool
mu_symbols_frame_rules(
    struct mu_symbols *symbols, uintptr_t address, struct mu_frame_rules *rules)
{
	struct question question = { .symbols = symbols, .address = address };

	ask(&question, find_rules);
	*rules = question.rules;
	return question.found;
}
