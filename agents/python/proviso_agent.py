"""Serves a function as an agent of a Proviso server. Needs nothing but Python 3.9 or newer.

    agent = serve_agent(id="write", input=INPUT, output=OUTPUT, run=write, server={"url": URL, "token": TOKEN}, port=4003)
    agent.wait()

`run(inputs, context)` returns the value, or yields the chunks of its text. `context.reject(message)` ends a call that can
never succeed, `context.ask(question, schema)` asks a person first; any other exception may be retried.
"""
import hashlib
import hmac
import json
import os
import re
import secrets
import select
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

WINDOW_SECONDS = 300
MAX_NONCES = 100_000


def sign(secret, timestamp, nonce, run_id, node_id, attempt, body):
    """Signs `timestamp.nonce.runId.nodeId.attempt.body` with HMAC-SHA256. `body` is bytes."""
    head = f"{timestamp}.{nonce}.{run_id}.{node_id}.{attempt}.".encode()
    return "v1=" + hmac.new(secret.encode(), head + body, hashlib.sha256).hexdigest()


def verify(signature, secret, timestamp, nonce, run_id, node_id, attempt, body, now=None):
    """Returns `good`, `forged` or `stale`. `now` is in seconds since 1970."""
    wanted = sign(secret, timestamp, nonce, run_id, node_id, attempt, body)[3:].encode()
    given = [re.sub("^v1=", "", part.strip()).encode() for part in signature.split(",")[:4]]
    # All are compared, so that the time says nothing about which one matches.
    if not any([hmac.compare_digest(each, wanted) for each in given]):
        return "forged"
    now = time.time() if now is None else now
    is_fresh = re.fullmatch("[0-9]{1,12}", timestamp) and abs(now - int(timestamp)) <= WINDOW_SECONDS
    return "good" if is_fresh else "stale"


class MemoryCallStore:
    """Keeps the newest answers in memory. A restart forgets them."""

    def __init__(self, max_answers=1_000):
        self._records, self._max, self._lock = OrderedDict(), max_answers, threading.Lock()

    def read(self, key):
        with self._lock:
            return self._records.get(key)

    def write(self, key, record):
        with self._lock:
            self._records.pop(key, None)
            self._records[key] = record
            answered = [old for old, each in self._records.items() if each["status"] == "answered"]
            for old in answered[: max(len(answered) - self._max, 0)]:
                del self._records[old]

    def remove(self, key):
        with self._lock:
            self._records.pop(key, None)

    def list_accepted(self):
        with self._lock:
            return [each["call"] for each in self._records.values() if each["status"] == "accepted"]

    def read_signing_key(self):
        return None

    def write_signing_key(self, signing_key):
        """A new key is requested at every start."""


class FileCallStore:
    """Keeps calls and the signing key in a folder, one file each, in the format of `createFileCallStore`."""

    def __init__(self, folder, keep_seconds=7 * 24 * 3_600):
        self._folder, self._keep = folder, keep_seconds

    def _path(self, key):
        return os.path.join(self._folder, hashlib.sha256(key.encode()).hexdigest() + ".json")

    def _load(self, path):
        try:
            with open(path, encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def _save(self, path, value):
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        draft = f"{path}.{os.getpid()}.{secrets.token_hex(4)}"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)

    def read(self, key):
        return self._load(self._path(key))

    def write(self, key, record):
        self._save(self._path(key), record)

    def remove(self, key):
        if os.path.exists(self._path(key)):
            os.remove(self._path(key))

    def list_accepted(self):
        accepted = []
        for name in os.listdir(self._folder) if os.path.isdir(self._folder) else []:
            path = os.path.join(self._folder, name)
            record = self._load(path) if re.fullmatch(r"[0-9a-f]{64}\.json", name) else None
            if record and record["status"] == "accepted":
                accepted.append(record["call"])
            elif record and os.path.getmtime(path) < time.time() - self._keep:
                os.remove(path)
        return accepted

    def read_signing_key(self):
        return (self._load(os.path.join(self._folder, "signing-key.json")) or {}).get("signingKey")

    def write_signing_key(self, signing_key):
        self._save(os.path.join(self._folder, "signing-key.json"), {"signingKey": signing_key})


