#!/usr/bin/env python3
"""Two people talk in two browsers while one of their gateways is killed, and a balancer answers 502 in its place. Both must show all
messages once, in the same order, also after the database has lost some of them.

    DATABASE_URL=... browser.py GATEWAY [FOLDER]

GATEWAY is the program imid-chat. Screenshots of both pages are written to FOLDER. It needs Chromium, which it controls through pipes
(--remote-debugging-pipe), and no package.
"""

import base64
import contextlib
import fcntl
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOM, EACH = "private:alice:bob", 30


class Browser:
    """Chromium. Messages are JSON that a zero byte ends, on the file descriptors 3 and 4."""

    def __init__(self, program, folder):
        ours, theirs = [None, None], [None, None]
        theirs[0], ours[1] = os.pipe()
        ours[0], theirs[1] = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in theirs]
        script = f'exec "$@" 3<&{high[0]} 4>&{high[1]}'
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        self.process = subprocess.Popen(["bash", "-c", script, "bash", program, *options, "about:blank"], pass_fds=high,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in [*theirs, *high]:
            os.close(fd)
        self.reader, self.writer = os.fdopen(ours[0], "rb"), os.fdopen(ours[1], "wb", buffering=0)
        self.numbers, self.rest = itertools.count(1), b""

    def call(self, method, session=None, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        self.writer.write(json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                chunk = self.reader.read1(65536)
                if not chunk:
                    sys.exit("browser.py: Chromium has ended")
                self.rest += chunk
            line, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == number:
                if "error" in answer:
                    sys.exit(f"browser.py: {method}: {answer['error']}")
                return answer["result"]

    def page(self, url):
        # A context of its own is another person's browser.
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url=url, browserContextId=context, width=800, height=900)["targetId"]
        return Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session

    def run(self, script):
        answer = self.browser.call("Runtime.evaluate", self.session, expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            sys.exit(f"browser.py: {script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, script, what):
        end = time.monotonic() + 180
        while not self.run(script):
            if time.monotonic() > end:
                sys.exit(f"browser.py: after 180 s not {what}: {self.run('document.body.innerText')}")
            time.sleep(0.1)

    def enter(self, user):
        self.until("document.readyState == 'complete' && !!document.getElementById('enter')", "loaded")
        self.run(f"$('user').value = {json.dumps(user)}; $('room').value = {json.dumps(ROOM)}; $('enter').requestSubmit()")
        self.until("$('state').textContent == 'live'", "live")

    def send(self, body):
        self.run(f"$('body').value = {json.dumps(body)}; $('send').requestSubmit()")

    def shown(self):
        return self.run("[...$('messages').children].map((line) => [Number(line.dataset.number), line.dataset.id, line.childNodes[2].data])")

    def screenshot(self, path):
        image = self.browser.call("Page.captureScreenshot", self.session, format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))


class Gateway:
    def __init__(self, program, name):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.program, self.name = program, name
        self.start()

    def start(self):
        environment = {**os.environ, "CHAT_LISTEN": self.address}
        self.process = subprocess.Popen([self.program], env=environment, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 180
        while True:
            try:
                return urllib.request.urlopen(f"http://{self.address}/ready", timeout=5).close()
            except OSError:
                if time.monotonic() > end:
                    sys.exit(f"browser.py: {self.name} is not ready after 180 s")
                time.sleep(0.1)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def refuse(self):
        """Answers 502 in the place of the gateway, as a balancer does, until the returned function is called. Returns it and the paths."""
        address, port = self.address.split(":")
        listener = socket.create_server((address, int(port)))
        listener.settimeout(0.2)
        is_over, answers = threading.Event(), []

        def serve():
            while not is_over.is_set():
                try:
                    connection = listener.accept()[0]
                except TimeoutError:
                    continue
                # Chromium also opens connections that it does not use.
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(1)
                    request = connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                    answers.extend(path.decode() for path in request.split(b" ")[1:2])

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()

        def end():
            is_over.set()
            thread.join()
            listener.close()

        return end, answers


def lose(count):
    """Takes the last messages of the room out of the database."""
    sql = f"""WITH lost AS (DELETE FROM messages WHERE room = '{ROOM}' AND number > (SELECT last_number FROM rooms WHERE name = '{ROOM}') - {count})
        UPDATE rooms SET last_number = last_number - {count}, last_id = (SELECT id FROM messages WHERE room = '{ROOM}'
        AND number = last_number - {count}) WHERE name = '{ROOM}'"""
    subprocess.run(["psql", "-XqAtc", sql, os.environ["DATABASE_URL"]], check=True, stdout=subprocess.DEVNULL)


def main():
    program, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    chromium = shutil.which("chromium")
    if not chromium:
        sys.exit("browser.py: expected Chromium (Debian's package chromium), found none")
    gateways = [Gateway(program, f"chat-{place}") for place in range(2)]
    profile = tempfile.mkdtemp()
    browser = Browser(chromium, profile)
    try:
        alice, bob = (browser.page(f"http://{gateway.address}/") for gateway in gateways)
        alice.enter("alice")
        bob.enter("bob")
        for n in range(EACH):
            alice.send(f"alice {n}")
            bob.send(f"bob {n}")
            if n == EACH // 3:
                gateways[0].kill()
                stop_refusing, refused = gateways[0].refuse()
                print("the gateway of alice is killed, and a balancer answers 502")
            if n == 2 * EACH // 3:
                alice.until("$('state').textContent == 'connecting'", "connecting")
                # A browser gives a stream up after such an answer, so it is the page that connects again.
                end = time.monotonic() + 60
                while (streams := sum("/events" in path for path in refused)) < 2:
                    assert time.monotonic() < end, f"the page has connected again after 502: {refused}"
                    time.sleep(0.1)
                stop_refusing()
                gateways[0].start()
                print(f"the gateway of alice is back, after {streams} streams that were answered with 502")
            time.sleep(0.05)
        for page, name in ((alice, "alice"), (bob, "bob")):
            page.until(f"$('messages').children.length == {2 * EACH} && !$('sending').children.length", f"complete for {name}")
        time.sleep(1)
        shown = alice.shown()
        if folder:
            os.makedirs(folder, exist_ok=True)
            alice.screenshot(f"{folder}/alice.png")
            bob.screenshot(f"{folder}/bob.png")
        assert shown == bob.shown(), "both see the same messages in the same order"
        assert [number for number, _, _ in shown] == list(range(1, 2 * EACH + 1)), "no number is missing or doubled"
        assert [id for _, id, _ in shown] == sorted(id for _, id, _ in shown), "the IDs are in the order of the numbers"
        wanted = sorted(f"{name} {n}" for name in ("alice", "bob") for n in range(EACH))
        assert sorted(text for _, _, text in shown) == wanted, "each message is shown once"
        for name in ("alice", "bob"):
            own = [text for _, _, text in shown if text.startswith(name)]
            assert own == [f"{name} {n}" for n in range(EACH)], f"the messages of {name} are in the order that {name} sent them"
        print(f"ok: two browsers show the same {len(shown)} messages in the same order")

        # As a failover to a standby without the last commits does. Other messages then have their numbers.
        lose(4)
        bob.send("after the failover")
        wanted = [text for _, _, text in shown[:-4]][-49:] + ["after the failover"]  # a page
        for page, name in ((alice, "alice"), (bob, "bob")):
            page.until(f"$('messages').children.length == {len(wanted)} && !$('sending').children.length", f"anew for {name}")
            assert [text for _, _, text in page.shown()] == wanted, f"{name} shows what is stored"
            if folder:
                page.screenshot(f"{folder}/{name}-after-loss.png")
        print("ok: after a loss of 4 messages both show what is stored")

        # The time for a message must not grow with the messages that are there.
        for _ in range(5):
            few, many = (bob.run(f"""(() => {{ const text = (n) => [15, 10, 5, 0].map((bits) => DIGITS[(n >> bits) & 31]).join(''); replace([]); const start = performance.now();
            for (let n = 0; n < {count}; n++) receive({{ id: 'F3Z9-MB7Y-' + text(n) + '-T3DD', number: n, sender: 'a', body: 'b' }});
            document.body.getBoundingClientRect(); return performance.now() - start; }})()""") for count in (1500, 12000))
            if many < 24 * few:
                break
        assert many < 24 * few, f"12,000 messages took {many:.0f} ms, and 1,500 took {few:.0f} ms"
        print(f"ok: 1,500 messages are shown in {few:.0f} ms, 12,000 in {many:.0f} ms")
    finally:
        browser.process.kill()
        browser.process.wait()
        for gateway in gateways:
            gateway.kill()
        shutil.rmtree(profile, ignore_errors=True)


if __name__ == "__main__":
    main()
