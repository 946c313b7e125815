/* Tools that live in the program's process and watch its calls: the run-time systems of sanitizers,
 * and valgrind. They check what the original functions are given; an engine would do the work out
 * of their sight, on memory and threads that they know nothing of. With them we stay in the
 * process, so that its children are served, and every call goes on to the tool's own function. */
#ifndef HOIST_INTERCEPT_WATCHING_TOOL_H
#define HOIST_INTERCEPT_WATCHING_TOOL_H

/* Why calls are left alone, in plain words; null where no such tool is there. Takes no lock; any
 * thread may ask, a signal handler too. */
const char* watching_tool(void);

#endif
