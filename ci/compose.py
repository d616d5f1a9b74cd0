#!/usr/bin/env python3
"""Runs the services of deploy/compose.yml as processes, without containers: compose.py FOLDER

FOLDER has the program imid-chat, as the Dockerfile builds it. Each service has a network namespace of its own, in which the names
of the others are hosts, and its environment, command and files are those of the compose file. Servers are Debian's. Checks that each
gateway mints by TLS, that Prometheus scrapes all of them and loads the rules, and that each file, service, port and volume that
the file names is there. Grafana is not run, because Debian does not have it: its files are read only.
"""

import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import yaml

DEPLOY = pathlib.Path(__file__).resolve().parent.parent / "deploy"
ROOT = DEPLOY.parent


def check(holds, what):
    if not holds:
        sys.exit(f"compose.py: {what}")


def read():
    """Returns the services, with their names checked."""
    compose = yaml.safe_load((DEPLOY / "compose.yml").read_text())
    services = compose["services"]
    gateway = (ROOT / "examples/chat/src/main.rs").read_text()
    outside = []
    for name, service in services.items():
        check(set(service) <= {"build", "image", "user", "entrypoint", "command", "depends_on", "restart", "environment", "healthcheck",
                               "volumes", "ports", "stop_grace_period"}, f"{name}: unknown word in {sorted(service)}")
        for other, after in service.get("depends_on", {}).items():
            check(other in services, f"{name} depends on {other}, which is not a service")
            has = "healthcheck" in services[other]
            check(after["condition"] == ("service_healthy" if has else "service_completed_successfully"), f"{name}: {after}")
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            there = (DEPLOY / source).is_file() if source.startswith(".") else source in compose["volumes"]
            check(there, f"{name}: {source} is not there")
        outside += [port.split(":")[1] for port in service.get("ports", [])]
        if "build" in service:
            build = service["build"]
            context = (DEPLOY / build["context"]).resolve()
            check(context == ROOT and (context / build["dockerfile"]).is_file(), f"{name}: {build}")
            for variable in service["environment"]:
                check(f'env::var("{variable}")' in gateway, f"{name}: the gateway does not read {variable}")
    check(len(outside) == len(set(outside)), f"a port is there twice: {outside}")
    return services


