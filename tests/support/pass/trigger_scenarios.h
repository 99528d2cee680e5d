/*
 * The programs that tests/live/pass/test_triggers.c signals: idle, busy,
 * daemons. Each prints "ready", and ends when its input ends.
 */
#ifndef TESTS_SUPPORT_PASS_TRIGGER_SCENARIOS_H
#define TESTS_SUPPORT_PASS_TRIGGER_SCENARIOS_H

#include "tests/support/scenario.h"

#define SIGNO (SIGRTMIN + 5)

extern const struct scenario trigger_scenarios[];

#endif
