#include "lib/since/valgrind_entry.h"

#include <stdlib.h>
#include <string.h>

#include "heapwalk/subject/classify.h"
#include "lib/symbolize/demangled.h"

#define REST "..."
#define UNKNOWN "???" /* Valgrind's word for a name that is not known */

/* As in PATTERN, in which * and ? are wildcards, up to its end. */
static bool
is_like(const char *pattern, size_t length, const char *text)
{
	const char *end = pattern + length, *star = NULL, *from = NULL;

	while (*text != '\0') {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (pattern < end &&
		    (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (star != NULL) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

/* True if FUNCTION, mangled or not, allocates. */
static bool
allocates(const char *function, size_t length)
{
	static const char *const names[] = { "malloc", "calloc", "realloc",
		"memalign", "posix_memalign", "aligned_alloc", "valloc",
		"pvalloc", "reallocarray" };
	static const char *const operators[] = { "_Zn", "operator new",
		"__builtin_new", "__builtin_vec_new" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == length &&
		    strncmp(names[i], function, length) == 0)
			return true;
	for (i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (length >= strlen(operators[i]) &&
		    strncmp(operators[i], function, strlen(operators[i])) == 0)
			return true;
	return false;
}

/* The begin of LINE without blanks around it; false: FILE has ended. */
static bool
read_line(FILE *file, char **line, size_t *room, size_t *number, char **text)
{
	size_t length;

	do {
		if (getline(line, room, file) <= 0)
			return false;
		++*number;
		*text = *line + strspn(*line, " \t");
		length = strlen(*text);
		while (length > 0 && strchr(" \t\r\n", (*text)[length - 1]))
			(*text)[--length] = '\0';
	} while (length == 0 || **text == '#');
	return true;
}

/* True if LINE is the innermost caller, which our stacks do not have. */
static bool
is_allocator(const char *line)
{
	const char *name = line + 4;
	size_t length = strlen(line);

	if (mu_starts_with(line, "obj:"))
		return strstr(line, "vgpreload_memcheck") != NULL;
	return mu_starts_with(line, "fun:") &&
	    (allocates(name, length - 4) ||
		(strchr(name, '*') != NULL &&
		    (is_like(name, length - 4, "malloc") ||
			is_like(name, length - 4, "calloc") ||
			is_like(name, length - 4, "realloc"))));
}

/* Add LINE to CALLERS; a mangled name without wildcards is demangled. */
static bool
add_caller(char **callers, const char *line)
{
	char *plain = NULL, *more;
	size_t used = strlen(*callers);

	if (mu_starts_with(line, "fun:_Z") && strpbrk(line, "*?") == NULL)
		plain = mu_demangled(line + 4);
	if (used == 0 && is_allocator(line)) {
		free(plain);
		return true;
	}
	more = realloc(*callers,
	    used + strlen(line) + 2 + (plain == NULL ? 0 : strlen(plain)));
	if (more != NULL) {
		*callers = more;
		sprintf(more + used, "%s%s\n",
		    plain == NULL ? line : "fun:", plain == NULL ? "" : plain);
	}
	free(plain);
	return more != NULL;
}

/* The line "Memcheck,Helgrind:Leak". */
static bool
is_of_leaks(const char *line)
{
	const char *colon = strchr(line, ':');
	const char *tool = strstr(line, "Memcheck");

	return colon != NULL && tool != NULL && tool < colon &&
	    strcmp(colon, ":Leak") == 0;
}

/* What is lost is definite or indirect. */
static bool
is_of_lost(const char *kinds)
{
	return strstr(kinds, "all") != NULL ||
	    strstr(kinds, "definite") != NULL ||
	    strstr(kinds, "indirect") != NULL;
}

bool
mu_valgrind_entry_read(
    struct mu_valgrind_entry *entry, FILE *file, size_t *number)
{
	char *line = NULL, *text;
	size_t room = 0;
	bool lost = false, ended = false, ok;

	*entry = (struct mu_valgrind_entry) { .callers = calloc(1, 1) };
	ok = entry->callers != NULL &&
	    read_line(file, &line, &room, number, &text) &&
	    strcmp(text, "}") != 0 && (entry->name = strdup(text)) != NULL &&
	    read_line(file, &line, &room, number, &text) &&
	    strchr(text, ':') != NULL;
	if (ok)
		lost = is_of_leaks(text);
	while (ok && !ended) {
		ok = read_line(file, &line, &room, number, &text);
		ended = ok && strcmp(text, "}") == 0;
		if (!ok || ended)
			continue;
		if (mu_starts_with(text, "match-leak-kinds:"))
			lost &= is_of_lost(text);
		else if (mu_starts_with(text, "fun:") ||
		    mu_starts_with(text, "obj:") || strcmp(text, REST) == 0)
			ok = add_caller(&entry->callers, text);
		else
			ok = !lost; /* other tools have more lines */
	}
	free(line);
	if (ok && !lost) {
		free(entry->callers);
		entry->callers = NULL;
	}
	return ok;
}

static bool
is_frame(const char *line, size_t length, const struct mu_valgrind_frame *frame)
{
	const char *name =
	    mu_starts_with(line, "fun:") ? frame->function : frame->module;

	return is_like(line + 4, length - 4, name == NULL ? UNKNOWN : name);
}

bool
mu_valgrind_entry_matches(
    const char *callers, const struct mu_valgrind_frame *frames, size_t count)
{
	const char *rest = NULL; /* behind the last "..." */
	size_t at = 0, from = 0, length;

	while (at < count && frames[at].function != NULL &&
	    allocates(frames[at].function, strlen(frames[at].function)))
		at++;
	while (*callers != '\0') {
		length = strcspn(callers, "\n");
		if (length == strlen(REST) &&
		    strncmp(callers, REST, length) == 0) {
			callers += length + 1;
			rest = callers;
			from = at;
		} else if (at < count &&
		    is_frame(callers, length, &frames[at])) {
			callers += length + 1;
			at++;
		} else if (rest != NULL && at < count) {
			callers = rest;
			at = ++from;
		} else {
			return false;
		}
	}
	return true;
}
