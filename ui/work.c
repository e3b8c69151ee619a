#include "ui/work.h"

#include "ui/app.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct lane {
	struct work *work;
	enum work_lane which;
	pthread_t thread;
	pthread_cond_t wake;
	/* Under work->lock. */
	struct job *first, **last;	/* that wait */
	struct job *running;
	struct view *view;		/* changed by the thread alone; others
					 * only interrupt it, under the lock */
	/* The thread's own. */
	struct buf error;		/* why there is no view */
	struct buf store_error;
	struct store *store;		/* ACT, while there is work */
	bool store_asked;		/* by the job that runs */
};

struct work {
	const struct ui_world *world;
	pthread_mutex_t lock;
	struct lane lane[LANE_COUNT];
	int lanes;			/* whose threads were started */
	struct job *over, **over_last;	/* finished, under the lock */
	int fd;
	bool ending;			/* under the lock */
};

static void view_drop(struct lane *lane)
{
	struct view *view = lane->view;

	if (!view)
		return;
	pthread_mutex_lock(&lane->work->lock);
	lane->view = NULL;
	pthread_mutex_unlock(&lane->work->lock);
	view_close(view);
}

/* A view that had trouble is opened anew for the next job. */
static void view_ready(struct lane *lane)
{
	struct view *view;
	int result;

	if (lane->view && *view_error(lane->view))
		view_drop(lane);
	if (lane->view)
		return;
	buf_clear(&lane->error);
	view = view_open(lane->work->world->store_path, &lane->error, &result);
	pthread_mutex_lock(&lane->work->lock);
	lane->view = view;
	pthread_mutex_unlock(&lane->work->lock);
}

static struct store *room_store(struct work_room *room)
{
	struct lane *lane = room->private_;
	const struct ui_world *world = lane->work->world;

	assert(lane->which == LANE_ACT);
	lane->store_asked = true;
	if (!lane->store) {
		buf_clear(&lane->store_error);
		lane->store = world->store_open(world->ctx,
						&lane->store_error);
	}
	if (!lane->store)
		room->error = buf_text(&lane->store_error);
	return lane->store;
}

static bool room_stopped(struct work_room *room)
{
	struct lane *lane = room->private_;
	bool stopped;

	pthread_mutex_lock(&lane->work->lock);
	stopped = lane->running->cancelled;
	pthread_mutex_unlock(&lane->work->lock);
	return stopped;
}

static void store_drop(struct lane *lane)
{
	const struct ui_world *world = lane->work->world;

	if (lane->store)
		world->store_close(world->ctx, lane->store);
	lane->store = NULL;
}

static void job_run(struct lane *lane, struct job *job)
{
	const struct ui_world *world = lane->work->world;
	struct work_room room = {.store = room_store,
		.stopped = room_stopped, .private_ = lane};

	view_ready(lane);
	room.view = lane->view;
	room.error = lane->view ? "" : buf_text(&lane->error);
	room.config = world->config;
	room.now_ms = world->now_ms(world->ctx);
	room.utc_offset_min = world->utc_offset_min(world->ctx, room.now_ms);
	lane->store_asked = false;
	job->run(job, &room);
	if (!lane->store_asked)
		return;
	/* Whatever it left behind, the next act begins from nothing. */
	if (lane->store && lane->store->tx != TX_IDLE)
		store_drop(lane);
	if (world->nudge)
		world->nudge(world->ctx);
}

static void tell(struct work *w)
{
	uint64_t one = 1;

	/* It can only fail when it would count too far, and then the
	 * descriptor is readable already. */
	if (write(w->fd, &one, sizeof(one)) < 0)
		assert(errno == EAGAIN);
}

/* Waits for the next job; NULL: the end. The lock is held. An act that was
 * asked for is done, whatever ends. */
static struct job *next_job(struct lane *lane)
{
	struct work *w = lane->work;
	struct job *job;

	while (!lane->first) {
		if (lane->store) {
			pthread_mutex_unlock(&w->lock);
			store_drop(lane);
			pthread_mutex_lock(&w->lock);
			continue;
		}
		if (w->ending)
			return NULL;
		pthread_cond_wait(&lane->wake, &w->lock);
	}
	job = lane->first;
	lane->first = job->next;
	if (!lane->first)
		lane->last = &lane->first;
	job->next = NULL;
	return job;
}

