"""A Chromium without a window, driven over its pipe: pages opened, asked, clicked and dragged as people do. Python's own library only."""

import json
import os
import shutil
import subprocess
import tempfile
import time


def find_browser():
    return next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


class Chromium:
    """One page of a browser with a profile of its own. To be used in a `with`."""

    def __init__(self, width=1280, height=1400):
        self.size = (width, height)
        self.next_id = 0
        self.session = None
        self.events = []

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="auspex-browser-")
        to_browser, self.to_browser = os.pipe()
        self.from_browser, from_browser = os.pipe()

        def give_pipes():  # the browser reads descriptor 3 and writes descriptor 4
            source, sink = os.dup(to_browser), os.dup(from_browser)
            os.dup2(source, 3)
            os.dup2(sink, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
                 f"--user-data-dir={self.profile}", f"--window-size={self.size[0]},{self.size[1]}", "about:blank"]
        self.process = subprocess.Popen([find_browser(), *flags], close_fds=False, preexec_fn=give_pipes,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        page = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(domain + ".enable")
        self.send("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1], deviceScaleFactor=1, mobile=False)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self):
        while b"\0" not in self.buffer:
            part = os.read(self.from_browser, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **parameters):
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def faults(self):
        """What scripts threw and the console complained of so far."""
        said = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                said.append(details.get("exception", {}).get("description", details["text"]))
            if event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                said.append(event["params"]["entry"]["text"] + " " + event["params"]["entry"].get("url", ""))
        return said

    def open(self, address):
        self.send("Page.navigate", url=address)

    def ask(self, expression):
        """The value of a JavaScript expression, a promise's once it is kept."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, expression, seconds=20):
        end = time.monotonic() + seconds
        while not self.ask(f"!!({expression})"):
            if time.monotonic() > end:
                raise RuntimeError(f"waited {seconds} s for {expression}")
            time.sleep(0.02)

    def mouse(self, kind, x, y, buttons=0):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if kind != "mouseMoved" or buttons else "none",
                  buttons=buttons, clickCount=1)

    def drag(self, selector, shares, pause=0.03):
        """Takes a slider by its thumb and moves it to these shares of its length, one after another."""
        box = self.ask(f"""(() => {{
            const input = document.querySelector({json.dumps(selector)});
            input.scrollIntoView({{block: "center"}});
            const box = input.getBoundingClientRect(), share = (input.value - input.min) / (input.max - input.min);
            return [box.left, box.top + box.height / 2, box.width, share];
        }})()""")
        left, y, width, share = box
        thumb = 16  # pixels, within which its middle moves
        at = lambda part: left + thumb / 2 + part * (width - thumb)
        self.mouse("mouseMoved", at(share), y)
        self.mouse("mousePressed", at(share), y, 1)
        for part in shares:
            self.mouse("mouseMoved", at(part), y, 1)
            time.sleep(pause)
        self.mouse("mouseReleased", at(shares[-1]), y)