class _Rejected(Exception):
    pass


class _Asked(Exception):
    def __init__(self, question, schema):
        super().__init__(question)
        self.answer = {"question": question, **({} if schema is None else {"schema": schema})}


class Context:
    """What the function receives beside its inputs: the fields of the call as `context["objective"]`, and these."""

    def __init__(self, body, idempotency_key, cancelled):
        self.body = body
        self.idempotency_key = idempotency_key
        #: An event that is set when the run no longer needs the call, the caller is gone, or the agent closes.
        self.cancelled = cancelled
        #: Answers of people, oldest first: values of the schema of the question, or texts without one.
        self.clarifications = body.get("clarifications", [])

    def __getitem__(self, name):
        return self.body[name]

    def reject(self, message):
        raise _Rejected(message)

    def ask(self, question, schema=None):
        raise _Asked(question, schema)


def _is_kept(answer):
    """Failures and questions may end differently next time."""
    return "output" in answer or "text" in answer or answer.get("error", {}).get("outcome") == "refused"


class _Call:
    """A call in progress. The condition guards all fields."""

    def __init__(self, key, body, before=None):
        self.key, self.body, self.before = key, body, before
        self.condition, self.cancelled = threading.Condition(), threading.Event()
        self.chunks, self.waiting = [], 0
        self.has_ended, self.answer, self.accepted = False, None, None
        self.is_cancelled = False

    def add_chunk(self, chunk):
        with self.condition:
            self.chunks.append(chunk)
            self.condition.notify_all()

    def leave(self):
        with self.condition:
            self.waiting -= 1
            if self.waiting == 0 and not self.accepted:
                self.cancelled.set()

    def wait(self, is_ready, seconds, is_gone):
        """Waits until `is_ready`; returns `ready`, `late` or `gone`."""
        until = None if seconds is None else time.monotonic() + seconds
        with self.condition:
            while not is_ready():
                left = 0.1 if until is None else min(until - time.monotonic(), 0.1)
                if left <= 0:
                    return "late"
                self.condition.wait(left)
                if is_gone():
                    return "gone"
        return "ready"


