#include "config.h"

#include "cli/requests.h"

#include "cli/engine_run.h"
#include "store/lock.h"

#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_WAIT_MS = 60000, LOOK_AGAIN_MS = 50 };

static int64_t steady_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Looks at one request row; true when it is answered. */
static bool answered(struct cli *cli, struct act_item *item)
{
	struct request_row row;

	if (view_request(cli->setup.view, item->request, &row) != ST_OK)
		return false;
	if (strcmp(row.state, "done") && strcmp(row.state, "failed"))
		return false;
	item->result = strcmp(row.state, "done") ? ACT_REFUSED : ACT_DONE;
	text_set(item->words, sizeof(item->words), span_of(row.result));
	return true;
}

static size_t look(struct cli *cli, struct act_item *items, size_t n)
{
	size_t open = 0;

	for (size_t i = 0; i < n; i++)
		if (items[i].result == ACT_REQUESTED && items[i].request)
			open += !answered(cli, &items[i]);
	return open;
}

static void wait_for_answers(struct cli *cli, struct act_item *items,
			     size_t n, int stop_fd)
{
	int64_t end = steady_ms() + ANSWER_WAIT_MS;
	struct pollfd stop = {stop_fd, POLLIN, 0};

	while (look(cli, items, n) && steady_ms() < end)
		if (poll(&stop, 1, LOOK_AGAIN_MS) > 0)
			break;
}

static int run_requests(struct cli *cli, struct act_item *items, size_t n)
{
	struct engine_setup e;
	struct engine *engine;
	struct buf error = BUF_INIT;
	int fd = signals_fd(cli), code;

	if (fd < 0)
		return EXIT_IO;
	engine_fill(cli, &e, "requests");
	e.requests_only = true;
	code = engine_start(&e, &engine, &error);
	if (code) {
		cli_fail(cli, code, "%s", buf_text(&error));
	} else {
		wait_for_answers(cli, items, n, fd);
		engine_stop(engine);
	}
	buf_release(&error);
	close(fd);
	return code;
}

int requests_wait(struct cli *cli, struct act_item *items, size_t n)
{
	char host[64], state[16];
	int64_t pid;
	int code = 0;

	if (!look(cli, items, n))
		return 0;
	if (engine_lock_held(cli->setup.store_path, &pid, host, state))
		wait_for_answers(cli, items, n, -1);
	else
		code = run_requests(cli, items, n);
	for (size_t i = 0; i < n; i++)
		if (items[i].result == ACT_REQUESTED && !items[i].words[0])
			text_set(items[i].words, sizeof(items[i].words),
				 SPAN("asked; the engine has not answered yet"));
	return code;
}
