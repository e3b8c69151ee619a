#!/usr/bin/env python3
"""The console's modes: with an engine, attached, reading only; two of them
and commands on one store; how it begins, and every way it ends."""
import contextlib
import json
import os
import signal
import stat
import subprocess
import tempfile

from lib import EDCSYNC, House, LONG, expect, main, subset, wait_for
from terminal import Console


def program(house, *words):
    return [EDCSYNC, "console", "--config", house.dir / "edcsync.json",
            *words]


def prepared(house, n=12, scenario="plain", **kw):
    """A store with some operations that nobody delivers yet."""
    sim = house.sim(scenario)
    house.endpoint("edc", sim, **kw)
    (house.dir / "in.jsonl").write_text(subset(n))
    house.command("submit", "--endpoint", "edc", "in.jsonl")
    return sim


def engine_of(house):
    return house.json("status")[0]["engine"]


def leave(console, code=0):
    """q; where the engine is at work, it asks."""
    console.keys("q")
    console.until("its end, or the question", lambda:
                  console.poll() is not None or "Stay" in console.text())
    if console.poll() is None:
        console.keys("\t\r")
    expect(console.end() == code, "exit", console.status, console.text())
    console.clean()


def no_terminal_is_told_before_anything_is_done():
    with House() as house:
        house.endpoint("edc", house.sim())
        for words in ([], ["console"]):
            done = subprocess.run(
                [EDCSYNC, *words, "--config", house.dir / "edcsync.json"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True)
            expect(done.returncode == 2, done)
            expect("needs a terminal" in done.stderr, done.stderr)
            expect(not done.stdout, done.stdout)
        expect(not (house.dir / "edcsync.db").exists(), "a store was made")


def a_terminal_that_cannot_draw_is_told():
    with House() as house:
        house.endpoint("edc", house.sim())
        for term in ("dumb", None, "", "no-such-terminal"):
            with Console(program(house), env={"TERM": term}) as c:
                expect(c.end() == 2, term, c.status)
                expect("TERM" in c.text() or "terminal" in c.text(),
                       term, c.text())
                c.clean()
        expect(engine_of_none(house), "an engine was started")


def engine_of_none(house):
    done = house.command("status", "--json", codes=None)
    return not done.stdout or \
        json.loads(done.stdout)["engine"]["state"] == "none"


def it_delivers_in_its_window():
    with House() as house:
        sim = prepared(house)
        with Console(program(house)) as c:
            c.wait("engine", "here")
            wait_for("everything committed",
                     lambda: house.states() == {"committed": 12})
            expect(engine_of(house)["state"] == "console", "the lock's word")
            leave(c)
        expect(engine_of(house)["state"] == "none", "the engine goes, too")
        expect(len(sim.ledger()) == 12, "the vendor's ledger")
        house.verify()


def a_program_name_alone_is_the_console():
    with House() as house:
        prepared(house)
        with Console([EDCSYNC, "-c", house.dir / "edcsync.json",
                      "--attach"]) as c:
            c.wait("1 Over", "engine", "none")
            leave(c)


def two_consoles_and_commands_on_one_store():
    with House() as house:
        prepared(house, scenario="plain")
        actor = house.operator()
        with Console(program(house)) as a:
            a.wait("engine", "here")
            with Console(program(house)) as b:
                b.wait("attached")
                b.wait("console %d" % a.pid)
                house.command("pause", "edc", "--reason", "tried", *actor)
                a.wait("paused")
                b.wait("paused")
                house.command("resume", "edc", "--reason", "tried", *actor)
                b.wait_not("paused by")
                leave(b)
            expect(engine_of(house)["state"] == "console",
                   "the first one's engine runs on")
            leave(a)
        house.verify()


def deleted_files_of(pid):
    links = []
    for fd in os.listdir("/proc/%d/fd" % pid):
        with contextlib.suppress(OSError):
            links.append(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
    return [name for name in links if "edcsync.db" in name and
            name.endswith("(deleted)")]


def a_command_does_not_take_the_log_from_under_a_console():
    """An act opens the store once more in the same process; that must not
    cost the process its locks, or the next command believes that it is alone
    and deletes the log with what is in it."""
    with House() as house:
        prepared(house)
        actor = house.operator()
        with Console(program(house)) as c:
            c.wait("engine", "here")
            wait_for("everything committed",
                     lambda: house.states() == {"committed": 12})
            for _ in range(3):
                c.keys("P")
                c.wait("Who are you?")
                c.keys("\x1b")
                c.wait_not("Who are you?")
                op = house.operations()[0]["op_id"]
                house.command("annotate", op, "--reason", "beside", *actor)
                expect(not deleted_files_of(c.pid), deleted_files_of(c.pid))
            house.command("pause", "edc", "--reason", "seen", *actor)
            c.wait("paused")
            leave(c)
        house.verify()
        expect(len(house.json("show", op)[0]["notes"]) == 3, "notes")


def an_act_from_the_console_is_seen_by_all():
    with House() as house:
        prepared(house)
        house.operator(password="correct horse")
        service = house.start("run")
        wait_for("the engine", lambda: engine_of(house)["state"] == "run")
        with Console(program(house)) as a, Console(program(house)) as b:
            a.wait("service", "nobody")
            b.wait("service", "1 Over")
            a.keys(":pause edc\r")
            a.wait("Who are you?")
            a.keys("jdoe\twrong\r")
            a.wait("wrong password")
            a.keys("correct horse\r")
            a.wait("Pause or resume", "In words")
            a.keys("a drill\t\t\t\r")
            a.wait("paused by jdoe", "jdoe manager")
            b.wait("paused by jdoe", "nobody")
            endpoint, = house.json("status")[0]["endpoints"]
            expect(endpoint["paused_by"] == "jdoe", endpoint)
            expect(endpoint["paused_reason"] == "a drill", endpoint)
            a.keys(":signout\r")
            a.wait("nobody")
            leave(a)
            leave(b)
        service.terminate()
        service.wait(LONG)
        house.verify()


def digest_and_verification_come_beside_the_screen():
    with House() as house:
        prepared(house)
        house.command("run", "--until-idle", codes=(0, 1))
        with Console(program(house, "--attach")) as c:
            c.wait("1 Over")
            c.keys(":digest 2h\r")
            c.wait("Since", "12 good answers", "12 reached the vendor")
            c.keys("\x1b")
            c.wait_not("12 reached the vendor")
            c.keys(":verify\r")
            c.wait("intact: every record")
            c.keys("\x1b")
            c.wait_not("every record")
            leave(c)


def beside_a_service_it_attaches_and_says_so():
    with House() as house:
        prepared(house)
        service = house.start("run")
        wait_for("the engine", lambda: engine_of(house)["state"] == "run")
        with Console(program(house)) as c:
            c.wait("attached", "service %d" % service.pid)
            leave(c)
        expect(engine_of(house)["state"] == "run", "the service runs on")
        service.terminate()
        service.wait(LONG)


def attach_starts_no_engine():
    with House() as house:
        prepared(house)
        with Console(program(house, "--attach")) as c:
            c.wait("engine", "none", "1 Over")
            expect(engine_of(house)["state"] == "none", "no engine")
            leave(c)
        expect(house.states() == {"queued": 12}, house.states())


def readonly_refuses_acts_and_needs_no_write_access():
    with House() as house:
        prepared(house)
        with Console(program(house, "--readonly", "--panel=dead")) as c:
            c.wait("reads only", "6 Dead")
            for key in "crdaPu":
                c.keys(key)
            c.wait("only reads")
            c.keys(":pause edc\r")
            c.wait(":pause edc", "only reads")
            c.keys("\x1b")
            c.wait_not(":pause edc")
            expect(engine_of(house)["state"] == "none", "no engine")
            leave(c)


def production_is_asked_about():
    with House() as house:
        prepared(house, environment="production")
        for answer, state in (("", "none"), ("n", "none"), ("y", "console")):
            with Console(program(house)) as c:
                c.wait("production", "[y/N]")
                expect(engine_of(house)["state"] == "none", "asked before")
                c.keys(answer + "\r")
                c.wait("PRODUCTION", "1 Over")
                if state == "console":
                    c.wait("here")
                wait_for("the engine that was wanted",
                         lambda: engine_of(house)["state"] == state)
                leave(c)


def an_engine_can_be_started_and_ended_in_the_window():
    with House() as house:
        prepared(house, environment="production")
        with Console(program(house)) as c:
            c.wait("[y/N]")
            c.keys("n\r")
            c.wait("attached without an engine", "? help")
            c.keys(":engine start\r")
            c.wait("An engine in this window", "Cancel")
            c.keys("\t\r")
            c.wait("here")
            wait_for("delivery",
                     lambda: house.states() == {"committed": 12})
            c.keys(":engine stop\r")
            c.wait("none")
            wait_for("the lock to be free",
                     lambda: engine_of(house)["state"] == "none")
            c.keys(":engine stop\r")
            c.wait("none runs in this window")
            c.keys("\x1b")
            c.wait_not("none runs in")
            leave(c)
        house.verify()


def without_configuration_it_only_reads():
    with House() as house:
        prepared(house)
        with Console([EDCSYNC, "console", "--store",
                      house.dir / "edcsync.db"],
                     env={"HOME": str(house.dir), "XDG_CONFIG_HOME": "",
                          "XDG_CONFIG_DIRS": str(house.dir)}) as c:
            c.wait("only", "reads only", "1 Over")
            leave(c)


def it_begins_where_it_is_told_to():
    with House() as house:
        prepared(house)
        op = house.operations()[0]
        for words, seen in (
                (["--panel=dead", "--filter=site:1"], "Dead letters"),
                (["--panel=rejected", "--filter=age>1s"], "Rejected"),
                (["--filter=state:queued"], "1 of 12"),
                ([op["op_id"]], op["subject_key"]),
                (["nothing-is-called-so"], "no such operation"),
                (["--theme=mono", "--ascii", "--no-mouse"], "1 Over")):
            with Console(program(house, "--attach", *words)) as c:
                c.wait(seen)
                os.kill(c.pid, signal.SIGTERM)
                expect(c.end() == 0, words, c.status)
                c.clean()


def it_needs_a_store_to_attach_to():
    with House() as house:
        house.endpoint("edc", house.sim())
        with Console(program(house, "--attach")) as c:
            expect(c.end() == 66, c.status)
            c.clean()


def mistakes_are_told_before_the_screen_is_taken():
    with House() as house:
        prepared(house)
        for words in (["--panel=nowhere"], ["--theme=beige"],
                      ["--filter=stat:dead"], ["a", "b"]):
            with Console(program(house, *words)) as c:
                expect(c.end() == 2, words, c.status)
                expect(1049 not in c.screen.modes, words, "took the screen")


def without_configuration_it_offers_a_way_in():
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "XDG_CONFIG_HOME": "", "XDG_CONFIG_DIRS": home}
        with Console([EDCSYNC], env=env) as c:
            c.wait("no configuration", "demo", "init", "d, i or q?")
            c.keys("q\r")
            expect(c.end() == 78, c.status)
            c.clean()
        with Console([EDCSYNC], env=env, rows=50) as c:
            c.wait("d, i or q?")
            c.keys("i\r")
            for prompt, answer in (
                    ("Endpoint [", ""), ("Title:", ""), ("Environment", ""),
                    ("Profile", ""), ("Base URL:", "http://127.0.0.1:9/api"),
                    ("Studies:", ""), ("Log-in", "none"),
                    ("Unknown outcomes", ""), ("Write it?", ""),
                    ("Test the endpoint now?", "no"),
                    ("Open the console now?", "")):
                c.wait(prompt)
                c.keys(answer + "\r")
            c.wait("1 Over", "my-edc", "here")
            leave(c)
        expect(os.path.exists(home + "/.config/edcsync/edcsync.db"), "store")


def every_way_it_ends():
    with House() as house:
        prepared(house)
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with Console(program(house)) as c:
                c.wait("here")
                os.kill(c.pid, sig)
                c.end()
                c.clean()
        for command in (":q\r", ":quit\r", "q"):
            with Console(program(house, "--attach")) as c:
                c.wait("1 Over")
                c.keys(command)
                expect(c.end() == 0, command, c.status)
                c.clean()


def a_dropped_connection_ends_it():
    with House() as house:
        prepared(house)
        with Console(program(house)) as c:
            c.wait("here")
            c.hang_up()
            c.end()
        expect(engine_of(house)["state"] == "none", "the lock is free")


def leaving_with_requests_on_the_wire_is_asked_about():
    with House() as house:
        vendor = house.sim({"name": "slow", "seed": 1,
                            "rules": [{"do": "delay", "ms": 60000}]})
        house.endpoint("edc", vendor,
                       retry={"answer_timeout_ms": 60000})
        (house.dir / "in.jsonl").write_text(subset(3))
        house.command("submit", "--endpoint", "edc", "in.jsonl")
        with Console(program(house)) as c:
            c.wait("here")
            wait_for("a request on the wire",
                     lambda: house.states().get("sending"))
            c.keys("q")
            c.wait("3 requests", "Stay")
            c.keys("\x1b")
            c.wait_not("Stay")
            expect(c.poll() is None, "it stayed")
            c.keys("q")
            c.wait("Stay")
            c.keys("\t\r")
            expect(c.end() == 0, c.status)
            c.clean()
        house.verify()


def an_engine_rests_while_the_console_is_stopped():
    with House() as house:
        prepared(house)
        with Console(program(house)) as c:
            c.wait("here")
            c.keys("\x1a")
            wait_for("the lock to be free",
                     lambda: engine_of(house)["state"] == "none")
            wait_for("it to be stopped", lambda: "T" in open(
                "/proc/%d/stat" % c.pid).read().rsplit(")", 1)[1][:3])
            c.until("the shell's own screen",
                    lambda: not c.screen.modes.get(1049))
            c.clean()
            os.kill(c.pid, signal.SIGCONT)
            c.wait("1 Over", "here")
            wait_for("the engine", lambda:
                     engine_of(house)["state"] == "console")
            leave(c)


def pasted_text_is_never_a_key():
    with House() as house:
        prepared(house)
        with Console(program(house, "--attach", "--panel=dead")) as c:
            c.wait("6 Dead")
            for _ in range(20):
                c.paste("rRdDyq\n" * 100)
            c.wait("never taken as keys")
            c.keys("/")
            c.wait("field:value")
            c.paste("state:queued\nq")
            c.wait("/state:queued")
            c.keys("\x1b")
            c.wait_not("/state:queued")
            expect(c.poll() is None, "it still runs")
            leave(c)
        expect(house.states() == {"queued": 12}, house.states())


def the_prompts_name_mistakes():
    with House() as house:
        prepared(house)
        with Console(program(house, "--attach")) as c:
            c.wait("1 Over")
            c.keys("/state:queued stat:x")
            c.wait("stat")
            c.wait("^")
            c.keys("\r")
            c.wait("/state:queued stat:x")      # it stays open
            c.keys("\x1b")
            c.wait_not("stat:x")
            c.keys(":beige\r")
            c.wait(":beige", "no command 'beige'")
            c.keys("\x1b")
            c.wait_not(":beige")
            c.keys(":the\t")
            c.wait(":theme")
            c.keys("mono\r")
            c.wait("? help")
            c.keys(":theme x\r")
            c.wait(":theme x", "the themes are safe")
            c.keys("\x1b")
            c.wait_not(":theme x")
            c.keys(":\x1b[A")
            c.wait(":theme x")
            c.keys("\x1b")
            c.wait_not(":theme x")
            c.keys("?")
            c.wait("Keys in Overview")
            c.keys("\x1b")
            c.wait_not("Keys in")
            leave(c)


def a_list_is_written_to_a_file_of_its_own():
    with House() as house:
        prepared(house)
        with Console(program(house, "--attach"), cwd=house.dir) as c:
            c.wait("1 Over", "edc")
            for n in (1, 2):
                c.keys("\x13")
                wait_for("file %d" % n, lambda: c.pump() or len(
                    list(house.dir.glob("edcsync-overview-*.txt"))) == n)
            for path in house.dir.glob("edcsync-overview-*.txt"):
                expect(stat.S_IMODE(path.stat().st_mode) == 0o600, path)
                expect("edc" in path.read_text(), path.read_text())
            leave(c)


def any_size_will_do():
    with House() as house:
        prepared(house)
        with Console(program(house, "--attach")) as c:
            c.wait("1 Over")
            for i in range(100):
                c.resize(1 + i * 37 % 300, 1 + i * 13 % 100)
                c.pump(0.001)
            c.resize(20, 5)
            c.wait("Too small")
            c.resize(100, 30)
            c.wait("1 Over", "? help")
            c.resize(39, 8)
            c.wait("Too small")
            c.keys("q")                         # there, too
            expect(c.end() == 0, c.status)
            c.clean()


def the_demo_opens_the_console():
    with tempfile.TemporaryDirectory() as home:
        with Console([EDCSYNC, "demo", "--dir", home + "/demo"], rows=30,
                     cols=100) as c:
            c.wait("DEMO", "password demo", "here")
            c.until("something delivered", lambda: "at vendor" in c.text())
            leave(c)
            expect("0 written twice, 0 lost" in c.text(), c.text())


main(no_terminal_is_told_before_anything_is_done,
     a_terminal_that_cannot_draw_is_told,
     it_delivers_in_its_window,
     a_program_name_alone_is_the_console,
     two_consoles_and_commands_on_one_store,
     a_command_does_not_take_the_log_from_under_a_console,
     an_act_from_the_console_is_seen_by_all,
     digest_and_verification_come_beside_the_screen,
     beside_a_service_it_attaches_and_says_so,
     attach_starts_no_engine,
     readonly_refuses_acts_and_needs_no_write_access,
     production_is_asked_about,
     an_engine_can_be_started_and_ended_in_the_window,
     without_configuration_it_only_reads,
     it_begins_where_it_is_told_to,
     it_needs_a_store_to_attach_to,
     mistakes_are_told_before_the_screen_is_taken,
     without_configuration_it_offers_a_way_in,
     every_way_it_ends,
     a_dropped_connection_ends_it,
     leaving_with_requests_on_the_wire_is_asked_about,
     an_engine_rests_while_the_console_is_stopped,
     pasted_text_is_never_a_key,
     the_prompts_name_mistakes,
     a_list_is_written_to_a_file_of_its_own,
     any_size_will_do,
     the_demo_opens_the_console)
