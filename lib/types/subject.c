#include "lib/types/subject.h"

#include <string.h>

#define PAGE ((uintptr_t)4096) /* the smallest there is */

bool
mu_subject_word(
    const struct mu_symbols *symbols, uintptr_t address, uintptr_t *word)
{
	return address % sizeof(*word) == 0 &&
	    mu_symbols_read(symbols, address, word, sizeof(*word));
}

size_t
mu_subject_bytes(const struct mu_symbols *symbols, uintptr_t address,
    void *buffer, size_t size)
{
	size_t done, piece;

	if (mu_symbols_read(symbols, address, buffer, size))
		return size;
	for (done = 0; done < size; done += piece) {
		piece = PAGE - (address + done) % PAGE;
		if (piece > size - done)
			piece = size - done;
		if (!mu_symbols_read(
			symbols, address + done, (char *)buffer + done, piece))
			break;
	}
	return done;
}

size_t
mu_subject_string(const struct mu_symbols *symbols, uintptr_t address,
    char *buffer, size_t size)
{
	size_t got = mu_subject_bytes(symbols, address, buffer, size);
	const char *end = memchr(buffer, '\0', got);

	return end == NULL ? 0 : (size_t)(end - buffer);
}

bool
mu_subject_is_own(const struct mu_loaded *loaded)
{
	const char *name = loaded->first->name;

	return name[0] == '/' && strncmp(name, "/lib", 4) != 0 &&
	    strncmp(name, "/usr/lib", 8) != 0 &&
	    strstr(name, "/libmemunreachable") == NULL;
}