class Agent:
    """Made by `serve_agent`."""

    def __init__(self, run, registration, server, port, host, url, poll, callback_after, calls, max_bytes, on_error):
        self.id, self._concurrency = registration["capabilityId"], (10 if poll is True else int(poll))
        self._run, self._registration, self._server = run, registration, server
        self._callback_after, self._calls, self._max_bytes = callback_after, calls, max_bytes
        self._on_error = on_error
        self._started = int(time.time())
        self._closing, self._lock, self._stopping = threading.Event(), threading.Lock(), threading.Event()
        self._running, self._threads, self._nonces = {}, set(), OrderedDict()
        self._interval, self._key = 30.0, calls.read_signing_key()
        self._http, self.url = None, None
        if not poll:
            self._http = ThreadingHTTPServer((host, port), type("Handler", (_Handler,), {"agent": self}))
            self._http.daemon_threads = True
            self.url = url or f"http://{host}:{self._http.server_port}/"

    def _start(self):
        if self._http:
            threading.Thread(target=self._http.serve_forever, args=(0.1,), daemon=True).start()
        self._register()
        for call in self._calls.list_accepted():
            if "answer" in call:
                self._spawn(self._deliver, call, call["answer"])
            elif "signingKey" in call:  # the server gives a call that was taken to another worker, or asks a person
                self._calls.remove(call["idempotencyKey"])
            else:
                self._call(call["idempotencyKey"], call["body"], accepted=call)
        threading.Thread(target=self._keep_alive, daemon=True).start()
        for _ in range(self._concurrency):
            threading.Thread(target=self._poll, daemon=True).start()

    def wait(self):
        """Blocks until the agent is closed or the program is interrupted."""
        try:
            self._closing.wait()
        except KeyboardInterrupt:
            self.close()

    def close(self, grace=10.0):
        """Stops heartbeats and new calls, waits for calls in progress, then cancels them. The registration stays."""
        self._stopping.set()
        if self._http:
            self._http.shutdown()
        until = time.monotonic() + grace
        for thread in list(self._threads):
            thread.join(max(until - time.monotonic(), 0))
        self._closing.set()
        for call in list(self._running.values()):
            call.cancelled.set()
        if self._http:
            self._http.server_close()

    def deregister(self):
        self._send("DELETE", "/" + quote(self.id, safe=""))

    # Registration and heartbeats.

    def _send(self, method, path, body=None, timeout=30):
        url = self._server["url"].rstrip("/") + "/api/v1/flex/capabilities" + path
        headers = {"authorization": f"Bearer {self._server['token']}"}
        if body is not None:
            headers["content-type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=timeout) as response:
            text = response.read()
        return json.loads(text) if text else None

    def _register(self):
        failures = 0
        while not self._closing.is_set():
            try:
                # A worker needs no key: every call brings its own.
                rotate = {} if self._key or self._concurrency else {"rotateKey": True}
                endpoint = {"poll": True} if self._concurrency else {"url": self.url}
                registration = {**self._registration, "endpoint": endpoint, **rotate}
                done = self._send("POST", "/register", registration)
                if "signingKey" in done:
                    self._key = done["signingKey"]
                    self._calls.write_signing_key(self._key)
                self._interval = done["heartbeat"]["intervalSeconds"]
                return
            except urllib.error.HTTPError as error:
                if error.code < 500 and error.code != 429:
                    text = error.read().decode("utf-8", "replace")[:1_000]
                    raise RuntimeError(f'Cannot register "{self.id}": the server answered {error.code}: {text}') from error
                self._report(f'register "{self.id}"', error)
            except OSError as error:
                self._report(f'register "{self.id}"', error)
            failures += 1
            self._closing.wait(_backoff(failures))

    # Calls that this worker takes, because the server cannot call it.

    def _poll(self):
        failures, path = 0, f"/{quote(self.id, safe='')}/calls"
        while not self._stopping.is_set():
            try:
                taken = self._send("POST", path, {"waitMs": 25_000}, timeout=40)
                failures = 0
            except Exception as error:
                self._report(f'take a call of "{self.id}"', error)
                failures += 1
                self._stopping.wait(_backoff(failures))
                continue
            # A call that is not begun is given to another worker.
            if taken and not self._stopping.is_set():
                self._try(f'execute a call of "{self.id}"', self._execute_taken, taken, path)

    def _execute_taken(self, taken, path):
        key, path = taken["idempotencyKey"], f"{path}/{quote(taken['idempotencyKey'], safe='')}"
        if not self._renew(path, {"delivery": taken["delivery"]}):
            return
        target = {"callbackUrl": self._server["url"].rstrip("/") + taken["callbackPath"], "signingKey": taken["signingKey"]}
        accepted = {"idempotencyKey": key, "body": taken["body"], **target}
        if not self._calls.read(key):  # an answer that is stored must not be replaced
            self._try("store a call", self._calls.write, key, {"status": "accepted", "call": accepted})
        call, sent, offset = self._call(key, taken["body"], accepted=accepted), 0, 0
        while call.answer is None:
            is_ready = lambda: call.answer is not None or len(call.chunks) > sent
            if call.wait(is_ready, taken["leaseMs"] / 3_000, self._closing.is_set) == "gone" or call.answer is not None:
                break
            self._closing.wait(0.1 if len(call.chunks) > sent else 0)  # more text may follow at once: it is sent together
            chunks = call.chunks[sent:]
            text = "".join(chunks)
            try:
                progress = {"text": text, "offset": offset} if text else {}
                if not self._renew(path, {"delivery": taken["delivery"], **progress}):
                    self._cancel(key)
                    break
                sent, offset = sent + len(chunks), offset + len(text.encode("utf-16-le")) // 2
            except Exception as error:
                self._report(f'renew a call of "{self.id}"', error)
                self._closing.wait(min(taken["leaseMs"] / 6_000, 1))
        call.wait(lambda: call.answer is not None, None, self._closing.is_set)

    def _renew(self, path, progress):
        """Begins or renews a call. False if it is over, or another worker has it."""
        try:
            self._send("POST", path, progress)
            return True
        except urllib.error.HTTPError as error:
            if error.code == 409:
                return False
            raise

    def _keep_alive(self):
        while not self._closing.wait(self._interval):
            try:
                self._send("PATCH", "/" + quote(self.id, safe=""), {})
            except Exception as error:  # the server is away for a moment; 404: it does not know this agent any more
                self._report(f'send a heartbeat of "{self.id}"', error)
                if getattr(error, "code", 0) == 404:
                    self._try(f'register "{self.id}"', self._register)

    def _report(self, what, error):
        self._on_error(f"Cannot {what}: {error}")

    def _try(self, what, work, *args):
        try:
            work(*args)
            return True
        except Exception as error:
            self._report(what, error)
            return False

    # Calls.

    def _spawn(self, work, *args):
        def target():
            self._try("finish a call", work, *args)
            self._threads.discard(thread)

        thread = threading.Thread(target=target, daemon=True)
        self._threads.add(thread)
        thread.start()

    def _use_nonce(self, nonce):
        """Returns `first`, `repeated` or `full`."""
        with self._lock:
            now = time.time()
            while self._nonces and next(iter(self._nonces.values())) <= now:
                self._nonces.popitem(last=False)
            if nonce in self._nonces:
                return "repeated"
            if len(self._nonces) >= MAX_NONCES:
                return "full"
            self._nonces[nonce] = now + 2 * WINDOW_SECONDS
            return "first"

    def _call(self, key, body, accepted=None):
        """Starts a call, or joins the one in progress under the same key. `accepted`: of an earlier process."""
        with self._lock:
            call = before = self._running.get(key)
            # A cancelled call may take a while to stop: the next one under its key waits for it.
            if before is None or before.cancelled.is_set():
                call = self._running[key] = _Call(key, body, before)
                # Before the function starts: it may end at once.
                call.accepted = accepted
                self._spawn(self._execute, call)
            with call.condition:
                call.waiting += 0 if accepted else 1  # no request waits for a call of an earlier process
            return call

    def _execute(self, call):
        answer = before = None
        if call.before:
            call.before.wait(lambda: call.before.answer is not None, None, lambda: False)
        try:
            record = self._calls.read(call.key)
            before = record and (record["call"].get("answer") if record["status"] == "accepted" else record["answer"])
            answer = before or self._run_function(call)
        except Exception as error:  # the store cannot be read, so the function was not called
            self._report("read a stored call", error)
        with call.condition:
            call.has_ended, accepted = True, call.accepted
        if accepted and answer and call.is_cancelled and "error" in answer and not before:
            # No one waits for the answer, and the failure says nothing about the call: a repetition runs it again.
            self._try("forget a cancelled call", self._calls.remove, call.key)
            accepted = None
        if answer and not accepted and not before and _is_kept(answer):
            record = {"status": "answered", "answer": answer}
            self._try("store an answer", self._calls.write, call.key, record)
        with call.condition:
            call.answer = answer or {"unavailable": True}
            call.condition.notify_all()
        with self._lock:
            if self._running.get(call.key) is call:
                del self._running[call.key]
        # Interrupted by closing, a call did not fail: it stays accepted, and the next process runs it.
        is_interrupted = self._closing.is_set() and call.cancelled.is_set() and answer and "error" in answer and not before
        if accepted and answer and not is_interrupted:
            self._deliver(accepted, answer)

    def _cancel(self, key):
        """Cancels an accepted call. False if it is not in progress here, or a request waits for it: then it was repeated."""
        with self._lock:
            call = self._running.get(key)
            if call is None or call.waiting > 0:
                return False
            call.is_cancelled = True
            call.cancelled.set()
            return True

    def _run_function(self, call):
        try:
            result = self._run(call.body["inputs"], Context(call.body, call.key, call.cancelled))
            if not hasattr(result, "__next__"):
                return {"output": json.loads(json.dumps(result))}
            for chunk in result:
                call.add_chunk(chunk)
            return {"text": "".join(call.chunks)}
        except _Rejected as error:
            return {"error": {"message": str(error), "outcome": "refused", "notApplied": True}}
        except _Asked as error:
            return error.answer
        except Exception as error:
            return {"error": {"message": str(error) or type(error).__name__, "outcome": "provider_error"}}

    def _accept(self, call, callback_url):
        """Stores that the answer will be posted. False if the function has ended already, or it cannot be stored."""
        with call.condition:
            if call.has_ended:
                return False
            if not call.accepted:
                accepted = {"idempotencyKey": call.key, "body": call.body, "callbackUrl": callback_url}
                record = {"status": "accepted", "call": accepted}
                if not self._try("store an accepted call", self._calls.write, call.key, record):
                    return False
                call.accepted = accepted
            return True

    def _deliver(self, call, answer):
        key = call["idempotencyKey"]
        self._calls.write(key, {"status": "accepted", "call": {**call, "answer": answer}})
        if not self._post(call, answer):
            return
        if _is_kept(answer):
            self._calls.write(key, {"status": "answered", "answer": answer})
        else:
            self._calls.remove(key)

    def _post(self, call, answer):
        """Posts the answer until the server has taken it or it can no longer have an effect. False if the agent closes."""
        failures = 0
        while not self._closing.is_set():
            try:
                status = self._post_once(call, json.dumps(answer).encode())
            except OSError as error:
                status = getattr(error, "code", None)
                if status not in (404, 409):
                    self._report(f'post the answer of node "{call["body"]["nodeId"]}"', error)
            if status in (200, 404, 409):
                return True
            if status in (413, 422):
                refused = {"error": {"message": f"The server refused the answer with {status}", "outcome": "provider_error"}}
                if answer == refused:
                    return True
                answer = refused
                continue
            failures += 1
            self._closing.wait(_backoff(failures))
        return False

    def _post_once(self, call, body):
        named = [call["body"][name] for name in ("runId", "nodeId", "attempt")]
        timestamp, nonce = str(int(time.time())), secrets.token_hex(16)
        headers = {
            "content-type": "application/json",
            "proviso-timestamp": timestamp,
            "proviso-nonce": nonce,
            "proviso-signature": sign(call.get("signingKey") or self._key, timestamp, nonce, *named, body),
        }
        request = urllib.request.Request(call["callbackUrl"], body, headers, method="POST")
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status


def _backoff(failures):
    """Exponential backoff with full jitter."""
    return min(0.5 * 2 ** min(failures - 1, 10), 15) * secrets.randbelow(1_000) / 1_000


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection of the server."""

    agent: Agent
    protocol_version = "HTTP/1.1"
    log_message = staticmethod(lambda *_: None)

    def do_POST(self):
        agent, key = self.agent, self.agent._key
        length = self.headers.get("content-length", "")
        if not re.fullmatch("[0-9]{1,12}", length) or int(length) > agent._max_bytes:
            self.close_connection = True
            return self._say(413, f"The call must have a length of at most {agent._max_bytes} bytes")
        body = self.rfile.read(int(length))
        if not key:  # retried by the server: a restarted agent may be called before it has registered
            return self._say(503, "The agent has not registered yet")
        read = lambda name: self.headers.get(name, "")
        idempotency_key, attempt, nonce = read("idempotency-key"), read("proviso-attempt"), read("proviso-nonce")
        if not idempotency_key or not re.fullmatch("[0-9]{1,9}", attempt):
            return self._say(400, "The headers of the call are incomplete")
        run_id, node_id = unquote(read("proviso-run-id")), unquote(read("proviso-node-id"))
        signed = (read("proviso-timestamp"), nonce, run_id, node_id, int(attempt), body)
        verdict = verify(read("proviso-signature"), key, *signed)
        if verdict != "good":
            return self._say(401, f"The signature is {verdict}")
        try:
            given = json.loads(body)
        except ValueError:
            given = None
        if int(signed[0]) < agent._started:  # nonces of an earlier process are not known; the server signs every try anew
            return self._say(503, "The call was signed before this agent started; sign it again")
        if not isinstance(given, dict) or given.get("capabilityId") != agent.id:
            return self._say(404, f'This agent executes "{agent.id}" only')
        use = agent._use_nonce(nonce)
        if use != "first":  # in doubt, not refused: the first call with this nonce may be in progress
            return self._say(409 if use == "repeated" else 503, f"This nonce is {use}")
        if self.command == "DELETE":
            return self._say(204 if agent._cancel(given.get("cancel")) else 404, "")
        if "cancel" in given:
            return self._say(405, "Calls are cancelled with DELETE")
        given.update(runId=run_id, nodeId=node_id, attempt=int(attempt))
        self._respond(agent._call(idempotency_key, given), given.get("callbackUrl"))

    do_DELETE = do_POST

    def _respond(self, call, callback_url):
        """Waits for the first of: the answer, the first chunk of a stream, the time for a callback."""
        has_begun = lambda: call.answer is not None or call.chunks
        try:
            after = None if callback_url is None else self.agent._callback_after
            first = call.wait(has_begun, after, self._is_gone)
            if first == "late":
                if self.agent._accept(call, callback_url):
                    return self._say(202, "")
                first = call.wait(has_begun, None, self._is_gone)
            if first == "gone":
                self.close_connection = True
            elif call.answer is None:
                self._stream(call)
            else:
                self._answer(call.answer)
        except OSError:  # the caller is gone
            self.close_connection = True
        finally:
            call.leave()

    def _answer(self, answer):
        if "output" in answer:
            return self._say(200, json.dumps(answer["output"]), "application/json")
        if "text" in answer:
            return self._say(200, answer["text"])
        if "question" in answer:
            return self._say(428, json.dumps(answer), "application/json")
        if "unavailable" in answer:
            return self._say(503, "The agent cannot read its stored calls")
        error = answer["error"]
        return self._say(422 if error.get("outcome") == "refused" else 500, error["message"])

    def _stream(self, call):
        """Sends the chunks as they come. A failure breaks the connection, so that a part is not taken for the whole."""
        self.send_response(200)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        sent = 0
        while True:
            is_ready = lambda: call.answer is not None or len(call.chunks) > sent
            if call.wait(is_ready, None, self._is_gone) == "gone":
                break
            has_ended = call.answer is not None
            for chunk in filter(None, call.chunks[sent:]):
                data = chunk.encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            sent = len(call.chunks)
            if has_ended and "text" in call.answer:
                return self.wfile.write(b"0\r\n\r\n")
            if has_ended:
                break
        self.close_connection = True

    def _is_gone(self):
        """Whether the caller has closed the connection: then it is readable and empty."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(readable) and self.connection.recv(1, 2) == b""  # 2: MSG_PEEK
        except OSError:
            return True

    def _say(self, status, text, kind="text/plain; charset=utf-8"):
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def serve_agent(
    *, id, input, output, run, server, port=0, host="127.0.0.1", url=None, poll=False, callback_after=5.0, calls=None,
    max_bytes=4 * 1_048_576, on_error=None, **fields,
):
    """Registers a capability and serves its calls. Returns when it is registered.

    `input` and `output` are JSON Schemas or lists of facets; `server` is `{"url": …, "token": …}`; `fields` are further
    fields of the registration, such as `summary` and `heartbeat`. A call that takes longer than `callback_after` seconds is
    answered with 202 and by callback. With `poll=True` the agent opens no port and takes its calls from the server, ten at a
    time; `poll=2`: two at a time. `calls` remembers answers: in memory, or `FileCallStore(folder)`.
    """
    registration = {
        "version": "1", "displayName": id, "summary": "", **fields,
        "capabilityId": id, "inputContract": input, "outputContract": output,
    }
    on_error = on_error or (lambda message: print(message, file=sys.stderr, flush=True))
    calls = MemoryCallStore() if calls is None else calls
    agent = Agent(run, registration, server, port, host, url, poll, callback_after, calls, max_bytes, on_error)
    try:
        agent._start()
    except BaseException:
        agent.close(grace=0)
        raise
    return agent
