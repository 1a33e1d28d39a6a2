"""Tests of the parts of proviso_agent; `test/agents` tests the whole against a server."""
import json
import os
import tempfile
import unittest

from proviso_agent import FileCallStore, MemoryCallStore, sign, verify

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Signatures(unittest.TestCase):
    def test_shared_vectors(self):
        with open(os.path.join(FOLDER, "..", "signature-vectors.json"), encoding="utf-8") as file:
            vectors = json.load(file)
        self.assertGreaterEqual(len(vectors), 20)
        for vector in vectors:
            with self.subTest(vector["name"]):
                names = ("timestamp", "nonce", "runId", "nodeId", "attempt")
                signed = [vector[name] for name in names] + [vector["body"].encode()]
                secret, signature = vector["secret"], vector["signature"]
                self.assertEqual(verify(signature, secret, *signed, now=vector["now"]), vector["verdict"])
                if vector["verdict"] != "forged":
                    last = signature.split(",")[-1].strip()
                    self.assertEqual(sign(secret, *signed)[3:], last[3:] if last.startswith("v1=") else last)


class CallStores(unittest.TestCase):
    def check(self, store):
        call = {"idempotencyKey": "a/ä", "body": {}, "callbackUrl": "x"}
        self.assertIsNone(store.read("a/ä"))
        store.write("a/ä", {"status": "accepted", "call": call})
        self.assertEqual(store.list_accepted(), [call])
        store.write("a/ä", {"status": "answered", "answer": {"output": 1}})
        self.assertEqual(store.list_accepted(), [])
        self.assertEqual(store.read("a/ä")["answer"], {"output": 1})
        store.remove("a/ä")
        self.assertIsNone(store.read("a/ä"))

    def test_memory(self):
        self.check(MemoryCallStore())

    def test_memory_is_bounded(self):
        store = MemoryCallStore(max_answers=2)
        store.write("accepted", {"status": "accepted", "call": {}})
        for key in "abc":
            store.write(key, {"status": "answered", "answer": {}})
        self.assertEqual([bool(store.read(key)) for key in ("accepted", "a", "b", "c")], [True, False, True, True])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            store = FileCallStore(os.path.join(folder, "calls"))
            self.assertEqual(store.list_accepted(), [])
            self.check(store)
            self.assertIsNone(store.read_signing_key())
            store.write_signing_key("psk_1")
            self.assertEqual(FileCallStore(os.path.join(folder, "calls")).read_signing_key(), "psk_1")


if __name__ == "__main__":
    unittest.main()
