#!/usr/bin/env python3
"""The program against servers that others wrote: make check-peers.

Nothing is installed: what is missing is told, with the way to get it, and
counted as skipped. Names of files (token_server) or of cases as arguments
choose. KEEP=1 keeps the folder of what failed."""
import importlib
import sys

import peers

FILES = ("token_server", "gateway", "killed", "fhir",
         "wiremock")


def main():
    cases = [(f, c) for f in FILES
             for c in importlib.import_module(f).CASES]
    known = set(FILES) | {c.__name__ for _, c in cases}
    for name in sys.argv[1:]:
        if name not in known:
            sys.exit("run.py: %s is neither a file nor a case: %s" %
                     (name, " ".join(sorted(known))))
    ends = [peers.one(c) for f, c in cases if not sys.argv[1:] or
            f in sys.argv[1:] or c.__name__ in sys.argv[1:]]
    for words in peers.missing:
        print("not here: " + words)
    print("%d passed, %d failed, %d skipped" % tuple(
        ends.count(w) for w in ("passed", "FAILED", "SKIPPED")))
    sys.exit(1 if "FAILED" in ends else 0)


if __name__ == "__main__":
    main()