static void *lane_main(void *arg)
{
	struct lane *lane = arg;
	struct work *w = lane->work;
	struct job *job;

	pthread_mutex_lock(&w->lock);
	while ((job = next_job(lane))) {
		lane->running = job;
		/* A wish that came too late for the last job is not for
		 * this one. */
		if (lane->view)
			view_resume(lane->view);
		pthread_mutex_unlock(&w->lock);
		job_run(lane, job);
		pthread_mutex_lock(&w->lock);
		lane->running = NULL;
		*w->over_last = job;
		w->over_last = &job->next;
		tell(w);
	}
	pthread_mutex_unlock(&w->lock);
	view_drop(lane);
	return NULL;
}

/* Signals belong to the main thread, but those that a fault of its own
 * brings to a thread: they must end the program through its handler. */
static void signals_block(sigset_t *before)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT,
				  SIGTRAP, SIGSYS};
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

static bool lanes_start(struct work *w)
{
	sigset_t before;
	int r = 0;

	signals_block(&before);
	for (; w->lanes < LANE_COUNT && !r; w->lanes += !r) {
		struct lane *lane = &w->lane[w->lanes];

		r = pthread_create(&lane->thread, NULL, lane_main, lane);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !r;
}

struct work *work_start(const struct ui_world *world, struct buf *error)
{
	struct work *w = xcalloc(1, sizeof(*w));

	assert(world && world->store_path && error);
	w->world = world;
	w->over_last = &w->over;
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&w->lock, NULL);
	for (int i = 0; i < LANE_COUNT; i++) {
		struct lane *lane = &w->lane[i];

		lane->work = w;
		lane->which = (enum work_lane)i;
		lane->last = &lane->first;
		pthread_cond_init(&lane->wake, NULL);
	}
	if (w->fd >= 0 && lanes_start(w))
		return w;
	buf_addf(error, "cannot start the threads of the console: %s",
		 strerror(errno));
	work_stop(w);
	return NULL;
}

static void jobs_drop(struct job *job)
{
	struct job *next;

	for (; job; job = next) {
		next = job->next;
		job->drop(job);
	}
}

/* Takes the questions that wait out of a lane. The lock is held. */
static struct job *waiting_take(struct lane *lane)
{
	struct job *jobs = lane->first;

	lane->first = NULL;
	lane->last = &lane->first;
	return jobs;
}

static void running_cancel(struct lane *lane)
{
	if (!lane->running || lane->running->cancelled)
		return;
	lane->running->cancelled = true;
	if (lane->view && lane->which != LANE_ACT)
		view_interrupt(lane->view);
}

