/* vt_priv.h - tests: between vt.c and vt_keeper.c. */
#ifndef EDCSYNC_TESTS_VT_PRIV_H
#define EDCSYNC_TESTS_VT_PRIV_H

#include "vt.h"

/* What the keeper says. */
struct vt_word {
	char what;			/* b began, z stopped, e ended */
	int value;			/* pid, signal, status */
	struct termios modes;		/* b: of the terminal, untouched */
};

/* Never returns: the keeper is the leader of the new terminal's session. up:
 * words go there; down: 'f' continues, its end ends the keeper. */
void vt_keep(const struct vt_start *, int up, int down)
	__attribute__((noreturn));

#endif