class Trial:
    """The services as processes, each at an address of its own on one bridge."""

    def __init__(self, services, folder):
        self.services, self.folder = services, folder
        self.addresses = {name: f"10.78.0.{n}" for n, name in enumerate(services, 1)}
        self.hosts = folder / "hosts"
        self.hosts.write_text("".join(f"{address} {name}\n" for name, address in self.addresses.items()))
        self.started = {}
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "link", "set", "bridge", "up")
        run("ip", "addr", "add", "10.78.0.254/24", "dev", "bridge")

    def path(self, name, text):
        """Replaces paths in the container of a service by those here."""
        for volume in self.services[name].get("volumes", []):
            source, inside = volume.split(":")[:2]
            here = self.folder / source
            if source.startswith("."):
                # Files of a service name each other by relative paths.
                here = self.folder / name / inside.lstrip("/")
                here.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(DEPLOY / source, here)
            text = re.sub(rf"(?<![\w.]){re.escape(inside)}(?![\w.])", str(here), text)
        return text

    def start(self, name, command, user=None):
        """Starts a service in a network and with a file of hosts of its own."""
        environment = {key: self.path(name, value) for key, value in self.services[name].get("environment", {}).items()}
        command = [self.path(name, word) for word in command]
        as_user = become(user) if user else []
        script = 'mount --bind "$0" /etc/hosts && read -r _ && exec "$@"'
        process = subprocess.Popen(
            ["unshare", "--net", "--mount", "bash", "-c", script, str(self.hosts), *as_user, *command],
            stdin=subprocess.PIPE, env=os.environ | environment, cwd=self.folder,
            stdout=(self.folder / f"{name}.log").open("a"), stderr=subprocess.STDOUT, text=True)
        self.started[name] = process
        ours = os.readlink("/proc/self/ns/net")
        wait_for(lambda: os.readlink(f"/proc/{process.pid}/ns/net") != ours, f"the network of {name}")
        link = f"s{len(self.started)}"
        inside = ["nsenter", f"--net=/proc/{process.pid}/ns/net", "ip"]
        run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(process.pid))
        run("ip", "link", "set", link, "master", "bridge", "up")
        run(*inside, "addr", "add", f"{self.addresses[name]}/24", "dev", "eth0")
        run(*inside, "link", "set", "eth0", "up")
        run(*inside, "link", "set", "lo", "up")
        process.stdin.write("go\n")
        process.stdin.flush()

    def certificates(self):
        (self.folder / "tls").mkdir(mode=0o755)
        self.start("certificates", self.services["certificates"]["entrypoint"])
        check(self.started["certificates"].wait(30) == 0, f"certificates: {(self.folder / 'certificates.log').read_text()}")

    def database(self):
        """Does what the image does at its first start, and starts the server with the command of the file."""
        service = self.services["db"]
        variables = service["environment"]
        data = self.folder / "data"
        data.mkdir()
        run("chown", "postgres:postgres", str(data))
        (self.folder / "password").write_text(variables["POSTGRES_PASSWORD"])
        programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        run(*become("postgres"), f"{programs}/initdb", "-D", str(data), "-U", variables["POSTGRES_USER"], "--auth", "scram-sha-256",
            "--pwfile", str(self.folder / "password"), "--encoding", "UTF8", "--locale", "C", "--no-sync")
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all all scram-sha-256\n")
        command = [f"{programs}/{service['command'][0]}", *service["command"][1:], "-D", str(data), "-c", "listen_addresses=*",
                   "-c", "unix_socket_directories="]
        self.start("db", command, "postgres")
        os.environ["PGPASSWORD"] = variables["POSTGRES_PASSWORD"]
        ready = service["healthcheck"]["test"]
        check(ready[0] == "CMD", f"db: {ready}")
        inside = ["nsenter", f"--net=/proc/{self.started['db'].pid}/ns/net"]
        wait_for(lambda: subprocess.run([*inside, f"{programs}/{ready[1]}", *ready[2:]], capture_output=True).returncode == 0, "db")
        self.sql(f"CREATE DATABASE {variables['POSTGRES_DB']}")

    def sql(self, statement):
        command = ["psql", "-h", self.addresses["db"], "-U", self.services["db"]["environment"]["POSTGRES_USER"], "-d", "postgres",
                   "-Atqc", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def end(self):
        for process in self.started.values():
            process.kill()
            process.wait()


def become(user):
    """Returns the command that runs another one as a user."""
    return ["setpriv", "--reuid", user, "--regid", str(pwd.getpwnam(user).pw_gid), "--clear-groups"]


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def wait_for(holds, what):
    end = time.monotonic() + 60
    while True:
        try:
            if holds():
                return
        except (OSError, urllib.error.URLError):
            pass
        check(time.monotonic() < end, f"gave up to wait for {what}")
        time.sleep(0.1)


def get(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


def main():
    services = read()
    dashboard = json.loads((DEPLOY / "dashboard.json").read_text())
    source = yaml.safe_load((DEPLOY / "compose/datasource.yml").read_text())["datasources"][0]
    provided = yaml.safe_load((DEPLOY / "compose/dashboards.yml").read_text())["providers"][0]["options"]["path"]
    check(source["url"] == "http://prometheus:9090" and "prometheus" in services, f"Grafana's source: {source}")
    check(f"./dashboard.json:{provided}/dashboard.json:ro" in services["grafana"]["volumes"], f"no dashboard in {provided}")
    gateways = [name for name in services if name.startswith("chat-")]
    check(len(gateways) == 3, f"expected three gateways, found {gateways}")

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        trial = Trial(services, folder)
        try:
            trial.certificates()
            trial.database()
            for name in gateways:
                trial.start(name, [f"{sys.argv[1]}/imid-chat"], "nobody")
            trial.start("prometheus", ["prometheus", *services["prometheus"]["command"]])
            addresses = [f"http://{trial.addresses[name]}:{services[name]['ports'][0].split(':')[-1]}" for name in gateways]
            for address in addresses:
                wait_for(lambda: get(f"{address}/ready") is not None, f"{address}/ready")
            plain, all_of_them = trial.sql("SELECT count(*) FILTER (WHERE NOT ssl), count(*) FROM pg_stat_ssl JOIN pg_stat_activity "
                                           "USING (pid) WHERE datname = 'chat'").split("|")
            check(plain == "0" and int(all_of_them) >= 6, f"{plain} of {all_of_them} connections without TLS")
            api = f"http://{trial.addresses['prometheus']}:9090/api/v1"
            held = f"{api}/query?query=sum(imid_lease_held)"
            wait_for(lambda: '"3"' in get(held), "Prometheus to see three lanes")
            rules = sum(len(group["rules"]) for group in json.loads(get(f"{api}/rules"))["data"]["groups"])
            check(rules > 0, "Prometheus has no rules")
            metrics = get(f"{addresses[0]}/metrics")
            for name in {name for panel in dashboard["panels"] for name in re.findall(r"imid_lease_\w+", panel["targets"][0]["expr"])}:
                # It is there after the first refusal.
                check(name in metrics or name == "imid_lease_refusals_total", f"the dashboard shows {name}, and no gateway has it")
        except SystemExit:
            for log in sorted(folder.glob("*.log")):
                print(f"{log.name}: {log.read_text()[-1000:]}", file=sys.stderr)
            raise
        finally:
            trial.end()
    print(f"compose: {len(gateways)} gateways mint, {all_of_them} connections to PostgreSQL with TLS and none without, Prometheus sees "
          f"3 lanes and {rules} rules")
    print("not checked: compose: the images, the network of Docker, Grafana")


if __name__ == "__main__":
    main()