void work_stop(struct work *w)
{
	struct job *waited[LANE_COUNT] = {NULL};

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	for (int i = 0; i < LANE_COUNT; i++) {
		struct lane *lane = &w->lane[i];

		if (lane->which != LANE_ACT) {
			waited[i] = waiting_take(lane);
			running_cancel(lane);
		}
		pthread_cond_signal(&lane->wake);
	}
	pthread_mutex_unlock(&w->lock);
	for (int i = 0; i < w->lanes; i++)
		pthread_join(w->lane[i].thread, NULL);
	for (int i = 0; i < LANE_COUNT; i++) {
		jobs_drop(waited[i]);
		buf_release(&w->lane[i].error);
		buf_release(&w->lane[i].store_error);
		pthread_cond_destroy(&w->lane[i].wake);
	}
	jobs_drop(w->over);
	pthread_mutex_destroy(&w->lock);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

static bool same_question(const struct job *a, const void *owner, int topic)
{
	return a->owner == owner && a->topic == topic;
}

/* Takes the jobs of an owner (topic < 0: any) out of a list, and gives
 * them; the lock is held. */
static struct job *list_take(struct job **first, struct job ***last,
			     const void *owner, int topic)
{
	struct job *out = NULL, **at = first;

	while (*at) {
		struct job *job = *at;

		if (job->owner != owner ||
		    (topic >= 0 && job->topic != topic)) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		job->next = out;
		out = job;
	}
	*last = at;
	return out;
}

/* An older question is put aside, wherever it is; an act stays. */
static struct job *replace(struct work *w, const struct job *job)
{
	struct lane *lane = &w->lane[job->lane];

	if (job->lane == LANE_ACT)
		return NULL;
	if (lane->running &&
	    same_question(lane->running, job->owner, job->topic))
		running_cancel(lane);
	for (struct job *j = w->over; j; j = j->next)
		if (j->lane == job->lane &&
		    same_question(j, job->owner, job->topic))
			j->cancelled = true;
	return list_take(&lane->first, &lane->last, job->owner, job->topic);
}

void work_ask(struct work *w, struct job *job)
{
	struct lane *lane = &w->lane[job->lane];
	struct job *older;

	assert(job->run && job->drop && job->topic >= 0);
	assert(job->lane < LANE_COUNT);
	job->next = NULL;
	job->cancelled = false;
	pthread_mutex_lock(&w->lock);
	assert(!w->ending);
	older = replace(w, job);
	*lane->last = job;
	lane->last = &job->next;
	pthread_cond_signal(&lane->wake);
	pthread_mutex_unlock(&w->lock);
	jobs_drop(older);
}

void work_cancel(struct work *w, const void *owner)
{
	struct job *older[LANE_COUNT] = {NULL};

	pthread_mutex_lock(&w->lock);
	for (int i = 0; i < LANE_COUNT; i++) {
		struct lane *lane = &w->lane[i];

		if (lane->running && lane->running->owner == owner)
			running_cancel(lane);
		if (lane->which != LANE_ACT) {
			older[i] = list_take(&lane->first, &lane->last, owner,
					     -1);
			continue;
		}
		for (struct job *j = lane->first; j; j = j->next)
			if (j->owner == owner)
				j->cancelled = true;
	}
	for (struct job *j = w->over; j; j = j->next)
		if (j->owner == owner)
			j->cancelled = true;
	pthread_mutex_unlock(&w->lock);
	for (int i = 0; i < LANE_COUNT; i++)
		jobs_drop(older[i]);
}

static bool list_has(const struct job *job, const void *owner, int topic)
{
	for (; job; job = job->next)
		if (same_question(job, owner, topic) && !job->cancelled)
			return true;
	return false;
}

bool work_busy(const struct work *work, const void *owner, int topic)
{
	struct work *w = (struct work *)work;	/* the lock is no content */
	bool busy;

	pthread_mutex_lock(&w->lock);
	busy = list_has(w->over, owner, topic);
	for (int i = 0; i < LANE_COUNT && !busy; i++) {
		const struct job *running = w->lane[i].running;

		busy = list_has(w->lane[i].first, owner, topic) ||
		       (running && !running->cancelled &&
			same_question(running, owner, topic));
	}
	pthread_mutex_unlock(&w->lock);
	return busy;
}

static bool lane_working(const struct lane *lane)
{
	return lane->first || lane->running;
}

bool work_acting(const struct work *work)
{
	struct work *w = (struct work *)work;
	bool acting;

	pthread_mutex_lock(&w->lock);
	acting = lane_working(&w->lane[LANE_ACT]);
	pthread_mutex_unlock(&w->lock);
	return acting;
}

bool work_asking(const struct work *work)
{
	struct work *w = (struct work *)work;
	bool asking;

	pthread_mutex_lock(&w->lock);
	asking = lane_working(&w->lane[LANE_READ]) ||
		 lane_working(&w->lane[LANE_SLOW]);
	pthread_mutex_unlock(&w->lock);
	return asking;
}

int work_fd(const struct work *w)
{
	return w->fd;
}

/* One at a time: what `done` does may cancel the others. */
static struct job *over_next(struct work *w)
{
	struct job *job;

	pthread_mutex_lock(&w->lock);
	job = w->over;
	if (job) {
		w->over = job->next;
		if (!w->over)
			w->over_last = &w->over;
		job->next = NULL;
	}
	pthread_mutex_unlock(&w->lock);
	return job;
}

int work_done(struct work *w)
{
	struct job *job;
	uint64_t count;
	int n = 0;

	/* Before they are looked at: who comes later makes it readable. */
	if (read(w->fd, &count, sizeof(count)) < 0)
		assert(errno == EAGAIN || errno == EINTR);
	for (; (job = over_next(w)); n++) {
		if (!job->cancelled && job->done)
			job->done(job, (void *)job->owner);
		job->drop(job);
	}
	return n;
}
