"""An agent in Python's standard library: registers, checks who calls, answers, and says every so often that it is alive."""
import hashlib
import hmac
import json
import os
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

PROVISO_URL = os.environ.get("PROVISO_URL", "http://127.0.0.1:3003")
TOKEN = os.environ.get("PROVISO_TOKEN", "")
CAPABILITY = "writer.en"
key = b""


def write(brief):
    """The work: copy for a brief. A real agent would ask a model here."""
    body = ". ".join(brief["keyPoints"])
    return {"copyVariants": [{"headline": brief["angle"], "body": body, "callToAction": "Read more"}]}


def is_genuine(headers, body):
    timestamp = headers.get("proviso-timestamp", "")
    if not key or not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:  # without a key anybody could sign
        return False
    call = [unquote(headers.get(name, "")) for name in ("proviso-run-id", "proviso-node-id")]
    signed = [timestamp, headers.get("proviso-nonce", ""), *call, headers.get("proviso-attempt", ""), ""]
    wanted = "v1=" + hmac.new(key, ".".join(signed).encode() + body, hashlib.sha256).hexdigest()
    given = headers.get("proviso-signature", "").split(",")
    return any(hmac.compare_digest(each.encode(), wanted.encode()) for each in given)


class Agent(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        genuine = is_genuine(self.headers, body)
        # The same idempotency-key is the same call: an agent that changes the world looks here whether it has done it.
        answer = json.dumps(write(json.loads(body)["inputs"]["writerBrief"])).encode() if genuine else b""
        self.send_response(200 if genuine else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    log_message = staticmethod(lambda *_: None)


def proviso(method, path, body):
    url = f"{PROVISO_URL}/api/v1/flex/capabilities{path}"
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def register(port):
    global key
    seconds = float(os.environ.get("HEARTBEAT_SECONDS", "30"))
    about = {"version": "1.0.0", "displayName": "Writer", "summary": "Writes copy for a brief", "idempotent": True}
    contracts = {"inputContract": ["writerBrief"], "outputContract": ["copyVariants"], "rotateKey": True}
    endpoint = {"endpoint": {"url": f"http://127.0.0.1:{port}/"}, "heartbeat": {"intervalSeconds": seconds}}
    done = proviso("POST", "/register", {"capabilityId": CAPABILITY, **about, **contracts, **endpoint})
    key = done["signingKey"].encode()
    return done["heartbeat"]["intervalSeconds"]


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4003"))), Agent)
threading.Thread(target=server.serve_forever, daemon=True).start()
interval = register(server.server_port)
print(f"{CAPABILITY} is registered and listens", flush=True)
known = True
while True:
    time.sleep(interval if known else 1)
    try:
        known = bool(proviso("PATCH", f"/{CAPABILITY}", {}) if known else register(server.server_port))
    except OSError as error:  # the server is away for a moment, or (404) does not know us any more
        known = getattr(error, "code", 0) != 404
        print(error, flush=True)
