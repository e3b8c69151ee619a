"""A terminal for end-to-end tests: a pty, and as much of an xterm as ncurses
asks for. It keeps the screen as text, the modes that were set, and whatever
bytes came."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from lib import Failed, LONG, expect

CSI = re.compile(rb"\x1b\[([?>=]?)([0-9;:]*)([ -/]*)([@-~])")
OSC = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
SHORT = re.compile(rb"\x1b(?:[()*+][0-9A-Za-z]|[0-9=>78cDEHMZ])")
# Written behind what a program said last, by us: no terminal shows it, and
# when it has come, so has everything before it.
LAST = b"\x1b]last\x07"
INCOMPLETE = re.compile(rb"\x1b(?:\[[?>=]?[0-9;:]*[ -/]*|\][^\x07]*|[()*+]?)$")


class Screen:
    def __init__(self, rows, cols):
        self.rows, self.cols = rows, cols
        self.cell = [[" "] * cols for _ in range(rows)]
        self.row = self.col = 0
        self.top, self.bottom = 0, rows - 1
        self.modes = {}
        self.last = " "
        self.rest = b""

    def resize(self, rows, cols):
        for line in self.cell:
            line[cols:] = [" "] * (cols - len(line))
        self.cell[rows:] = [[" "] * cols
                            for _ in range(rows - len(self.cell))]
        self.rows, self.cols = rows, cols
        self.top, self.bottom = 0, rows - 1
        self.row, self.col = min(self.row, rows - 1), min(self.col, cols - 1)

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cell)

    def put(self, ch):
        if self.col >= self.cols:
            self.col = 0
            self.newline()
        self.cell[self.row][self.col] = ch
        self.col += 1
        self.last = ch

    def newline(self):
        if self.row == self.bottom:
            self.scroll(1)
        elif self.row < self.rows - 1:
            self.row += 1

    def scroll(self, n):
        for _ in range(n):
            del self.cell[self.top]
            self.cell.insert(self.bottom, [" "] * self.cols)

    def scroll_down(self, n):
        for _ in range(n):
            del self.cell[self.bottom]
            self.cell.insert(self.top, [" "] * self.cols)

    def short(self, letter):
        if letter == "D":
            self.newline()
        elif letter == "E":
            self.col = 0
            self.newline()
        elif letter == "M" and self.row == self.top:
            self.scroll_down(1)
        elif letter == "M":
            self.row = max(self.row - 1, 0)

    def lines(self, n, insert):
        if not self.top <= self.row <= self.bottom:
            return
        for _ in range(n):
            if insert:
                del self.cell[self.bottom]
                self.cell.insert(self.row, [" "] * self.cols)
            else:
                del self.cell[self.row]
                self.cell.insert(self.bottom, [" "] * self.cols)

    def erase(self, row, first, last):
        for col in range(max(first, 0), min(last, self.cols)):
            self.cell[row][col] = " "

    def csi(self, private, text, final):
        number = [int(x) if x else 0
                  for x in text.replace(":", ";").split(";")]
        n = max(number[0], 1)
        if private == "?" and final in "hl":
            for mode in number:
                self.modes[mode] = final == "h"
        elif private or final in "mnctqu":
            return
        elif final in "Hf":
            self.row = n - 1
            self.col = max(number[1], 1) - 1 if len(number) > 1 else 0
        elif final == "d":
            self.row = n - 1
        elif final in "G`":
            self.col = n - 1
        elif final in "AF":
            self.row -= n
        elif final in "BE":
            self.row += n
        elif final == "C":
            self.col += n
        elif final == "D":
            self.col -= n
        elif final == "J":
            self.erase_screen(number[0])
        elif final == "K":
            first, last = [(self.col, self.cols), (0, self.col + 1),
                           (0, self.cols)][number[0]]
            self.erase(self.row, first, last)
        elif final == "X":
            self.erase(self.row, self.col, self.col + n)
        elif final == "P":
            line = self.cell[self.row]
            del line[self.col:self.col + n]
            line += [" "] * (self.cols - len(line))
        elif final == "@":
            line = self.cell[self.row]
            line[self.col:self.col] = [" "] * n
            del line[self.cols:]
        elif final in "LM":
            self.lines(n, final == "L")
        elif final == "S":
            self.scroll(n)
        elif final == "T":
            self.scroll_down(n)
        elif final == "r":
            self.top = n - 1
            self.bottom = (number[1] if len(number) > 1 and number[1]
                           else self.rows) - 1
            self.row = self.col = 0
        elif final == "b":
            for _ in range(n):
                self.put(self.last)
        elif final not in "hl":
            raise Failed("the terminal does not know CSI %s %s" %
                         (text, final))
        self.row = min(max(self.row, 0), self.rows - 1)
        self.col = min(max(self.col, 0), self.cols)

    def erase_screen(self, how):
        for row in range(self.rows):
            if how == 2 or (how == 0 and row > self.row) or \
                    (how == 1 and row < self.row):
                self.erase(row, 0, self.cols)
        if how == 0:
            self.erase(self.row, self.col, self.cols)
        elif how == 1:
            self.erase(self.row, 0, self.col + 1)

    def feed(self, data):
        data = self.rest + data
        at = 0
        self.rest = b""
        while at < len(data):
            byte = data[at]
            if byte == 0x1b:
                m = CSI.match(data, at)
                if m:
                    self.csi(m[1].decode(), m[2].decode(), m[4].decode())
                else:
                    m = OSC.match(data, at)
                if not m:
                    m = SHORT.match(data, at)
                    if m and len(m[0]) == 2:
                        self.short(m[0][1:].decode())
                if m:
                    at = m.end()
                elif INCOMPLETE.match(data, at):
                    self.rest = data[at:]
                    return
                else:
                    raise Failed("the terminal does not know %r" %
                                 data[at:at + 12])
                continue
            size = 1 if byte < 0x80 else 2 if byte < 0xe0 else \
                3 if byte < 0xf0 else 4
            if at + size > len(data):
                self.rest = data[at:]
                return
            self.one(byte, data[at:at + size])
            at += size

    def one(self, byte, data):
        if byte == 13:
            self.col = 0
        elif byte == 10:
            self.newline()
        elif byte == 8:
            self.col = max(self.col - 1, 0)
        elif byte == 9:
            self.col = min((self.col // 8 + 1) * 8, self.cols - 1)
        elif byte >= 32:
            self.put(data.decode(errors="replace"))


class Console:
    """A program on a terminal of its own."""

    def __init__(self, argv, rows=24, cols=80, env=None, cwd=None):
        """pid is the program's; below it stands what a shell is for it."""
        self.screen = Screen(rows, cols)
        self.raw = b""
        self.status = None
        self.gone = False
        self.fd, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, cols, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        names = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8",
                     TZ="UTC")
        names.update(env or {})
        names = {k: v for k, v in names.items() if v is not None}
        told, tell = os.pipe()
        self.shell = os.fork()
        if not self.shell:
            os.close(self.fd)
            os.close(told)
            self.own_terminal(slave)
            self.keep([str(a) for a in argv], names, cwd, tell)
        os.close(tell)
        self.pid = int(os.read(told, 32))
        os.close(told)

    @staticmethod
    def keep(argv, names, cwd, tell):
        """Does what a shell does, and ends as the program ends."""
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ready, go = os.pipe()
        pid = os.fork()
        if not pid:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            for sig in (signal.SIGTTOU, signal.SIGHUP, signal.SIGINT):
                signal.signal(sig, signal.SIG_DFL)
            os.read(ready, 1)
            if cwd:
                os.chdir(cwd)
            os.execve(argv[0], argv, names)
        os.write(tell, b"%d" % pid)
        os.close(tell)
        os.write(go, b".")
        while True:
            _, status = os.waitpid(pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                code = os.waitstatus_to_exitcode(status)
                os._exit(code if code >= 0 else 128 - code)

    @staticmethod
    def own_terminal(slave):
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(slave, fd)
        if slave > 2:
            os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.shell, 0)
        if not self.gone:
            os.close(self.fd)
            os.close(self.slave)

    def pump(self, seconds=0.02):
        """Takes what came, waiting a moment for it."""
        if self.gone:
            time.sleep(seconds)
            return
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return
        self.raw += data
        self.screen.feed(data)

    def text(self):
        return self.screen.text()

    def until(self, what, condition, seconds=LONG):
        end = time.monotonic() + seconds
        while not condition():
            self.poll()
            if self.status is not None:
                if condition():
                    break
                raise Failed("it ended with %s before: %s\n%s" %
                             (self.status, what, self.text()))
            if time.monotonic() > end:
                raise Failed("waited in vain: %s\n%s" % (what, self.text()))
            self.pump()

    def wait(self, *words, seconds=LONG):
        self.until("on the screen: %s" % (words,),
                   lambda: all(w in self.text() for w in words), seconds)

    def wait_not(self, word, seconds=LONG):
        self.until("no longer on the screen: %s" % word,
                   lambda: word not in self.text(), seconds)

    def keys(self, text):
        os.write(self.fd, text if isinstance(text, bytes) else text.encode())

    def paste(self, text):
        self.keys("\x1b[200~" + text + "\x1b[201~")

    def resize(self, cols, rows):
        self.screen.resize(rows, cols)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, cols, 0, 0))

    def poll(self):
        if self.status is None:
            pid, status = os.waitpid(self.shell, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.last_words()
        return self.status

    def last_words(self):
        """A terminal hands on what was written when it finds the time."""
        if self.gone:
            return
        os.write(self.slave, LAST)
        end = time.monotonic() + LONG
        while not self.raw.endswith(LAST):
            if time.monotonic() > end:
                raise Failed("its last words never came\n" + self.text())
            self.pump()
        self.raw = self.raw[:-len(LAST)]

    def end(self, seconds=LONG):
        """Its exit code, once it ended by itself."""
        end = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > end:
                raise Failed("it does not end\n" + self.text())
            self.pump()
        return self.status

    def hang_up(self):
        """The connection drops."""
        os.close(self.slave)
        os.close(self.fd)
        self.gone = True

    def clean(self):
        """The terminal is as it was found."""
        expect(termios.tcgetattr(self.slave) == self.before,
               "the terminal's modes were not put back")
        for mode in (1000, 1002, 1003, 1006, 2004, 1049):
            expect(not self.screen.modes.get(mode),
                   "mode %d was left on" % mode)
        expect(self.screen.modes.get(25, True), "the cursor is hidden")
