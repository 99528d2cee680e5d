/*
 * What the helper does: see helper.h.
 *
 * Runs in: a child of the command.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/symbolize/debuginfod.h"
#include "lib/symbolize/frame_files.h"
#include "lib/symbolize/helper.h"
#include "mu/sys.h"

#define ROOM ((size_t)64 << 10) /* for questions; one takes 5 KiB at most */

struct serving {
	const struct mu_symbol_helper *helper;
	struct mu_symbols *symbols; /* NULL: there is no source, or memory */
	struct mu_frame_files files;
	struct mu_wire_writer writer;
	int fd;
	char *room;
	size_t begin, end; /* of what is in it */
};

static enum mu_symbols_limit
limit_of(const struct mu_symbol_helper *helper, const char *path)
{
	enum mu_symbols_limit limit = MU_SYMBOLS_ALL;
	size_t i;

	for (i = 0; i < helper->num_blamed; i++) {
		if (helper->blamed[i].path != NULL &&
		    strcmp(helper->blamed[i].path, path) == 0)
			limit = helper->blamed[i].limit;
	}
	return limit;
}

static void
open_source(struct serving *serving, bool network)
{
	const struct mu_symbol_helper *helper = serving->helper;
	struct mu_symbols_source source;
	size_t i;

	if (helper->source == NULL)
		return;
	source = *helper->source;
	source.local |= !network;
	serving->symbols = mu_symbols_open(&source);
	for (i = 0; serving->symbols != NULL && i < helper->num_blamed; i++) {
		if (helper->blamed[i].path == NULL)
			mu_symbols_limit(serving->symbols,
			    helper->blamed[i].address, helper->blamed[i].limit);
	}
}

/* At least SIZE bytes are there; false: no more come. */
static bool
fill(struct serving *serving, size_t size)
{
	ssize_t n;

	while (serving->end - serving->begin < size) {
		mu_wire_flush(&serving->writer);
		memmove(serving->room, serving->room + serving->begin,
		    serving->end - serving->begin);
		serving->end -= serving->begin;
		serving->begin = 0;
		n = mu_sys_read(serving->fd, serving->room + serving->end,
		    ROOM - serving->end);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		serving->end += (size_t)n;
	}
	return true;
}

static bool
take(struct serving *serving, void *to, size_t size)
{
	if (!fill(serving, size))
		return false;
	memcpy(to, serving->room + serving->begin, size);
	serving->begin += size;
	return true;
}

static void
answer(struct serving *serving, const struct mu_wire_question *question,
    const char *path)
{
	enum mu_symbols_detail detail = MU_SYMBOLS_NONE;
	uintptr_t address = (uintptr_t)question->address;
	struct mu_symbol symbol = { 0 };
	bool found = false;

	if (path[0] != '\0')
		found = mu_frame_files_find(&serving->files, path, address,
		    limit_of(serving->helper, path), &symbol);
	else if (serving->symbols != NULL) {
		found = question->call
		    ? mu_symbols_find_call(serving->symbols, address, &symbol)
		    : mu_symbols_find(serving->symbols, address, &symbol);
		if (question->detail)
			detail = mu_symbols_detail(serving->symbols, address);
	}
	if (!found)
		symbol = (struct mu_symbol) { 0 };
	mu_wire_write(&serving->writer, &symbol, detail);
}

void
mu_helper_serve(const struct mu_symbol_helper *helper, int fd)
{
	struct serving serving = { .helper = helper, .fd = fd };
	bool network = mu_debuginfod_named() &&
	    !mu_rights_other(&helper->rights) &&
	    (helper->source == NULL || !helper->source->local);
	struct mu_wire_question question;
	char path[PATH_MAX];

	serving.files.folder = helper->folder;
	serving.writer.fd = fd;
	serving.room = malloc(ROOM);
	open_source(&serving, network);
	if (serving.room == NULL || !mu_confine(&helper->rights, network))
		_exit(1);
	while (!serving.writer.failed &&
	    take(&serving, &question, sizeof(question)) &&
	    question.path_length < sizeof(path) &&
	    take(&serving, path, question.path_length)) {
		path[question.path_length] = '\0';
		__atomic_add_fetch(&helper->page->begun, 1, __ATOMIC_RELAXED);
		answer(&serving, &question, path);
	}
	mu_wire_flush(&serving.writer);
	_exit(0);
}
