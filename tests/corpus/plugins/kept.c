/* The same under another name, so that it is loaded a second time. */
#include "tests/corpus/plugins/holder.c"
