#!/usr/bin/env python3
"""Runs a command with a ClickHouse that is embedded in Python (chdb from PyPI) behind ClickHouse's HTTP interface.

    python clickhouse_http.py COMMAND [ARGUMENT...]

The command finds the server's address in CLICKHOUSE_URL. The exit status is that of the command. The interface has what
the crate `clickhouse` needs: a statement in the body, or an INSERT in the URL and its rows in the body.
"""

import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse

from chdb import session


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        parameters = parse_qs(urlparse(self.path).query)
        output_format = parameters.get("default_format", ["TabSeparated"])[0]
        try:
            code, reply = 200, run(parameters.get("query", [""])[0], self.body(), output_format)
        except Exception as error:
            code, reply = 500, str(error).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while length := int(self.rfile.readline(), 16):
            body += self.rfile.read(length)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *_):
        pass


def run(query, body, output_format):
    """Runs a statement. The rows of an INSERT go through a file, because chdb takes statements only."""
    if not query:
        return database.query(body.decode(), output_format).bytes() or b""
    insert, input_format = re.fullmatch(r"(INSERT INTO .*) FORMAT (\w+)\s*", query, re.DOTALL).groups()
    with tempfile.NamedTemporaryFile() as rows:
        rows.write(body)
        rows.flush()
        database.query(f"{insert} SELECT * FROM file('{rows.name}', '{input_format}')")
    return b""


def command():
    environment = dict(os.environ, CLICKHOUSE_URL=f"http://127.0.0.1:{server.server_port}")
    status.append(subprocess.run(sys.argv[1:], env=environment).returncode)
    server.shutdown()


if len(sys.argv) < 2:
    sys.exit(__doc__)
database = session.Session()
server = HTTPServer(("127.0.0.1", 0), Handler)
status = []
threading.Thread(target=command).start()
server.serve_forever()
sys.exit(status[0])
