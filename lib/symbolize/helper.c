/*
 * If a helper dies or makes no progress for too long, the module of its current
 * question gets a limit, the questions about it come last, and another helper
 * is started.
 */
#include "lib/symbolize/helper.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/symbolize/kept_names.h"
#include "lib/symbolize/loaded.h"
#include "mu/sys.h"
#include "mu/text.h"

#define STARTS_MAX 12
#define ROOM ((size_t)128 << 10)
#define ANSWERS_MAX ((size_t)1 << 30) /* bytes of answers */
#define RECYCLED ((size_t)64 << 20)

enum outcome { DONE, ENDED, SILENT, LATE, MALFORMED };

struct asking {
	struct mu_symbol_helper *helper;
	const struct mu_symbol_question *questions;
	struct mu_symbol_answer *answers;
	size_t *order; /* order in which questions are sent */
	size_t count, sent, answered;
	size_t first; /* first question to this helper */
	struct mu_loaded *loaded;
	size_t num_loaded;
	uint64_t deadline_ns;
	uint64_t begun; /* time of the last progress */
	uint64_t silent_ns;
	char out[ROOM], in[ROOM];
	size_t out_begin, out_end, in_end;
};

/* Answers must not accumulate: a log may have no end. */
static void
prepare(struct mu_symbol_helper *helper)
{
	if (helper->source == NULL && helper->arena.used > RECYCLED) {
		mu_helper_stop(helper);
		helper->starts = 0;
		mu_arena_close(&helper->arena);
		helper->reader.arena = NULL;
	}
	if (helper->reader.arena == NULL) {
		mu_arena_open(&helper->arena, ANSWERS_MAX);
		helper->reader.arena = &helper->arena;
	}
}

void
mu_symbol_helper_close(struct mu_symbol_helper *helper)
{
	size_t i;

	mu_helper_stop(helper);
	for (i = 0; i < helper->num_blamed; i++)
		free(helper->blamed[i].path);
	helper->num_blamed = 0;
	if (helper->page != NULL)
		munmap(helper->page, sizeof(*helper->page));
	helper->page = NULL;
	mu_wire_reader_reset(&helper->reader);
	mu_arena_close(&helper->arena);
}

static void
report_failure(
    struct mu_symbol_helper *helper, const char *words, const char *name)
{
	if (helper->why[0] == '\0')
		mu_text_format(
		    helper->why, sizeof(helper->why), "%s%s", words, name);
}

static void
set_block(struct mu_wire_question *wire, const struct mu_typed_block *block)
{
	if (block == NULL)
		return;
	wire->size = block->size;
	wire->num_head = (uint32_t)block->num_head;
	wire->wants_id = block->declared;
	wire->held_at = block->held_at;
	memcpy(wire->head, block->head, sizeof(wire->head));
}

static void
fill_out(struct asking *asking)
{
	const struct mu_symbol_question *question;
	struct mu_wire_question wire;
	size_t length;

	if (asking->out_begin < asking->out_end)
		return;
	asking->out_begin = asking->out_end = 0;
	for (; asking->sent < asking->count; asking->sent++) {
		question = &asking->questions[asking->order[asking->sent]];
		length = question->path == NULL ? 0 : strlen(question->path);
		if (length >= PATH_MAX)
			length = 0;
		if (ROOM - asking->out_end < sizeof(wire) + length)
			break;
		wire = (struct mu_wire_question) {
			.address = question->address,
			.path_length = (uint32_t)length,
			.call = question->call,
			.detail = question->detail,
			.rules = question->rules,
			.declared = (uint16_t)question->declared,
		};
		set_block(&wire, question->block);
		memcpy(asking->out + asking->out_end, &wire, sizeof(wire));
		asking->out_end += sizeof(wire);
		if (length > 0)
			memcpy(asking->out + asking->out_end, question->path,
			    length);
		asking->out_end += length;
	}
}

static bool
failed(ssize_t n)
{
	return n < 0 && errno != EAGAIN && errno != EINTR;
}

static bool
send_some(struct asking *asking)
{
	ssize_t n;

	fill_out(asking);
	if (asking->out_begin == asking->out_end)
		return true;
	n = send(asking->helper->fd, asking->out + asking->out_begin,
	    asking->out_end - asking->out_begin, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0)
		asking->out_begin += (size_t)n;
	return !failed(n);
}

static enum outcome
receive_some(struct asking *asking)
{
	struct mu_symbol_helper *helper = asking->helper;
	struct mu_symbol_answer *answer;
	struct mu_wire_answer wire;
	enum mu_wire_read read = MU_WIRE_READ;
	size_t at = 0, used;
	ssize_t n = recv(helper->fd, asking->in + asking->in_end,
	    ROOM - asking->in_end, MSG_DONTWAIT);

	if (n == 0 || failed(n))
		return ENDED;
	asking->in_end += n > 0 ? (size_t)n : 0;
	while (asking->answered < asking->sent && read == MU_WIRE_READ) {
		answer = &asking->answers[asking->order[asking->answered]];
		read = mu_wire_read(&helper->reader, asking->in + at,
		    asking->in_end - at, &used, &wire);
		at += used;
		if (read == MU_WIRE_READ)
			*answer = (struct mu_symbol_answer) {
				.symbol = wire.symbol,
				.detail = wire.detail,
				.rules = wire.rules,
				.type = wire.type,
				.declared = wire.declared,
				.given = true,
			};
		asking->answered += read == MU_WIRE_READ;
	}
	memmove(asking->in, asking->in + at, asking->in_end - at);
	asking->in_end -= at;
	return read == MU_WIRE_BAD || asking->in_end == ROOM ? MALFORMED : DONE;
}

