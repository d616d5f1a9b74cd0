#!/usr/bin/env python3
"""Runs the containers of deploy/kubernetes.yml, deploy/kubernetes-register.yml and deploy/kubernetes-lease.yml as processes, with their
environment, user and probes: pod.py CHAT GATEWAY TOOL FOLDER

CHAT is the program imid-chat, GATEWAY is imid-gateway, and TOOL is imid. The database is the PostgreSQL of ci/services.sh, which is given the
certificates of the compose file. Each gateway must be ready, use TLS, stay ready and refuse posts while the database is away, and end in
order. The one with a lease must exit until the Job has created the register, and after the register was lost.
"""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import yaml

DEPLOY = pathlib.Path(__file__).resolve().parent.parent / "deploy"


def check(holds, what):
    if not holds:
        sys.exit(f"pod.py: {what}")


def ask(url, data=None):
    """Returns the status, the headers and the text of an answer; 0 if there is none."""
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()
    except OSError:
        return 0, {}, ""


def until(holds, what):
    end = time.monotonic() + 180
    while not holds():
        check(time.monotonic() < end, f"after 180 s not {what}")
        time.sleep(0.1)


def copy_of(program, folder):
    copy = pathlib.Path(folder) / pathlib.Path(program).name
    copy.write_bytes(pathlib.Path(program).read_bytes())
    copy.chmod(0o755)
    return str(copy)


class Pod:
    """The Deployment of a manifest, with free ports in place of those of its container."""

    def __init__(self, manifest, program, secret, folder):
        deployment, *others = yaml.safe_load_all((DEPLOY / manifest).read_text())
        self.manifest, self.folder = manifest, folder
        template = deployment["spec"]["template"]
        self.pod, self.container = template["spec"], template["spec"]["containers"][0]
        for other in others:
            selector = other["spec"].get("selector") or other["spec"]["podSelector"]
            check(selector.get("matchLabels", selector).items() <= template["metadata"]["labels"].items(), f"{other['kind']}: {selector}")
        self.names = {variable["name"] for variable in self.container["env"]}
        ports = {}
        for port in self.container["ports"]:
            with socket.create_server(("127.0.0.1", 0)) as free:
                ports[str(port["containerPort"])] = ports[port["name"]] = str(free.getsockname()[1])
        self.environment = {}
        for variable in self.container["env"]:
            value = variable.get("value") or (secret if "secretKeyRef" in variable["valueFrom"] else "pod")
            for inside, outside in ports.items():
                value = re.sub(rf"^0\.0\.0\.0:{inside}$", f"127.0.0.1:{outside}", value)
            self.environment[variable["name"]] = value
        self.user = []
        if os.getuid() == 0:
            numbers = self.pod["securityContext"]
            self.user = ["setpriv", "--reuid", str(numbers["runAsUser"]), "--regid", str(numbers["runAsGroup"]), "--clear-groups"]
            # The user may not reach the folder of the programs.
            program = copy_of(program, folder)
        self.program = program
        probe = {name: (self.container[f"{name}Probe"]["httpGet"]) for name in ("readiness", "liveness")}
        self.url = {name: f"http://127.0.0.1:{ports[of['port']]}{of['path']}" for name, of in probe.items()}
        self.api = f"http://127.0.0.1:{ports['http']}"
        scraped = template["metadata"].get("annotations", {}).get("prometheus.io/port")
        self.metrics = f"http://127.0.0.1:{ports[scraped]}/metrics" if scraped else None

    def post(self, key):
        return ask(f"{self.api}/rooms/group:pod/messages?user=pod", json.dumps({"key": key, "body": "hello"}).encode())

    def refuses(self, when):
        run = subprocess.run([*self.user, self.program], env=self.environment, capture_output=True, text=True, timeout=180)
        wanted = "register has no such space: if it was lost, recover it, otherwise create it once with `imid lane create`"
        check(run.returncode == 1 and wanted in run.stderr, f"{when} the gateway ended with {run.returncode}: {run.stderr}")

    def run(self, plain, services, connections, without_database):
        """Starts it, takes its database away, and ends it. It has this many connections at most."""
        log = pathlib.Path(self.folder) / "log"
        process = subprocess.Popen([*self.user, self.program], env=self.environment, stdout=subprocess.DEVNULL, stderr=log.open("w"))
        try:
            until(lambda: ask(self.url["readiness"])[0] == 200, "ready")
            until(lambda: self.post("1")[0] in (200, 201), "able to take a message")
            check(ask(self.url["liveness"])[0] == 200, "the liveness probe fails")
            check(ask(f"{self.api}/metrics")[0] == 404, "/metrics is on the port for users")
            check(not self.metrics or "imid_lease_held" in ask(self.metrics)[2], "/metrics does not show the lease")
            sql = "SELECT count(*) FILTER (WHERE ssl) || '/' || count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) " \
                  "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            tls_of = subprocess.run(["psql", "-XAtc", sql, plain], check=True, capture_output=True, text=True).stdout.strip()
            with_tls, found = map(int, tls_of.split("/"))
            check(with_tls == found >= 1, f"{with_tls} of {found} connections have TLS")
            check(found <= connections, f"{found} connections")

            subprocess.run([*services, "stop"], check=True)
            until(without_database, "aware that the database is away")
            status, headers, answer = self.post("2")
            check(status == 503 and headers["retry-after"], f"without the database a post was answered {status} {answer}")
            for name in self.url:
                check(ask(self.url[name])[0] == 200, f"without the database the {name} probe fails")
            subprocess.run([*services, "start"], check=True)
            until(lambda: self.post("2")[0] == 201, "able to take a message again")
            memory = int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) // 1024
            request = int(self.container["resources"]["requests"]["memory"].removesuffix("Mi"))
            check(memory < request, f"{memory} MiB are in use, {request} are requested")

            start = time.monotonic()
            process.send_signal(signal.SIGTERM)
            drain = next(int(value) for name, value in self.environment.items() if name.endswith("_DRAIN"))
            # Answers are counted, because the machine can be slow.
            ready = 0
            while (status := ask(self.url["readiness"])[0]) == 200:
                ready += 1
                check(ready < 20, "the gateway was asked to stop, and is still ready")
                time.sleep(0.1)
            check(status == 503 or time.monotonic() - start > drain, f"readiness was answered {status} while the gateway drains")
            # On a machine that stood still for that long, the drain is over.
            check(self.post("3")[0] == 201 or time.monotonic() - start > drain, "a post was refused while the gateway drains")
            code = process.wait(self.pod["terminationGracePeriodSeconds"])
            took = time.monotonic() - start
            check(code == 0 and took > drain, f"it ended with {code} after {took:.0f} s")
        except SystemExit:
            print(log.read_text()[-2000:], file=sys.stderr)
            raise
        finally:
            process.kill()
        print(f"ok: the container of {self.manifest}: {found} connections with TLS, ready without the database, {memory} MiB, "
              f"ended {took:.0f} s after SIGTERM")


