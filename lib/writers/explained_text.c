#include "lib/writers/explained_text.h"

#include <string.h>

#include "lib/term/human.h"
#include "lib/writers/frame_line.h"

#define SUSPECT 10 /* percent of the heap, as Eclipse MAT has it */
#define SIZES_SHOWN 20
#define TEXTS_SHOWN 10
#define STACKS_SHOWN 10
#define FRAMES_SHOWN 8

static const char *
plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static const char *
base_name(const char *path)
{
	const char *slash = path == NULL ? NULL : strrchr(path, '/');

	return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

static void
put_thread(
    const struct mu_out *out, const char *what, const struct mu_step *step)
{
	mu_put(out, "%sthread %d", what, (int)step->thread);
	if (step->thread_name == NULL)
		return;
	mu_put(out, " '");
	mu_put_safe(out, step->thread_name);
	mu_put(out, "'");
}

/* " (std::map<int, Session> of 20)" */
static void
put_declared(const struct mu_out *out, const struct mu_step *step)
{
	if (step->type == NULL)
		return;
	mu_put(out, " (");
	mu_put_safe(out, step->type);
	if (step->counted)
		mu_put(out, " of %zu", step->count);
	mu_put(out, ")");
}

static void
put_variable(const struct mu_out *out, const struct mu_step *step)
{
	if (step->name != NULL) {
		mu_put(out, "variable ");
		mu_put_safe(out, step->name);
	} else {
		mu_put(out, "variable at %lx", (unsigned long)step->address);
	}
	if (step->module == NULL)
		return;
	mu_put(out, " in ");
	mu_put_safe(out, base_name(step->module));
	put_declared(out, step);
}

/* ", handle() at served.c:16"; BEFORE is before the function. */
static void
put_function(
    const struct mu_out *out, const char *before, const struct mu_step *step)
{
	if (step->function == NULL)
		return;
	mu_put(out, "%s", before);
	mu_put_safe(out, step->function);
	if (strchr(step->function, '(') == NULL)
		mu_put(out, "()");
	if (step->file == NULL)
		return;
	mu_put(out, " at ");
	mu_put_safe(out, base_name(step->file));
	mu_put(out, ":%u", step->line);
}

/* "thread 12 'worker', handle() at served.c:16" */
static void
put_frame(
    const struct mu_out *out, const char *what, const struct mu_step *step)
{
	put_thread(out, what, step);
	put_function(out, ", ", step);
	if (step->kind != MU_STEP_STACK || step->name == NULL)
		return;
	mu_put(out, ", local `");
	mu_put_safe(out, step->name);
	mu_put(out, "`");
	put_declared(out, step);
}

static void
put_thread_local(const struct mu_out *out, const struct mu_step *step)
{
	if (step->name == NULL) {
		put_thread(out, "thread-local variables of ", step);
		return;
	}
	mu_put(out, "thread-local `");
	mu_put_safe(out, step->name);
	mu_put(out, "`");
	if (step->module != NULL) {
		mu_put(out, " in ");
		mu_put_safe(out, base_name(step->module));
	}
	put_thread(out, " of ", step);
	put_declared(out, step);
}

static void
put_mapping(const struct mu_out *out, const struct mu_step *step)
{
	mu_put(out, "memory at %lx (%s", (unsigned long)step->address,
	    mu_human_bytes(step->size).text);
	if (step->name != NULL) {
		mu_put(out, ", ");
		mu_put_safe(out, step->name);
	}
	mu_put(out, ")");
}

static void
put_register(const struct mu_out *out, const struct mu_step *step)
{
	mu_put(out, "register %s", step->name == NULL ? "?" : step->name);
	put_thread(out, " of ", step);
}

static void
put_type(const struct mu_out *out, const struct mu_step *step)
{
	if (step->type == NULL)
		return;
	mu_put(out, step->certain || step->content ? "" : "probably ");
	mu_put_safe(out, step->type);
	mu_put(out, ", ");
}

static void
put_place(const struct mu_out *out, const struct mu_step *step)
{
	switch (step->kind) {
	case MU_STEP_VARIABLE:
		put_variable(out, step);
		break;
	case MU_STEP_STACK:
		put_frame(out, step->function == NULL ? "stack of " : "", step);
		break;
	case MU_STEP_THREAD:
		put_frame(out, "", step);
		break;
	case MU_STEP_TLS:
		put_thread_local(out, step);
		break;
	case MU_STEP_REGISTER:
		put_register(out, step);
		break;
	case MU_STEP_REGION:
		mu_put(out, "root region of %s at %lx",
		    mu_human_bytes(step->size).text,
		    (unsigned long)step->address);
		break;
	case MU_STEP_VALUE:
		mu_put(out, "the kernel, or an ignored object");
		break;
	case MU_STEP_ALLOCATOR:
		mu_put(out, "a thread inside malloc");
		break;
	case MU_STEP_INTERPRETER:
		mu_put(out,
		    "words of CPython that own nothing: links, free objects, text");
		break;
	case MU_STEP_BLOCK:
		put_type(out, step);
		mu_put(out, "block of %s at %lx",
		    mu_human_bytes(step->size).text,
		    (unsigned long)step->address);
		put_function(out, ", allocated in ", step);
		break;
	case MU_STEP_MORE:
		mu_put(out, "... %zu more blocks ...", step->count);
		break;
	default:
		put_mapping(out, step);
		break;
	}
}

/* "g_cache (served)" or "Session" */
static void
put_short(const struct mu_out *out, const struct mu_step *step)
{
	switch (step->kind) {
	case MU_STEP_VARIABLE:
	case MU_STEP_STACK:
	case MU_STEP_TLS:
		if (step->name == NULL) {
			put_place(out, step);
			break;
		}
		mu_put_safe(out, step->name);
		if (step->module == NULL)
			break;
		mu_put(out, " (");
		mu_put_safe(out, base_name(step->module));
		mu_put(out, ")");
		if (step->field != NULL)
			mu_put(out, " ");
		break;
	case MU_STEP_BLOCK:
		if (step->type == NULL) {
			mu_put(out, "%zu bytes", step->size);
			break;
		}
		mu_put(out, step->certain || step->content ? "" : "probably ");
		mu_put_safe(out, step->type);
		break;
	default:
		put_place(out, step);
		break;
	}
	if (step->field != NULL)
		mu_put_safe(out, step->field);
}

/* "g_cache (served) .sessions["alice"] -> Session.buf -> char[4096]" */
static void
put_line(const struct mu_out *out, const struct mu_step *steps, size_t count,
    const char *indent)
{
	const struct mu_step *before = NULL;
	size_t i;

	mu_put(out, "%s", indent);
	for (i = 0; i < count; i++) {
		if (steps[i].element == NULL) {
			mu_put(out, i == 0 ? "" : " \u2192 ");
			put_short(out, &steps[i]);
			before = &steps[i];
		} else if (steps[i].element[0] != '\0') {
			mu_put(out,
			    before != NULL && before->module != NULL &&
				    before->field == NULL
				? " "
				: "");
			mu_put_safe(out, steps[i].element);
			before = NULL;
		}
	}
	mu_put(out, "\n");
}

static void
put_path(const struct mu_out *out, const struct mu_step *steps, size_t count,
    const char *indent)
{
	size_t i;

	for (i = 0; i < count; i++) {
		mu_put(out, "%s%s", indent, i == 0 ? "" : "-> ");
		put_place(out, &steps[i]);
		if (steps[i].points)
			mu_put(out, ", +0x%zx", steps[i].offset);
		if (steps[i].points && steps[i].field != NULL) {
			mu_put(out, " ");
			mu_put_safe(out, steps[i].field);
		}
		if (steps[i].points && steps[i].into > 0 &&
		    (i + 1 == count || steps[i].into != steps[i + 1].object))
			mu_put(out, " (points 0x%zx bytes into it)",
			    steps[i].into);
		mu_put(out, "\n");
	}
}

static bool
is_suspect(
    const struct mu_retained *retained, const struct mu_explained *explained)
{
	return retained->bytes / SUSPECT >= explained->live_bytes / 100 &&
	    retained->bytes >= explained->live_bytes / SUSPECT;
}

/* "84% of the heap (312.0 MiB) is held by variable g_sessions in served: ..."
 */
static void
put_suspect(const struct mu_out *out, const struct mu_retained *retained,
    const struct mu_explained *explained, const struct mu_style *style)
{
	bool below =
	    retained->num_steps > 0 && retained->point_bytes < retained->bytes;

	mu_put(out, "  %s%s%s of the heap (%s) is held by ", style->bold,
	    retained->about ? "About " : "",
	    mu_human_percent(retained->bytes, explained->live_bytes).text,
	    mu_human_bytes(retained->bytes).text);
	put_place(out, &retained->holder);
	mu_put(out, ": %zu block%s%s\n", retained->blocks,
	    plural(retained->blocks), style->off);
	if (retained->num_steps == 0)
		return;
	if (below)
		mu_put(out,
		    "    %s of it, %zu block%s, by way of the last of these:\n",
		    mu_human_bytes(retained->point_bytes).text,
		    retained->point_blocks, plural(retained->point_blocks));
	if (retained->num_steps > 1)
		put_line(out, retained->path, retained->num_steps, "      ");
	put_path(out, retained->path, retained->num_steps, "      ");
}

static void
put_retained(const struct mu_out *out, const struct mu_explained *explained,
    const struct mu_style *style)
{
	const struct mu_retained *retained = explained->retained;
	const struct mu_retained *end = retained + explained->num_retained;

	mu_put(out,
	    "What holds the heap (%s in %zu block%s; without a holder, what it"
	    " retains would be lost):\n",
	    mu_human_bytes(explained->live_bytes).text, explained->live_blocks,
	    plural(explained->live_blocks));
	for (; retained < end && is_suspect(retained, explained); retained++)
		put_suspect(out, retained, explained, style);
	mu_put(
	    out, "  %12s %14s %10s  holder\n", "retained", "share", "blocks");
	for (retained = explained->retained; retained < end; retained++) {
		mu_put(out, "  %12s %14s %10zu  %s",
		    mu_human_bytes(retained->bytes).text,
		    mu_human_percent(retained->bytes, explained->live_bytes)
			.text,
		    retained->blocks, retained->about ? "about: " : "");
		put_place(out, &retained->holder);
		if (retained->holder.kind == MU_STEP_BLOCK &&
		    retained->num_steps > 1) {
			mu_put(out, ", of ");
			put_place(out, &retained->path[0]);
			mu_put(out, " and others");
		}
		mu_put(out, "\n");
	}
	if (explained->holders > explained->num_retained)
		mu_put(out, "  ... and %zu more holders\n",
		    explained->holders - explained->num_retained);
	mu_put(out, "\n");
}

static void
put_referrers(const struct mu_out *out, const struct mu_why_held *why)
{
	size_t i;

	mu_put(out, "  %zu reference%s to it:\n", why->total_referrers,
	    plural(why->total_referrers));
	/* Each referrer is a path of one step. */
	for (i = 0; i < why->num_referrers; i++)
		put_path(out, &why->referrers[i], 1, "    ");
	if (why->counter != NULL && why->uses > why->references)
		mu_put(out,
		    "  %s %zu, %zu reference%s found: the others were"
		    " not released, or are hidden\n",
		    why->counter, why->uses, why->references,
		    plural(why->references));
	if (why->total_referrers > why->num_referrers)
		mu_put(out, "    ... and %zu more\n",
		    why->total_referrers - why->num_referrers);
}

static void
put_why(const struct mu_out *out, const struct mu_why_held *why,
    uintptr_t address, bool all)
{
	mu_put(out, "Why %lx lives: ", (unsigned long)address);
	if (why->known && !why->found)
		mu_put(out, "no live block has this address.\n");
	else if (why->known && !why->reachable)
		mu_put(out, "it is lost: no root leads to it.\n");
	else if (why->num_steps == 0)
		mu_put(out, "not known.\n");
	else
		mu_put(out, "the shortest path to it%s:\n",
		    why->about ? " (only doubtful words lead to it)" : "");
	if (why->num_steps > 0)
		put_line(out, why->path, why->num_steps, "  ");
	put_path(out, why->path, why->num_steps, "  ");
	if (why->found && all)
		put_referrers(out, why);
	mu_put(out, "\n");
}

static void
put_why_type(const struct mu_out *out, const struct mu_explained *explained)
{
	const struct mu_why_type *why = &explained->why_type;
	const struct mu_why_held *held;
	size_t i;

	mu_put(out, "Why ");
	mu_put_safe(out, explained->wanted.why_type);
	mu_put(out, " lives: ");
	if (!why->known) {
		mu_put(out, "not known.\n\n");
		return;
	}
	if (why->blocks == 0) {
		mu_put(out,
		    "no reachable block has this type, as far as types are"
		    " known.\n\n");
		return;
	}
	mu_put(out, "%s in %zu reachable block%s; the nearest to a root%s:\n\n",
	    mu_human_bytes(why->bytes).text, why->blocks, plural(why->blocks),
	    why->count < why->blocks ? " of these" : "");
	for (i = 0; i < why->count; i++) {
		held = &why->nearest[i];
		if (held->num_steps > 0)
			put_why(out, held,
			    held->path[held->num_steps - 1].address,
			    explained->wanted.all);
	}
}

static void
put_duplicates(const struct mu_out *out, const struct mu_explained *explained,
    const struct mu_shown *shown)
{
	const struct mu_duplicate *text = explained->duplicates;
	const struct mu_duplicate *end = text +
	    (explained->num_duplicates < TEXTS_SHOWN ? explained->num_duplicates
						     : TEXTS_SHOWN);

	if (explained->duplicate_blocks == 0)
		return;
	mu_put(out, "  Repeated texts: %zu block%s, %s\n",
	    explained->duplicate_blocks, plural(explained->duplicate_blocks),
	    mu_human_bytes(explained->duplicate_bytes).text);
	for (; text < end; text++) {
		mu_put(out, "  %12s %14s %10zu  a text of %zu bytes, as at %lx",
		    mu_human_bytes((text->count - 1) * text->size).text, "",
		    text->count, text->length, (unsigned long)text->address);
		if (shown->contents) {
			mu_put(out, ": \"");
			mu_put_safe(out, text->text);
			mu_put(out, "\"%s",
			    strlen(text->text) < text->length ? "..." : "");
		}
		mu_put(out, "\n");
	}
}

/* What each stack allocated that is in use. */
static void
put_stacks(const struct mu_out *out, const struct mu_explained *explained)
{
	const struct mu_in_use_stack *stack = explained->stacks;
	size_t i, j;

	if (explained->num_stacks == 0)
		return;
	mu_put(out, "  By the stack that allocated it (%s were asked for):\n",
	    mu_human_bytes(explained->asked_bytes).text);
	for (i = 0; i < explained->num_stacks && i < STACKS_SHOWN;
	     i++, stack++) {
		mu_put(out, "  %12s %14s %10zu  %s asked for\n",
		    mu_human_bytes(stack->bytes).text,
		    mu_human_percent(stack->bytes, explained->live_bytes).text,
		    stack->count, mu_human_bytes(stack->asked).text);
		for (j = 0; j < stack->num_frames && j < FRAMES_SHOWN; j++)
			mu_frame_line_symbol(out, j, stack->pcs[j],
			    stack->frames[j].module == NULL
				? NULL
				: &stack->frames[j]);
		if (stack->num_frames == 0)
			mu_put(out, MU_FRAME_INDENT "(no stack)\n");
		else if (stack->num_frames > j)
			mu_put(out, MU_FRAME_INDENT "...\n");
	}
	if (explained->total_stacks > i)
		mu_put(out, "  ... and %zu more stack%s\n",
		    explained->total_stacks - i,
		    plural(explained->total_stacks - i));
}

static void
put_in_use(const struct mu_out *out, const struct mu_explained *explained,
    const struct mu_shown *shown)
{
	const struct mu_in_use *use = explained->in_use;
	size_t i;

	mu_put(out, "What is in use (%s in %zu block%s):\n",
	    mu_human_bytes(explained->live_bytes).text, explained->live_blocks,
	    plural(explained->live_blocks));
	mu_put(out, "  %12s %14s %10s  size\n", "bytes", "share", "blocks");
	for (i = 0; i < explained->num_in_use && i < SIZES_SHOWN; i++, use++) {
		mu_put(out, "  %12s %14s %10zu  %zu bytes",
		    mu_human_bytes(use->size * use->count).text,
		    mu_human_percent(
			use->size * use->count, explained->live_bytes)
			.text,
		    use->count, use->size);
		if (use->type != NULL) {
			mu_put(out, ", %s",
			    use->certain || use->content ? "" : "probably ");
			mu_put_safe(out, use->type);
		}
		if (use->duplicates > 0)
			mu_put(out, ", %zu repeat a text", use->duplicates);
		mu_put(out, "\n");
	}
	if (explained->num_sizes > i)
		mu_put(
		    out, "  ... and %zu more rows\n", explained->num_sizes - i);
	put_duplicates(out, explained, shown);
	if (explained->recorded_blocks > 0)
		mu_put(out,
		    "  Slack: of %s in %zu recorded block%s, %s were not"
		    " asked for\n",
		    mu_human_bytes(explained->recorded_bytes).text,
		    explained->recorded_blocks,
		    plural(explained->recorded_blocks),
		    mu_human_bytes(
			explained->recorded_bytes - explained->asked_bytes)
			.text);
	put_stacks(out, explained);
	mu_put(out, "\n");
}

void
mu_explained_text(const struct mu_out *out,
    const struct mu_explained *explained, const struct mu_shown *shown)
{
	const struct mu_explain *wanted = &explained->wanted;

	if (wanted->in_use)
		put_in_use(out, explained, shown);
	if (wanted->retained > 0)
		put_retained(out, explained, &shown->style);
	if (wanted->why)
		put_why(out, &explained->why, wanted->address, wanted->all);
	if (wanted->why_type != NULL)
		put_why_type(out, explained);
	if (explained->note[0] == '\0')
		return;
	mu_put(out, "Not all is explained: ");
	mu_put_safe(out, explained->note);
	mu_put(out, "\n");
}
