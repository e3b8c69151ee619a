/*
 * limits.h - floor 0: every bound in one place (CONTRACT.md "Limits").
 * Bytes unless the name says otherwise.
 */
#ifndef EDCSYNC_CORE_LIMITS_H
#define EDCSYNC_CORE_LIMITS_H

#define LIMIT_LINE_BYTES (16u << 20)	/* submit line, payload */
#define LIMIT_ANSWER_BYTES (4u << 20)	/* answer, after decoding */
#define LIMIT_HEADER_BYTES (64u << 10)
#define LIMIT_CONFIG_BYTES (4u << 20)	/* configuration, profile, scenario */
#define LIMIT_JSON_DEPTH 512
#define LIMIT_EXCERPT_BYTES 512
#define LIMIT_ITEMS_BYTES 400		/* list of refused items */
#define LIMIT_REASON_CHARS 1000
#define LIMIT_NOTE_CHARS 8000
#define LIMIT_ID_BYTES 256
#define LIMIT_OP_ID_BYTES 64
#define LIMIT_URL_BYTES 4096
#define LIMIT_INT_DIGITS 4300		/* Python refuses longer integers */
#define LIMIT_SUBMIT_BATCH_LINES 1000	/* lines a transaction */

#define CAP_PACED_IN_A_ROW 20		/* then dead, throttled */
#define CAP_CRASH_CUTS 20		/* then dead, crash_loop */
#define CAP_ODD_ANSWERS 5		/* answers matching no rule: halt */
#define CAP_UNAUTHORISED_OPS 20		/* operations in a row: halt */
#define PROOF_FRESH_MS 5000		/* proven absence to durable resend */

#endif
