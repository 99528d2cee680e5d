#include "lib/command/log_reader.h"

#include <string.h>

#include "lib/command/file_frame.h"
#include "lib/report/hint.h"
#include "mu/log.h"
#include "mu/status.h"

/* The contents of a record: its header is checked, its bytes are not. */
struct record {
	struct mu_log_record head;
	char bytes[MU_LOG_RECORD_MAX];
};

/* True if TEXT is SIZE bytes with a single NUL at the end. */
static bool
is_string(const char *text, size_t size)
{
	return size > 0 && memchr(text, '\0', size) == text + size - 1;
}

static bool
put_frame(
    FILE *out, struct mu_symbol_helper *helper, const struct record *record)
{
	const struct mu_frame_prefix prefix = { MU_FRAME_INDENT,
		strlen(MU_FRAME_INDENT) };
	struct mu_out text = mu_out_file(out);
	struct mu_symbol symbol = { .exported = true };
	struct mu_log_frame frame;
	const char *path, *name;

	if (record->head.size < sizeof(frame))
		return false;
	memcpy(&frame, record->bytes, sizeof(frame));
	path = record->bytes + sizeof(frame);
	name = path + frame.path_size;
	if (record->head.size !=
		sizeof(frame) + frame.path_size + frame.name_size ||
	    !is_string(path, frame.path_size) ||
	    !is_string(name, frame.name_size))
		return false;
	if (mu_file_frame(
		out, helper, prefix, frame.number, path, frame.offset))
		return true;
	symbol.module = path;
	symbol.offset = frame.offset;
	symbol.into = frame.into;
	symbol.function = name[0] != '\0' ? name : NULL;
	mu_frame_line_prefixed(&text, prefix, frame.number, &symbol);
	return true;
}

static bool
put_hint(FILE *out, const struct record *record)
{
	char line[256] = "";
	struct mu_text text = { line, sizeof(line), 0 };
	struct mu_log_hint hint;

	if (record->head.size != sizeof(hint))
		return false;
	memcpy(&hint, record->bytes, sizeof(hint));
	mu_hint_command(&text, hint.least, hint.most);
	fprintf(out, MU_LOG_PREFIX "%s\n", line);
	return true;
}

static bool
take_outcome(struct mu_log_reader *reader, const struct record *record)
{
	struct mu_log_outcome outcome;

	if (record->head.size != sizeof(outcome))
		return false;
	memcpy(&outcome, record->bytes, sizeof(outcome));
	reader->checked = true;
	return outcome.status >= 0 && outcome.status < MU_STATUS_COUNT;
}

/* Returns false if the library cannot have written RECORD. */
static bool
take(struct mu_log_reader *reader, const struct record *record,
    struct mu_symbol_helper *helper, FILE *out)
{
	switch (record->head.kind) {
	case MU_LOG_RECORD_TEXT:
		fwrite(record->bytes, 1, record->head.size, out);
		return true;
	case MU_LOG_RECORD_FRAME:
		return put_frame(out, helper, record);
	case MU_LOG_RECORD_HINT:
		return put_hint(out, record);
	case MU_LOG_RECORD_OUTCOME:
		return take_outcome(reader, record);
	default:
		return false;
	}
}

static bool
is_sound(const struct mu_log_record *head)
{
	return head->magic == MU_LOG_RECORD_MAGIC &&
	    head->version == MU_LOG_RECORD_VERSION &&
	    head->kind < MU_LOG_RECORD_KINDS && head->size <= MU_LOG_RECORD_MAX;
}

void
mu_log_reader_copy(struct mu_log_reader *reader, FILE *in,
    struct mu_symbol_helper *helper, FILE *out)
{
	struct record record;

	if (reader->damaged || fseek(in, reader->at, SEEK_SET) != 0)
		return;
	while (fread(&record.head, sizeof(record.head), 1, in) == 1) {
		reader->damaged = !is_sound(&record.head);
		if (reader->damaged ||
		    fread(record.bytes, 1, record.head.size, in) !=
			record.head.size)
			break;
		reader->damaged = !take(reader, &record, helper, out);
		if (reader->damaged)
			break;
		reader->at += (long)(sizeof(record.head) + record.head.size);
	}
	fflush(out);
}
