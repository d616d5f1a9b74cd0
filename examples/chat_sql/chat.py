#!/usr/bin/env python3
"""A chat backend without Rust. PostgreSQL mints the IDs: `imid_post` of sql/postgres/mint.sql stores a message in one call.

    pip install 'psycopg[binary,pool]'
    psql "$DATABASE_URL" -f sql/postgres/install.sql -f sql/postgres/tables.sql -f sql/postgres/mint.sql
    DATABASE_URL=postgres://... examples/chat_sql/chat.py 8080

Run as many as you like, on any hosts, and kill them at any time. Their clocks do not matter.

    POST /rooms/ROOM/messages {"sender", "key", "body"}   stores a message; repeat it with the same key until the answer is 2xx or 4xx
    GET  /rooms/ROOM/messages?before=NUMBER               a page, the latest message first
    GET  /rooms/ROOM/events?after=ID                      live messages; the event `reset` means: read the room again
    PUT  /rooms/ROOM/read {"reader", "number"}            moves the reader's marker
    GET  /unread?reader=NAME                              unread messages by room
"""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

GROUP = 3  # the session type; FORMAT.md has the others
MESSAGE = "SELECT imid_text(id) AS id, number, sender, body FROM messages WHERE room = %(room)s"


class Gateway(BaseHTTPRequestHandler):
    pool = None

    def sql(self, sql, **values):
        with self.pool.connection() as connection:
            return connection.execute(sql, values).fetchall()

    def post_messages(self, room, values):
        # One statement is one transaction: a gateway that is killed here holds no lock, and the client sends the message again.
        [posted] = self.sql("""SELECT imid_text(id) AS id, number, is_new
            FROM imid_post(%(room)s, %(type)s, %(sender)s, %(key)s, %(body)s)""", room=room, type=GROUP,
            sender=values["sender"], key=values["key"], body=values["body"])
        self.answer(201 if posted["is_new"] else 200, posted)

    def get_messages(self, room, values):
        before = int(values.get("before", 2**63 - 1))
        self.answer(200, self.sql(MESSAGE + " AND number < %(before)s ORDER BY number DESC LIMIT 50", room=room, before=before))

    def new(self, room, last):
        """Returns what a client does not have, or None if the database has lost the client's last message in a failover."""
        if not last:
            return self.sql(MESSAGE + " ORDER BY number LIMIT 200", room=room)
        found = self.sql(MESSAGE + """ AND number >= (SELECT number FROM messages WHERE id = imid_bytes(%(last)s) AND room = %(room)s)
            ORDER BY number LIMIT 200""", room=room, last=last)
        return found[1:] if found else None

    def get_events(self, room, values):
        """Follows the room. Its messages are committed in the order of their IDs, so the last ID is all that a client remembers."""
        last = self.headers.get("Last-Event-ID", values.get("after"))
        new = self.new(room, last)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        try:
            while new is not None:
                for message in new:
                    self.wfile.write(f"id: {message['id']}\ndata: {json.dumps(message)}\n\n".encode())
                    last = message["id"]
                self.wfile.write(b":\n\n")
                time.sleep(0.5)
                new = self.new(room, last)
            self.wfile.write(b"event: reset\ndata: lost\n\n")
        except psycopg.Error:
            pass  # The client connects again, to any gateway.

    def put_read(self, room, values):
        self.sql("""INSERT INTO readers VALUES (%(reader)s, %(room)s, %(number)s) ON CONFLICT (reader, room)
            DO UPDATE SET number = greatest(readers.number, excluded.number) RETURNING number""",
            room=room, reader=values["reader"], number=values["number"])
        self.answer(200, {})

    def get_unread(self, values):
        self.answer(200, self.sql("""SELECT room, last_number - number AS unread FROM readers JOIN rooms ON rooms.name = room
            WHERE reader = %(reader)s""", reader=values["reader"]))

    def answer(self, status, value, headers=()):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in [("content-type", "application/json"), ("content-length", str(len(body))), *headers]:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def handle_request(self):
        url = urlsplit(self.path)
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        try:
            values = {name: texts[-1] for name, texts in parse_qs(url.query).items()}
            values |= json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            method = self.command.lower()
            match parts:
                case ["rooms", room, what] if room and hasattr(self, f"{method}_{what}"):
                    getattr(self, f"{method}_{what}")(room, values)
                case ["unread"] if method == "get":
                    self.get_unread(values)
                case _:
                    self.answer(404, f"no {self.command} {url.path}")
        # What can never be stored is an error of the client. Anything else passes, and the client sends it again.
        except (psycopg.DataError, psycopg.errors.NotNullViolation, ValueError, KeyError, TypeError) as error:
            self.answer(400, f"{type(error).__name__}: {error}")
        except psycopg.Error as error:
            self.answer(503, str(error), [("retry-after", "1")])
        except ConnectionError:
            pass  # The client has gone.

    do_GET = do_POST = do_PUT = handle_request

    def log_message(self, *_):
        pass


def main():
    # It starts without the database, and then answers 503.
    settings = {"autocommit": True, "row_factory": dict_row}
    Gateway.pool = ConnectionPool(os.environ["DATABASE_URL"], kwargs=settings, min_size=1, max_size=20, timeout=5, open=True,
                                  check=ConnectionPool.check_connection)
    server = ThreadingHTTPServer(("", int(sys.argv[1])), Gateway)
    server.daemon_threads = True
    print(f"listening on {sys.argv[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
