#!/usr/bin/env python3
"""Runs the containers of deploy/kubernetes-register.yml and deploy/kubernetes.yml as processes, with their environment, user and probes:
pod.py GATEWAY TOOL FOLDER

GATEWAY is the program imid-chat, and TOOL is imid. The database is the PostgreSQL of ci/services.sh, which is given the certificates of the compose file. The
gateway must exit until the Job has created the register, then be ready with a lane and use TLS, stay ready and refuse posts while the
database is away, and end in order. When the register is lost it must exit again.
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
        with urllib.request.urlopen(request, timeout=15) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()
    except OSError:
        return 0, {}, ""


def until(holds, what):
    end = time.monotonic() + 60
    while not holds():
        check(time.monotonic() < end, f"after 60 s not {what}")
        time.sleep(0.1)


def copy_of(program, folder):
    copy = pathlib.Path(folder) / pathlib.Path(program).name
    copy.write_bytes(pathlib.Path(program).read_bytes())
    copy.chmod(0o755)
    return str(copy)


def main():
    program, tool, folder = sys.argv[1:]
    deployment, *others = yaml.safe_load_all((DEPLOY / "kubernetes.yml").read_text())
    template = deployment["spec"]["template"]
    pod, container = template["spec"], template["spec"]["containers"][0]
    for other in others:
        selector = other["spec"].get("selector") or other["spec"]["podSelector"]
        check(selector.get("matchLabels", selector).items() <= template["metadata"]["labels"].items(), f"{other['kind']}: {selector}")
    names = {variable["name"] for variable in container["env"]}
    compose = yaml.safe_load((DEPLOY / "compose.yml").read_text())["services"]
    for name, service in compose.items():
        check(not name.startswith("chat-") or set(service["environment"]) <= names, f"compose.yml, {name}: other variables than {names}")
    targets = yaml.safe_load((DEPLOY / "compose/prometheus.yml").read_text())["scrape_configs"][0]["static_configs"][0]["targets"]
    ports_of_operations = {f"{name}:{service['environment']['CHAT_OPERATIONS'].split(':')[1]}"
                           for name, service in compose.items() if name.startswith("chat-")}
    check(set(targets) == ports_of_operations, f"prometheus.yml scrapes {targets}, and the gateways have {ports_of_operations}")

    services = ["bash", os.environ["IMID_SERVICES_SH"], "server", "postgres"]
    tls = pathlib.Path(folder) / "tls"
    tls.mkdir(mode=0o755)
    subprocess.run(["bash", str(DEPLOY / "compose/certificates.sh"), str(tls), "localhost", "root"], check=True, capture_output=True)
    subprocess.run([*services, "tls", str(tls)], check=True)
    plain = os.environ["IMID_POSTGRES_URL"]
    secret = plain.replace("127.0.0.1", "localhost") + f"?sslmode=verify-full&sslrootcert={tls}/ca.pem"

    # Free ports in place of those of the container.
    ports = {}
    for port in container["ports"]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports[str(port["containerPort"])] = ports[port["name"]] = str(free.getsockname()[1])
    environment = {}
    for variable in container["env"]:
        value = variable.get("value") or (secret if "secretKeyRef" in variable["valueFrom"] else "chat-pod")
        for inside, outside in ports.items():
            value = re.sub(rf"^0\.0\.0\.0:{inside}$", f"127.0.0.1:{outside}", value)
        environment[variable["name"]] = value
    user = []
    if os.getuid() == 0:
        numbers = pod["securityContext"]
        user = ["setpriv", "--reuid", str(numbers["runAsUser"]), "--regid", str(numbers["runAsGroup"]), "--clear-groups"]
        # The user may not reach the folder of the programs.
        program, tool = copy_of(program, folder), copy_of(tool, folder)
    probe = {name: (container[f"{name}Probe"]["httpGet"]) for name in ("readiness", "liveness")}
    url = {name: f"http://127.0.0.1:{ports[of['port']]}{of['path']}" for name, of in probe.items()}
    metrics = f"http://127.0.0.1:{ports[template['metadata']['annotations']['prometheus.io/port']]}/metrics"
    api = f"http://127.0.0.1:{ports['http']}"

    def post(key):
        return ask(f"{api}/rooms/group:pod/messages?user=pod", json.dumps({"key": key, "body": "hello"}).encode())

    def refuses(when):
        run = subprocess.run([*user, program], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60)
        wanted = "register has lost the space, or it was never created: see `imid lane create`"
        check(run.returncode == 1 and wanted in run.stderr, f"{when} the gateway ended with {run.returncode}: {run.stderr}")

    manifest, _ = yaml.safe_load_all((DEPLOY / "kubernetes-register.yml").read_text())
    job = manifest["spec"]["template"]["spec"]
    check(job["securityContext"] == pod["securityContext"], "the Job runs as another user")
    [create] = job["containers"]
    check(create["image"] == container["image"] and create["command"][0] == "imid", f"the Job runs {create['command']}")
    [register] = create["env"]
    check("secretKeyRef" in register["valueFrom"], f"the Job has {register}")

    def create_register():
        return subprocess.run([*user, tool, *create["command"][1:]], env={register["name"]: secret}, capture_output=True, text=True)

    refuses("before the Job")
    first, second = create_register(), create_register()
    check(first.returncode == 0 and first.stdout.startswith("space lanes has 16 lanes"), f"the Job: {first.stdout}{first.stderr}")
    check(second.returncode == 1 and 'already has the space "lanes"' in second.stderr, f"the second Job: {second.stdout}{second.stderr}")

    gateway = subprocess.Popen([*user, program], env=environment, stdout=subprocess.DEVNULL, stderr=(pathlib.Path(folder) / "log").open("w"))
    try:
        until(lambda: ask(url["readiness"])[0] == 200, "ready")
        until(lambda: post("1")[0] in (200, 201), "able to store a message")
        check(ask(url["liveness"])[0] == 200, "the liveness probe fails")
        text = ask(metrics)[2]
        check(re.search(r"^imid_lease_held\{.*\} 1$", text, re.M), "/metrics shows no lane")
        check(ask(f"{api}/metrics")[0] == 404, "/metrics is on the port for users")
        sql = "SELECT count(*) FILTER (WHERE ssl) || '/' || count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) " \
              "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        tls_of = subprocess.run(["psql", "-XAtc", sql, plain], check=True, capture_output=True, text=True).stdout.strip()
        with_tls, connections = map(int, tls_of.split("/"))
        check(with_tls == connections >= 2, f"{with_tls} of {connections} connections have TLS")
        check(connections <= int(environment["CHAT_CONNECTIONS"]) + 1, f"{connections} connections")

        subprocess.run([*services, "stop"], check=True)
        # The readiness probe asks for an ID, so the refusals count while nobody posts.
        until(lambda: ask(url["readiness"])[0] != 200 or 'reason="silent"' in ask(metrics)[2], "out of its lease")
        status, headers, answer = post("2")
        check(status == 503 and headers["retry-after"], f"without the database a post was answered {status} {answer}")
        for name in url:
            check(ask(url[name])[0] == 200, f"without the database the {name} probe fails")
        subprocess.run([*services, "start"], check=True)
        until(lambda: post("2")[0] == 201, "able to store a message again")
        memory = int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{gateway.pid}/status").read_text())[1]) // 1024
        request = int(container["resources"]["requests"]["memory"].removesuffix("Mi"))
        check(memory < request, f"{memory} MiB are in use, {request} are requested")

        start = time.monotonic()
        gateway.send_signal(signal.SIGTERM)
        until(lambda: ask(url["readiness"])[0] == 503, "draining")
        check(post("3")[0] == 201, "a post was refused while the gateway drains")
        code = gateway.wait(pod["terminationGracePeriodSeconds"])
        took = time.monotonic() - start
        check(code == 0 and took > int(environment["CHAT_DRAIN"]), f"it ended with {code} after {took:.0f} s")

        subprocess.run(["psql", "-Xqc", "TRUNCATE imid_register", plain], check=True)
        refuses("after the register was lost")
    except SystemExit:
        print((pathlib.Path(folder) / "log").read_text()[-2000:], file=sys.stderr)
        raise
    finally:
        gateway.kill()
    print(f"ok: the container of kubernetes.yml: {connections} connections with TLS, ready without the database, {memory} MiB, "
          f"ended {took:.0f} s after SIGTERM; an error before the Job of kubernetes-register.yml and after TRUNCATE")


if __name__ == "__main__":
    main()