/* The time limit is two thirds of what is left after the last progress. */
static void
note_progress(struct asking *asking, uint64_t now)
{
	uint64_t begun =
	    __atomic_load_n(&asking->helper->page->begun, __ATOMIC_RELAXED);

	if (asking->silent_ns != 0 && begun == asking->begun)
		return;
	asking->begun = begun;
	asking->silent_ns = now +
	    (asking->deadline_ns > now ? (asking->deadline_ns - now) / 3 * 2
				       : 0);
	__atomic_store_n(&asking->helper->page->patience.until_ns,
	    asking->silent_ns, __ATOMIC_RELAXED);
}

static enum outcome
converse(struct asking *asking)
{
	struct pollfd wait = { .fd = asking->helper->fd };
	enum outcome outcome = DONE;
	uint64_t now, until;

	asking->silent_ns = 0;
	while (asking->answered < asking->count && outcome == DONE) {
		now = mu_sys_now_ns();
		note_progress(asking, now);
		if (now >= asking->deadline_ns)
			return LATE;
		if (now >= asking->silent_ns)
			return SILENT;
		if (!send_some(asking))
			return ENDED;
		until = asking->silent_ns - now;
		wait.events = POLLIN |
		    (asking->out_begin < asking->out_end ||
				asking->sent < asking->count
			    ? POLLOUT
			    : 0);
		if (until > 100 * MU_NS_PER_MS)
			until = 100 * MU_NS_PER_MS;
		poll(&wait, 1, (int)(until / MU_NS_PER_MS) + 1);
		if ((wait.revents & (POLLIN | POLLHUP | POLLERR)) != 0)
			outcome = receive_some(asking);
	}
	return outcome;
}

/* True if both have the same path, or addresses in one loaded file. */
static bool
same_module(const struct asking *asking,
    const struct mu_symbol_question *question, const struct mu_blamed *blamed)
{
	const struct mu_mapping *mapping;

	if (question->path != NULL || blamed->path != NULL)
		return question->path != NULL && blamed->path != NULL &&
		    strcmp(question->path, blamed->path) == 0;
	return mu_loaded_find(asking->loaded, asking->num_loaded,
		   question->address, &mapping) ==
	    mu_loaded_find(
		asking->loaded, asking->num_loaded, blamed->address, &mapping);
}

/* The entry of QUESTION's module, or a new one; NULL if there are too many. */
static struct mu_blamed *
blamed_of(
    const struct asking *asking, const struct mu_symbol_question *question)
{
	struct mu_symbol_helper *helper = asking->helper;
	struct mu_blamed *blamed = helper->blamed;

	for (; blamed < helper->blamed + helper->num_blamed; blamed++) {
		if (same_module(asking, question, blamed))
			return blamed;
	}
	if (helper->num_blamed == MU_BLAMED_MAX)
		return NULL;
	*blamed = (struct mu_blamed) { .address = question->address };
	if (question->path != NULL) {
		blamed->path = strdup(question->path);
		if (blamed->path == NULL)
			return NULL;
	}
	helper->num_blamed++;
	return blamed;
}

/*
 * Move the questions about BLAMED's module behind all others, in their order;
 * or drop them with NEVER. Returns false if memory is exhausted.
 */
static bool
put_last(struct asking *asking, const struct mu_blamed *blamed, bool never)
{
	size_t i, kept = asking->answered, later = 0;
	size_t *last = malloc((asking->count + 1) * sizeof(*last));

	if (last == NULL)
		return false;
	for (i = asking->answered; i < asking->count; i++) {
		if (same_module(
			asking, &asking->questions[asking->order[i]], blamed))
			last[later++] = asking->order[i];
		else
			asking->order[kept++] = asking->order[i];
	}
	memcpy(asking->order + kept, last, later * sizeof(*last));
	free(last);
	if (never)
		asking->count = kept;
	return true;
}

static const char *
module_name(
    const struct asking *asking, const struct mu_symbol_question *question)
{
	const struct mu_mapping *mapping;
	const struct mu_loaded *loaded = mu_loaded_find(
	    asking->loaded, asking->num_loaded, question->address, &mapping);

	if (question->path != NULL)
		return question->path;
	if (question->block != NULL)
		return "the type of a block";
	if (question->declared != MU_DECLARED_NOTHING)
		return "declared types";
	return loaded == NULL ? "" : loaded->first->name;
}

/* Ask the question AT no more. */
static void
drop(struct asking *asking, size_t at)
{
	memmove(asking->order + at, asking->order + at + 1,
	    (--asking->count - at) * sizeof(*asking->order));
}

