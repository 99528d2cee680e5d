#include "lib/term/names.h"

#include <string.h>

bool
mu_names_find(
    const struct mu_names *names, uintptr_t address, struct mu_symbol *symbol)
{
	*symbol = (struct mu_symbol) { 0 };
	if (names->find == NULL || address == 0)
		return false;
	if (names->find(names->ctx, address, symbol) && symbol->module != NULL)
		return true;
	*symbol = (struct mu_symbol) { 0 };
	return false;
}

bool
mu_names_find_type(
    const struct mu_names *names, uintptr_t begin, struct mu_type *type)
{
	*type = (struct mu_type) { .source = MU_TYPE_NONE };
	return names->find_type != NULL &&
	    names->find_type(names->ctx, begin, type);
}

const char *
mu_names_find_site(const struct mu_names *names, const struct Leak *leak)
{
	struct mu_type type;

	mu_names_find_type(names, leak->begin, &type);
	return leak->backtrace.num_frames == 0 ? type.site : NULL;
}

size_t
mu_names_words(const struct Leak *leak)
{
	size_t shown = leak->size;

	if (shown > sizeof(leak->contents))
		shown = sizeof(leak->contents);
	return shown / sizeof(uintptr_t);
}

uintptr_t
mu_names_word(const struct Leak *leak, size_t index)
{
	uintptr_t word;

	memcpy(&word, leak->contents + index * sizeof(word), sizeof(word));
	return word;
}

bool
mu_names_type(const struct mu_names *names, const struct Leak *leak,
    struct mu_symbol *symbol)
{
	size_t i, count = mu_names_words(leak);

	for (i = 0; i < count; i++) {
		if (mu_names_find(names, mu_names_word(leak, i), symbol))
			return true;
	}
	return false;
}
