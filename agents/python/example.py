"""An agent over HTTP: registers with a Proviso server, answers its signed calls and sends heartbeats."""
import os

from proviso_agent import serve_agent


def write(inputs, context):
    brief = inputs["writerBrief"]
    copy = {"headline": brief["angle"], "body": ". ".join(brief["keyPoints"]), "callToAction": "Read more"}
    return {"copyVariants": [copy]}


server = {"url": os.environ.get("PROVISO_URL", "http://127.0.0.1:3003"), "token": os.environ.get("PROVISO_TOKEN", "")}
heartbeat = {"intervalSeconds": float(os.environ.get("HEARTBEAT_SECONDS", "30"))}
contracts = {"input": ["writerBrief"], "output": ["copyVariants"]}
port = int(os.environ.get("PORT", "4003"))
agent = serve_agent(id="writer.en", **contracts, run=write, server=server, heartbeat=heartbeat, port=port)
print(f"{agent.id} is registered and listens", flush=True)
agent.wait()
