#include "lib/types/container_part.h"

#include <stdio.h>
#include <string.h>

#define WORDS_MAX                                                   \
	64 /* of the following, which come before the object's type \
	    */
#define CONTROL "shared_ptr control block of "
#define WITH_CONTROL " with its shared_ptr control block" /* behind it */
#define TREE "std::map or std::set node of "
#define LIST "std::list node of "
#define FORWARD_LIST "std::forward_list node of "
#define HASH "std::unordered_map or std::unordered_set node of "

/*
 * The length of the first argument in ARGUMENTS, the text after a template's
 * "<". A parameter list or a lambda may have commas and brackets of any kind.
 */
static size_t
first_argument(const char *arguments)
{
	size_t i, depth = 0;

	for (i = 0; arguments[i] != '\0'; i++) {
		if (strchr("<([{", arguments[i]) != NULL)
			depth++;
		else if (depth == 0 &&
		    (arguments[i] == ',' || arguments[i] == '>'))
			return i;
		else if (strchr(">)]}", arguments[i]) != NULL && depth > 0)
			depth--;
	}
	return 0;
}

bool
mu_container_part(const char *class, char *name, size_t size)
{
	static const struct {
		const char *class;
		bool pointer; /* the argument is a pointer to the object */
		const char *words;
	} kinds[] = {
		{ "std::_Sp_counted_ptr<", true, CONTROL },
		{ "std::_Sp_counted_deleter<", true, CONTROL },
		{ "std::_Sp_counted_ptr_inplace<", false, WITH_CONTROL },
		{ "std::__1::__shared_ptr_pointer<", true, CONTROL },
		{ "std::__1::__shared_ptr_emplace<", false, WITH_CONTROL },
		{ "std::_Rb_tree_node<", false, TREE },
		{ "std::__1::__tree_node<", false, TREE },
		{ "std::_List_node<", false, LIST },
		{ "std::__1::__list_node<", false, LIST },
		{ "std::_Fwd_list_node<", false, FORWARD_LIST },
		{ "std::__1::__forward_list_node<", false, FORWARD_LIST },
		{ "std::__detail::_Hash_node<", false, HASH },
		{ "std::__1::__hash_node<", false, HASH },
	};
	size_t i, length = strlen(class);
	const char *of;

	/* Types inside of these are none of them. */
	if (length == 0 || class[length - 1] != '>')
		return false;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strncmp(class, kinds[i].class, strlen(kinds[i].class)) != 0)
			continue;
		of = class + strlen(kinds[i].class);
		length = first_argument(of);
		if (kinds[i].pointer && length > 1 && of[length - 1] == '*')
			length--;
		else if (kinds[i].pointer)
			length = 0;
		/* Before the ">" of a template after another one. */
		if (length > 1 && of[length - 1] == ' ')
			length--;
		if (length == 0 || length + WORDS_MAX > size)
			return false;
		snprintf(name, size, "%s%.*s%s",
		    kinds[i].words[0] == ' ' ? "" : kinds[i].words, (int)length,
		    of, kinds[i].words[0] == ' ' ? kinds[i].words : "");
		return true;
	}
	return false;
}