def main():
    chat, gateway, tool, folder = sys.argv[1:]
    services = ["bash", os.environ["IMID_SERVICES_SH"], "server", "postgres"]
    tls = pathlib.Path(folder) / "tls"
    tls.mkdir(mode=0o755)
    subprocess.run(["bash", str(DEPLOY / "compose/certificates.sh"), str(tls), "localhost", "root"], check=True, capture_output=True)
    subprocess.run([*services, "tls", str(tls)], check=True)
    plain = os.environ["IMID_POSTGRES_URL"]
    secret = plain.replace("127.0.0.1", "localhost") + f"?sslmode=verify-full&sslrootcert={tls}/ca.pem"

    chat = Pod("kubernetes.yml", chat, secret, folder)
    leased = Pod("kubernetes-lease.yml", gateway, secret, folder)
    compose = yaml.safe_load((DEPLOY / "compose.yml").read_text())["services"]
    for name, service in compose.items():
        for pod, prefix in ((chat, "chat-"), (leased, "gateway-")):
            check(not name.startswith(prefix) or set(service["environment"]) <= pod.names, f"compose.yml, {name}: other variables than {pod.names}")
    targets = yaml.safe_load((DEPLOY / "compose/prometheus.yml").read_text())["scrape_configs"][0]["static_configs"][0]["targets"]
    ports_of_operations = {f"{name}:{service['environment']['GATEWAY_OPERATIONS'].split(':')[1]}"
                           for name, service in compose.items() if name.startswith("gateway-")}
    check(set(targets) == ports_of_operations, f"prometheus.yml scrapes {targets}, and the gateways have {ports_of_operations}")

    chat.run(plain, services, int(chat.environment["CHAT_CONNECTIONS"]) + 1, lambda: chat.post("2")[0] == 503)

    manifest, _ = yaml.safe_load_all((DEPLOY / "kubernetes-register.yml").read_text())
    job = manifest["spec"]["template"]["spec"]
    check(job["securityContext"] == leased.pod["securityContext"], "the Job runs as another user")
    [create] = job["containers"]
    check(create["image"] == leased.container["image"] and create["command"][0] == "imid", f"the Job runs {create['command']}")
    [register] = create["env"]
    check("secretKeyRef" in register["valueFrom"], f"the Job has {register}")
    if leased.user:
        tool = copy_of(tool, folder)

    def create_register():
        return subprocess.run([*leased.user, tool, *create["command"][1:]], env={register["name"]: secret}, capture_output=True, text=True)

    leased.refuses("before the Job")
    first, second = create_register(), create_register()
    check(first.returncode == 0 and first.stdout.startswith("space lanes has 64 lanes"), f"the Job: {first.stdout}{first.stderr}")
    check(second.returncode == 1 and 'already has the space "lanes"' in second.stderr, f"the second Job: {second.stdout}{second.stderr}")

    leased.run(plain, services, 1, lambda: leased.post("2")[0] == 503)
    subprocess.run(["psql", "-Xqc", "TRUNCATE imid_register", plain], check=True)
    leased.refuses("after the register was lost")
    print("ok: an error before the Job of kubernetes-register.yml and after TRUNCATE")


if __name__ == "__main__":
    main()
