#include "lib/view/notes.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/term/safe_text.h"

#define NOTE_SIZE 1024

void
mu_notes_add(struct mu_notes *notes, const char *format, ...)
{
	char words[NOTE_SIZE], safe[NOTE_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	mu_safe_for_terminal(words, safe, sizeof(safe));
	if (notes->count < MU_NOTES_MAX)
		notes->lines[notes->count] = strdup(safe);
	if (notes->count < MU_NOTES_MAX && notes->lines[notes->count] != NULL)
		notes->count++;
	else
		notes->num_more++;
}

void
mu_notes_text(FILE *out, const struct mu_notes *notes)
{
	size_t i;

	for (i = 0; i < notes->count; i++)
		fprintf(out, "Note: %s.\n", notes->lines[i]);
	if (notes->num_more > 0)
		fprintf(
		    out, "Note: there are %zu more notes.\n", notes->num_more);
}

void
mu_notes_release(struct mu_notes *notes)
{
	while (notes->count > 0)
		free(notes->lines[--notes->count]);
	notes->num_more = 0;
}
