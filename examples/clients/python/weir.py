"""Calls Weir as a good client does: repeats requests safely, resumes streams after a break, explains errors."""

import json
import os
import re
import time
import urllib.error
import urllib.request
import uuid
from http.client import HTTPException

WEIR_URL = os.environ.get("WEIR_URL", "http://127.0.0.1:8787")
WEIR_API_KEY = os.environ.get("WEIR_API_KEY", "")
TRIES = 5
TIMEOUT_S = 300


def call(method, path, body=None):
    """Calls a path below /api/v1/seq. It may repeat the request: with one Idempotency-Key that starts only one run."""
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    for attempt in range(1, TRIES + 1):
        try:
            with _request(method, path, headers, body) as response:
                return json.load(response)
        except (OSError, HTTPException) as error:
            _wait_or_raise(error, attempt)


def stream(method, path, body=None):
    """The same for Server-Sent Events, as pairs (event, data). After a break, asks for those after the last one."""
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    attempt = 1
    while True:
        try:
            with _request(method, path, headers, body) as response:
                for number, event, data in _read_events(response):
                    if event == "stream_interrupted":
                        break
                    headers["Last-Event-ID"] = number
                    attempt = 1
                    yield event, data
                    if re.match("run_completed|run_failed|step_paused", event):
                        return
            raise ConnectionError("The stream of events broke off.")
        except (OSError, HTTPException) as error:
            _wait_or_raise(error, attempt)
            attempt += 1


def _request(method, path, headers, body):
    return urllib.request.urlopen(
        urllib.request.Request(
            f"{WEIR_URL}/api/v1/seq/{path}",
            method=method,
            headers={**headers, "Authorization": f"Bearer {WEIR_API_KEY}", "Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode(),
        ),
        timeout=TIMEOUT_S,
    )


def _wait_or_raise(error, attempt):
    """Waits for another try after 429, a 5xx or no answer; raises on anything else."""
    status = error.code if isinstance(error, urllib.error.HTTPError) else None
    if attempt >= TRIES or (status and status < 500 and status != 429):
        raise SystemExit(f"Weir answered {status}: {error.read().decode()}" if status else f"{WEIR_URL}: {error}")
    told = error.headers.get("Retry-After") if status else None
    time.sleep(int(told) if told else 2**attempt / 2)


def _read_events(response):
    number, event = "", ""
    for line in response:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "id":
            number = value
        elif field == "event":
            event = value
        elif field == "data":
            yield number, event, json.loads(value)
