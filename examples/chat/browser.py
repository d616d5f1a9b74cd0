#!/usr/bin/env python3
"""Two people talk in two browsers while one of their gateways is killed. Both must show all messages once, in the same order.

    DATABASE_URL=... browser.py GATEWAY [FOLDER]

GATEWAY is the program imid-chat. Screenshots of both pages are written to FOLDER. It needs Chromium, which it controls through pipes
(--remote-debugging-pipe), and no package.
"""

import base64
import fcntl
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
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
        end = time.monotonic() + 60
        while not self.run(script):
            if time.monotonic() > end:
                sys.exit(f"browser.py: after 60 s not {what}: {self.run('document.body.innerText')}")
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
        environment = {**os.environ, "CHAT_LISTEN": self.address, "CHAT_NAME": self.name}
        self.process = subprocess.Popen([self.program], env=environment, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while True:
            try:
                return urllib.request.urlopen(f"http://{self.address}/ready", timeout=5).close()
            except OSError:
                if time.monotonic() > end:
                    sys.exit(f"browser.py: {self.name} is not ready after 60 s")
                time.sleep(0.1)

    def kill(self):
        self.process.kill()
        self.process.wait()


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
                print("the gateway of alice is killed")
            if n == 2 * EACH // 3:
                alice.until("$('state').textContent == 'connecting'", "connecting")
                gateways[0].start()
                print("the gateway of alice is back")
            time.sleep(0.05)
        for page, name in ((alice, "alice"), (bob, "bob")):
            page.until(f"$('messages').children.length == {2 * EACH} && !document.querySelector('.sending')", f"complete for {name}")
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
    finally:
        browser.process.kill()
        browser.process.wait()
        for gateway in gateways:
            gateway.kill()
        shutil.rmtree(profile, ignore_errors=True)


if __name__ == "__main__":
    main()