/* Returns false if going on is pointless. */
static bool
blame(struct asking *asking, enum outcome outcome)
{
	static const char *const words[] = {
		[ENDED] = "the process that reads them ended at ",
		[SILENT] = "it takes too long to read ",
		[MALFORMED] =
		    "the process that reads them sent a malformed answer at ",
	};
	struct mu_symbol_helper *helper = asking->helper;
	uint64_t begun =
	    __atomic_load_n(&helper->page->begun, __ATOMIC_RELAXED);
	size_t at = asking->answered;
	const struct mu_symbol_question *question;
	struct mu_blamed *blamed;

	/* An invalid answer belongs to the question before the current one. */
	if (outcome != MALFORMED && begun > helper->asked &&
	    begun - helper->asked - 1 < asking->count - asking->first)
		at = asking->first + (size_t)(begun - helper->asked - 1);
	if (at < asking->answered)
		at = asking->answered;
	question = &asking->questions[asking->order[at]];
	report_failure(helper, words[outcome], module_name(asking, question));
	if (question->block != NULL ||
	    question->declared != MU_DECLARED_NOTHING) {
		drop(asking, at);
		return true;
	}
	blamed = blamed_of(asking, question);
	if (blamed == NULL)
		return false;
	if (blamed->limit == MU_SYMBOLS_NO_NAMES)
		return put_last(asking, blamed, true);
	/* If nothing arrives, do without any file in the next try. */
	blamed->limit +=
	    outcome == SILENT && blamed->limit < MU_SYMBOLS_NO_FILES
	    ? MU_SYMBOLS_NO_FILES - blamed->limit
	    : 1;
	return put_last(asking, blamed, false);
}

static void
begin(struct asking *asking)
{
	asking->first = asking->sent = asking->answered;
	asking->out_begin = asking->out_end = asking->in_end = 0;
}

static bool
ask(struct asking *asking)
{
	struct mu_symbol_helper *helper = asking->helper;
	enum outcome outcome;

	for (;;) {
		begin(asking);
		if (mu_sys_now_ns() >= asking->deadline_ns) {
			report_failure(helper, "there was no more time", "");
			return false;
		}
		if (helper->pid == 0 &&
		    (helper->starts >= STARTS_MAX ||
			!mu_helper_start(helper))) {
			report_failure(helper, "no process can read them", "");
			return false;
		}
		outcome = converse(asking);
		if (outcome == DONE) {
			helper->asked += asking->count - asking->first;
			if (helper->page->patience.ended)
				report_failure(helper,
				    "there was no time to read all debug"
				    " information; --timeout gives more",
				    "");
			return helper->why[0] == '\0';
		}
		mu_helper_stop(helper);
		if (outcome != LATE && !blame(asking, outcome))
			return false;
	}
}

/* For questions without an answer, use the mappings alone. */
static void
place_others(struct asking *asking, size_t count)
{
	const struct mu_mapping *mapping;
	struct mu_symbol_answer *answer;
	uintptr_t address;
	size_t i;

	for (i = 0; i < count; i++) {
		answer = &asking->answers[i];
		address = asking->questions[i].address;
		if (answer->given || asking->questions[i].path != NULL)
			continue;
		answer->symbol = (struct mu_symbol) { 0 };
		if (mu_loaded_find(asking->loaded, asking->num_loaded, address,
			&mapping) == NULL ||
		    mapping == NULL)
			continue;
		answer->symbol.module = mapping->name;
		answer->symbol.offset =
		    address - mapping->range.begin + mapping->offset;
	}
}

bool
mu_symbol_helper_ask(struct mu_symbol_helper *helper,
    const struct mu_symbol_question *questions,
    struct mu_symbol_answer *answers, size_t count, uint64_t deadline_ns)
{
	struct mu_kept_names *kept;
	struct asking *asking;
	bool complete = false;
	size_t i;

	if (count == 0)
		return true;
	prepare(helper);
	asking = malloc(sizeof(*asking));
	if (asking != NULL)
		asking->order = malloc(count * sizeof(*asking->order));
	if (asking != NULL && asking->order != NULL) {
		asking->helper = helper;
		asking->sent = asking->answered = 0;
		asking->loaded = NULL;
		asking->num_loaded = 0;
		asking->questions = questions;
		asking->answers = answers;
		asking->count = count;
		asking->deadline_ns = deadline_ns;
		for (i = 0; i < count; i++)
			asking->order[i] = i;
		if (helper->source != NULL)
			asking->loaded = mu_loaded_list(
			    helper->source->mappings,
			    helper->source->num_mappings, &asking->num_loaded);
		kept = helper->source == NULL ? NULL : helper->source->kept;
		if (kept != NULL && kept->replay)
			complete = mu_kept_names_answer(
			    kept, questions, answers, count);
		else
			complete = ask(asking);
		if (!complete)
			place_others(asking, count);
		if (kept != NULL && !kept->replay)
			mu_kept_names_note(kept, questions, answers, count);
		free(asking->loaded);
		free(asking->order);
	} else
		report_failure(helper, "there is no memory for them", "");
	free(asking);
	return complete;
}
