#include "lib/writers/json_frame.h"

#include "lib/writers/json_values.h"
#include "mu/recorded.h"

static bool
set_place(json_t *object, const char *function, const char *file, unsigned line)
{
	bool ok = true;

	ok &= mu_json_set(object, "function", mu_json_name(function));
	ok &= mu_json_set(object, "file", mu_json_name(file));
	ok &= mu_json_set(
	    object, "line", line > 0 ? mu_json_count(line) : json_null());
	return ok;
}

static json_t *
inlined_array(const struct mu_symbol *symbol)
{
	json_t *callers = json_array(), *caller;
	bool ok = callers != NULL;
	size_t i;

	for (i = 0; ok && i < symbol->num_inlined; i++) {
		caller = json_object();
		ok =
		    json_array_append_new(callers,
			mu_json_done(caller,
			    set_place(caller, mu_symbol_function(symbol, i + 1),
				symbol->inlined[i].file,
				symbol->inlined[i].line))) == 0;
	}
	return mu_json_done(callers, ok);
}

json_t *
mu_json_frame(uintptr_t pc, const struct mu_symbol *symbol)
{
	json_t *frame = json_object();
	bool ok = true;

	ok &= mu_json_set(frame, "pc",
	    symbol->script ? json_null()
			   : mu_json_address((uintptr_t)mu_frame_address(pc)));
	ok &= mu_json_set(frame, "module",
	    symbol->script ? json_null() : mu_json_name(symbol->module));
	ok &= mu_json_set(frame, "build_id", mu_json_name(symbol->build_id));
	ok &= mu_json_set(frame, "offset",
	    symbol->module != NULL && !symbol->script
		? mu_json_address(symbol->offset)
		: json_null());
	ok &= set_place(
	    frame, mu_symbol_function(symbol, 0), symbol->file, symbol->line);
	ok &= mu_json_set(frame, "inlined_into", inlined_array(symbol));
	return mu_json_done(frame, ok);
}
