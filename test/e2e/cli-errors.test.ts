/**
 * What a newcomer does wrong, and what breaks around them: each ends with one line that says what was being done, what
 * stood in the way and what to try, and with the right exit code. Runs in this process, against one fleet.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { Server as HttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createCertificateAuthority } from "../../src/apiserver/index.ts";
import { systemClock } from "../../src/base/index.ts";
import { main } from "../../src/cmd/run.ts";
import { temporaryDirectory, up } from "./flotilla-process.ts";
import type { Up } from "./flotilla-process.ts";

const BIN = fileURLToPath(new URL("../../bin/flotilla", import.meta.url));
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

const folder = temporaryDirectory();
const servers: Server[] = [];
let fleet: Up;
/** Called when somebody asks the server that never answers. */
let onSilence = (): void => {};
const at = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  fleet = await up(at("fleet"), "--members", "1", "--nodes", "1", "--start-ms", "0", "--ephemeral");
  await writeKubeconfigs();
  mkdirSync(at("empty"));
  writeFileSync(at("broken.yaml"), "kind: Deployment\nmetadata: {name: web\n");
  writeFileSync(at("list.yaml"), "- a\n- b\n");
}, 60_000);
afterAll(async () => {
  for (const server of servers) server.close();
  for (const server of servers) if ("closeAllConnections" in server) (server as HttpServer).closeAllConnections();
  await fleet.stop("SIGTERM");
  folder.remove();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

interface Config {
  "current-context": string;
  clusters: [{ cluster: Record<string, unknown> }];
  users: [{ user: Record<string, unknown> }];
}

/** The hub's kubeconfig with a mistake each. */
async function writeKubeconfigs(): Promise<void> {
  const make = (name: string, change: (config: Config) => void): void => {
    const config = load(readFileSync(fleet.kubeconfig("hub"), "utf8")) as Config;
    change(config);
    writeFileSync(at(name), JSON.stringify(config));
  };
  const authority = await createCertificateAuthority({ clock: systemClock });
  const old = await createCertificateAuthority({
    clock: { ...systemClock, now: () => systemClock.now() - 2 * YEAR_MS },
  });
  const expired = await old.issueServing([]);
  const expiredPort = await listening(createHttpsServer({ cert: expired.certificate, key: expired.key }));
  const shopPort = await listening(
    createHttpServer(
      (_request, response) =>
        void response.writeHead(404, { "content-type": "text/html" }).end("<html>no such page</html>"),
    ),
  );
  const bare = await listening(
    createHttpServer(
      (_request, response) =>
        void response.writeHead(404, { "content-type": "application/json" }).end(
          JSON.stringify({
            kind: "Status",
            apiVersion: "v1",
            metadata: {},
            status: "Failure",
            message: "the server could not find the requested resource",
            reason: "NotFound",
            details: {},
            code: 404,
          }),
        ),
    ),
  );
  const silent = await listening(createHttpServer(() => onSilence()));
  make("silent.kubeconfig", ({ clusters }) => (clusters[0].cluster["server"] = `http://127.0.0.1:${silent}`));
  make("closed.kubeconfig", ({ clusters }) => (clusters[0].cluster["server"] = "https://127.0.0.1:1"));
  mkdirSync(at("stopped"));
  make("stopped/hub.kubeconfig", ({ clusters }) => (clusters[0].cluster["server"] = "https://127.0.0.1:1"));
  make("nowhere.kubeconfig", ({ clusters }) => (clusters[0].cluster["server"] = "https://hub.invalid:6443"));
  make("plain-text.kubeconfig", ({ clusters }) => (clusters[0].cluster["server"] = `https://127.0.0.1:${shopPort}`));
  make("website.kubeconfig", ({ clusters }) => (clusters[0].cluster["server"] = `http://127.0.0.1:${shopPort}`));
  make("no-hub.kubeconfig", ({ clusters }) => (clusters[0].cluster["server"] = `http://127.0.0.1:${bare}`));
  make(
    "other-ca.kubeconfig",
    ({ clusters }) =>
      (clusters[0].cluster["certificate-authority-data"] = Buffer.from(authority.certificate).toString("base64")),
  );
  make(
    "expired.kubeconfig",
    ({ clusters }) =>
      (clusters[0].cluster = {
        server: `https://127.0.0.1:${expiredPort}`,
        "certificate-authority-data": Buffer.from(old.certificate).toString("base64"),
      }),
  );
  make("refused.kubeconfig", ({ users }) => (users[0].user = { token: "wrong" }));
  make("stranger.kubeconfig", ({ users }) => (users[0].user["as"] = "eve"));
  make("proxy.kubeconfig", ({ clusters }) => (clusters[0].cluster["proxy-url"] = "http://127.0.0.1:1"));
  make("no-context.kubeconfig", (config) => (config["current-context"] = ""));
  make("lost-context.kubeconfig", (config) => (config["current-context"] = "prod"));
  make("member.kubeconfig", ({ clusters }) => (clusters[0].cluster["server"] = `${fleet.url}/clusters/member1`));
  writeFileSync(at("not-yaml.kubeconfig"), "users: [{name: u, user: {token: 'hunter2}}]");
  writeFileSync(at("empty.yaml"), "# nothing yet\n");
  writeFileSync(at("empty.kubeconfig"), "\n");
  writeFileSync(at("bare.kubeconfig"), "apiVersion: v1\nkind: Config\n");
  writeFileSync(at("deployment.yaml"), "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n");
}

function listening(server: Server): Promise<number> {
  servers.push(server);
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}

interface Seen {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command line in this process; `@name` is a file of this test's folder. */
async function flotilla(line: string): Promise<Seen> {
  const seen = { stdout: "", stderr: "" };
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    seen.stdout += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    seen.stderr += String(text);
    return true;
  });
  const code = await main(
    line
      .split(" ")
      .filter((word) => word !== "")
      .map((word) => word.replace("@", `${folder.path}/`)),
  );
  vi.restoreAllMocks();
  return { code, ...seen };
}

const FAILED = 1;
const WRONG_USAGE = 2;

interface Mistake {
  line: string;
  code: number;
  want: string | RegExp;
}
const mistakes: Record<string, Record<string, Mistake>> = {
  "of the command line": {
    "a command that is not there": {
      line: "restart",
      code: WRONG_USAGE,
      want: "flotilla restart: there is no command 'restart'; 'flotilla help' lists them",
    },
    "a misspelt command": {
      line: "staus",
      code: WRONG_USAGE,
      want: "flotilla staus: there is no command 'staus' (did you mean 'status'?); 'flotilla help' lists them",
    },
    "help of a misspelt command": {
      line: "help plann",
      code: WRONG_USAGE,
      want: "flotilla help: there is no command 'plann' (did you mean 'plan'?); 'flotilla help' lists them",
    },
    "flags before the command": {
      line: "--data ./fleet status",
      code: WRONG_USAGE,
      want: "flags come behind a command, as in 'flotilla status --data ./fleet'",
    },
    "a misspelt flag": {
      line: "up --memebers 3",
      code: WRONG_USAGE,
      want: "flotilla up: there is no flag '--memebers' (did you mean '--members'?); see 'flotilla up --help'",
    },
    "a number that is none": {
      line: "up --port many",
      code: WRONG_USAGE,
      want: "flotilla up: --port is a whole number from 0 to 65535, not 'many'",
    },
    "a flag without its value": {
      line: "status --kubeconfig",
      code: WRONG_USAGE,
      want: "flotilla status: --kubeconfig needs a value: FILE",
    },
    "a missing argument": {
      line: "why",
      code: WRONG_USAGE,
      want: "flotilla why: TYPE/NAME is missing: the resource as kubectl names it, or its TYPE; see 'flotilla why --help'",
    },
    "an argument too many": {
      line: "status web",
      code: WRONG_USAGE,
      want: "'flotilla status' does not know what to do with 'web'; see 'flotilla status --help'",
    },
    "an output format that is none": {
      line: "status -o xml",
      code: WRONG_USAGE,
      want: "--output is one of table, json, yaml, not 'xml'",
    },
    "nothing to plan": {
      line: "plan",
      code: WRONG_USAGE,
      want: "say what would change: -f FILE, or --without-cluster NAME",
    },
    "a feature gate that there is not": {
      line: "up --kruise-gates Luck=true --data @never --port 0",
      code: WRONG_USAGE,
      want: "--kruise-gates: reading the feature gates of OpenKruise: Luck is not a gate of release 1.9.1",
    },
    "a host that is none": {
      line: "register nosuch://hub --token abcdef.0123456789abcdef --discovery-token-unsafe-skip-ca-verification --cluster-name paris --write-kubeconfig @x",
      code: WRONG_USAGE,
      want: "'nosuch://hub' is not the address of a hub; write its host and port, as in hub.example.com:6443",
    },
    "a member to pull that there is not": {
      line: "up --members 1 --pull menber1 --data @pulling --port 0",
      code: WRONG_USAGE,
      want: "--pull: there is no member 'menber1' (did you mean 'member1'?); this fleet has member1",
    },
    "a shell without completion": {
      line: "completion tcsh",
      code: WRONG_USAGE,
      want: "there is no completion for 'tcsh'; there is one for bash, zsh, fish",
    },
  },
  "of a kubeconfig": {
    "that is not there": {
      line: "status --kubeconfig @missing.kubeconfig",
      code: FAILED,
      want: /no kubeconfig at \S+missing\.kubeconfig; start a fleet with 'flotilla up', or name one with --kubeconfig FILE/,
    },
    "of a fleet that was never started": {
      line: "status --data @empty",
      code: FAILED,
      want: /no kubeconfig at \S+empty\/hub\.kubeconfig; start a fleet with 'flotilla up'/,
    },
    "that is a folder": {
      line: "status --kubeconfig @empty",
      code: WRONG_USAGE,
      want: /reading the kubeconfig \S+empty: .*it is a directory/,
    },
    "that is no YAML, without quoting it": {
      line: "status --kubeconfig @not-yaml.kubeconfig",
      code: WRONG_USAGE,
      want: /not-yaml\.kubeconfig is not valid YAML(?!.*hunter2)/,
    },
    "that is empty": {
      line: "status --kubeconfig @empty.kubeconfig",
      code: WRONG_USAGE,
      want: /empty\.kubeconfig is empty; name another file, or make it anew: 'kubectl config view/,
    },
    "that has no contexts": {
      line: "status --kubeconfig @bare.kubeconfig",
      code: WRONG_USAGE,
      want: /bare\.kubeconfig has no contexts, so it does not say which cluster is meant; name another file, or make it anew/,
    },
    "that is another file": {
      line: "status --kubeconfig @deployment.yaml",
      code: WRONG_USAGE,
      want: /deployment\.yaml is not a kubeconfig: its kind is "Deployment", not Config/,
    },
    "without a current context": {
      line: "status --kubeconfig @no-context.kubeconfig",
      code: WRONG_USAGE,
      want: /no-context\.kubeconfig names no current context; choose one of hub with 'kubectl config use-context NAME/,
    },
    "with a context that is gone": {
      line: "status --kubeconfig @lost-context.kubeconfig",
      code: WRONG_USAGE,
      want: /lost-context\.kubeconfig has no context prod; it has hub/,
    },
    "of a server that does not run": {
      line: "status --kubeconfig @closed.kubeconfig",
      code: FAILED,
      want: /127\.0\.0\.1:1\S*: nothing listens there; check the address and port, and that the server runs \(ECONNREFUSED\)$/,
    },
    "of a hub that was stopped, for members": {
      line: "get pods --data @stopped",
      code: FAILED,
      want: /\(ECONNREFUSED\)\. To start the hub of \S+stopped\/hub\.kubeconfig: 'flotilla up --data \S+stopped'$/,
    },
    "that is not there, for what uses the hub's authority too": {
      line: "token --data @empty",
      code: FAILED,
      want: /no kubeconfig at \S+empty\/hub\.kubeconfig; start a fleet with 'flotilla up'/,
    },
    "of a hub that was stopped": {
      line: "status --data @stopped",
      code: FAILED,
      want: /\(ECONNREFUSED\)\. To start the hub of \S+stopped\/hub\.kubeconfig: 'flotilla up --data \S+stopped'$/,
    },
    "of a host that is unknown": {
      line: "status --kubeconfig @nowhere.kubeconfig",
      code: FAILED,
      want: /hub\.invalid:6443.*(the host name is unknown|the DNS does not answer)/,
    },
    "of a port that speaks no TLS": {
      line: "status --kubeconfig @plain-text.kubeconfig",
      code: FAILED,
      want: /(does not speak TLS|closed the connection).*check/,
    },
    "of a web site": {
      line: "status --kubeconfig @website.kubeconfig",
      code: FAILED,
      want: /^flotilla status: http:\/\/\S+ serves neither Clusters nor ManagedClusters, so it is no hub; name the hub's kubeconfig with --kubeconfig FILE, or start one with 'flotilla up'$/,
    },
    "of a cluster that is no hub": {
      line: "why deployment/web --kubeconfig @no-hub.kubeconfig",
      code: FAILED,
      want: /asking the hub what it serves: the server could not find the requested resource; is \S+no-hub\.kubeconfig the kubeconfig of a hub\? Name the hub's with --kubeconfig FILE/,
    },
    "with another authority": {
      line: "status --kubeconfig @other-ca.kubeconfig",
      code: FAILED,
      want: /CA is not trusted; give it with certificate-authority-data, or take a newer kubeconfig/,
    },
    "of a server whose certificate has expired": {
      line: "status --kubeconfig @expired.kubeconfig",
      code: FAILED,
      want: /certificate has expired; renew it, and compare the clocks/,
    },
    "with a token that is refused": {
      line: "status --kubeconfig @refused.kubeconfig",
      code: FAILED,
      want: /Unauthorized: the server does not accept the credentials in \S+refused\.kubeconfig; they are wrong or have expired\. Take a newer kubeconfig/,
    },
    "with a token that is refused before anything else": {
      line: "why deployment/web --kubeconfig @refused.kubeconfig",
      code: FAILED,
      want: /asking the hub what it serves: Unauthorized: the server does not accept the credentials/,
    },
    "of somebody who may not": {
      line: "why deployment/web --kubeconfig @stranger.kubeconfig",
      code: FAILED,
      want: /forbidden: User "eve" cannot .*\. Ask whoever runs the server for this right, or use another kubeconfig than \S+stranger\.kubeconfig/,
    },
    "with a proxy that is down": {
      line: "status --kubeconfig @proxy.kubeconfig",
      code: FAILED,
      want: /proxy.*127\.0\.0\.1:1/,
    },
  },
  "of files": {
    "a manifest that is not there": {
      line: "plan -f @missing.yaml --data @fleet",
      code: WRONG_USAGE,
      want: /the path "\S+missing\.yaml" does not exist/,
    },
    "a folder without manifests": {
      line: "plan -f @empty --data @fleet",
      code: WRONG_USAGE,
      want: /reading \S+empty: no file there ends in \.json, \.yaml, \.yml; --recursive also looks in its folders/,
    },
    "a manifest that is no YAML": {
      line: "plan -f @broken.yaml --data @fleet",
      code: WRONG_USAGE,
      want: /broken\.yaml/,
    },
    "a manifest that is no object": { line: "plan -f @list.yaml --data @fleet", code: WRONG_USAGE, want: /list\.yaml/ },
    "manifests to look at that are not there": {
      line: "lint -f @missing.yaml",
      code: FAILED,
      want: /the path "\S+missing\.yaml" does not exist/,
    },
    "rules that are not there": {
      line: "interpret -f @missing.yaml --check",
      code: FAILED,
      want: /the path "\S+missing\.yaml" does not exist/,
    },
    "credentials that are not there": {
      line: "agent manifests --image x --cluster-name paris --bootstrap-kubeconfig @missing",
      code: FAILED,
      want: /reading \S+missing: it does not exist/,
    },
    "credentials that are a folder": {
      line: "agent manifests --image x --cluster-name paris --bootstrap-kubeconfig @empty",
      code: FAILED,
      want: /reading \S+empty: it is a directory/,
    },
    "a place to write that is not there": {
      line: "token --data @fleet --bootstrap-kubeconfig @no/such/file",
      code: FAILED,
      want: /writing \S+no\/such\/file: it does not exist/,
    },
    "a manifest that is empty": {
      line: "plan -f @empty.yaml --data @fleet",
      code: WRONG_USAGE,
      want: /empty\.yaml holds no objects/,
    },
    "a manifest to apply that is empty": {
      line: "apply --yes -f @empty.yaml --data @fleet",
      code: WRONG_USAGE,
      want: /empty\.yaml holds no objects/,
    },
    "a manifest to look at that is empty": {
      line: "lint -f @empty.yaml",
      code: WRONG_USAGE,
      want: /empty\.yaml holds no objects/,
    },
    "a snapshot that is not there": {
      line: "snapshot restore @missing.snapshot --data @restored",
      code: FAILED,
      want: /missing\.snapshot/,
    },
    "a fleet to save that is not there": {
      line: "snapshot save @x.snapshot --data @empty",
      code: FAILED,
      want: /empty/,
    },
    "the kubeconfig of a cluster that joins": {
      line: "join paris --data @fleet --cluster-kubeconfig @missing",
      code: WRONG_USAGE,
      want: /reading the kubeconfig \S+missing: .*it does not exist/,
    },
  },
  "about the fleet": {
    "a type that nobody serves": {
      line: "why sprocket/web --data @fleet",
      code: WRONG_USAGE,
      want: "the hub does not serve a resource type 'sprocket'",
    },
    "an object that is not there": {
      line: "why deployment/web --data @fleet",
      code: FAILED,
      want: "there is no Deployment web in namespace default on the hub",
    },
    "a member that is not there": {
      line: "unjoin oslo --data @fleet",
      code: WRONG_USAGE,
      want: "there is no member oslo; 'flotilla status' lists them",
    },
    "a member to adopt from that is not there": {
      line: "adopt deployment web --from oslo --data @fleet",
      code: WRONG_USAGE,
      want: "there is no member oslo",
    },
    "a simulated member that is to join once more": {
      line: "join oslo --cluster-kubeconfig @fleet/member1.kubeconfig --data @fleet",
      code: FAILED,
      want: "this cluster has joined as member1 already",
    },
    "a cluster that never asked": {
      line: "accept oslo --wait 0 --data @fleet",
      code: WRONG_USAGE,
      want: "no cluster called oslo has asked to join; start its agent",
    },
    "a type that no member serves": {
      line: "get sprockets --data @fleet",
      code: WRONG_USAGE,
      want: "member1 does not serve a resource type 'sprockets'",
    },
    "a misspelt type": {
      line: "get deploymnets --data @fleet",
      code: WRONG_USAGE,
      want: "(did you mean 'deployments'?)",
    },
    "a misspelt member": {
      line: "get pods --clusters menber1 --data @fleet",
      code: WRONG_USAGE,
      want: "there is no member 'menber1' (did you mean 'member1'?); 'flotilla status' lists them",
    },
    "a pod without logs": {
      line: "logs web-0 --data @fleet",
      code: FAILED,
      want: "there is no pod web-0 in namespace default on member1",
    },
    "a pod to run a command in": {
      line: "exec web-0 --data @fleet -- ls",
      code: FAILED,
      want: "there is no pod web-0 in namespace default on member1",
    },
    "a command to run that is missing": {
      line: "exec web-0 --data @fleet",
      code: WRONG_USAGE,
      want: "COMMAND is missing: the command and its arguments, behind --",
    },
    "nothing to describe": {
      line: "describe deployment/web --data @fleet",
      code: FAILED,
      want: "there is no Deployment web in namespace default on hub, member1",
    },
    "a format that is none": {
      line: "get pods -o xml --data @fleet",
      code: WRONG_USAGE,
      want: "-o is one of table, wide, json, yaml, name, jsonpath=…, custom-columns=…, not 'xml'",
    },
    "nobody to ask whether to apply": {
      line: "apply -f @deployment.yaml --data @fleet",
      code: WRONG_USAGE,
      want: "give --yes to apply without a question, or look first with 'flotilla plan'",
    },
    "a check that is not there": {
      line: "doctor --only luck --data @fleet",
      code: WRONG_USAGE,
      want: "there is no check 'luck'; 'flotilla doctor --list' shows them",
    },
    "a hub that cannot be reached to register": {
      line: "register 127.0.0.1:1 --token abcdef.0123456789abcdef --discovery-token-unsafe-skip-ca-verification --cluster-name paris --write-kubeconfig @paris --discovery-timeout 1",
      code: FAILED,
      want: /127\.0\.0\.1:1/,
    },
  },
};

for (const [what, cases] of Object.entries(mistakes)) {
  describe(`mistakes ${what} are told in one line:`, () => {
    for (const [mistake, { line, code, want }] of Object.entries(cases)) {
      test(mistake, async () => {
        const seen = await flotilla(line);

        expect(seen.stderr.trimEnd()).toMatch(want);
        expect(seen.stderr.trimEnd().split("\n")).toHaveLength(1);
        expect(seen.stderr).not.toMatch(/\n +at |mistake in Flotilla/);
        expect(seen).toMatchObject({ code, stdout: "" });
      });
    }
  });
}

test("with -o json an error is an object, for the program that reads the rest", async () => {
  const { stderr, code } = await flotilla("status --data @empty -o json");

  expect(JSON.parse(stderr)).toEqual({
    error: { code: "NoKubeconfig", message: expect.stringContaining("no kubeconfig at"), exitCode: 1 },
  });
  expect(code).toBe(FAILED);
});

test("who looks for a mistake in Flotilla is told where an error comes from", async () => {
  vi.stubEnv("FLOTILLA_DEBUG", "1");

  const { stderr } = await flotilla("status --data @empty");

  expect(stderr).toMatch(
    /^flotilla status: no kubeconfig at .*\nFlotillaError: no kubeconfig at .*\n +at [^]*code: 'NoKubeconfig'/,
  );
});

test("help, the overview and the version are no errors", async () => {
  expect(await flotilla("help why")).toMatchObject({
    code: 0,
    stderr: "",
    stdout: expect.stringContaining("Usage: flotilla why TYPE/NAME [NAME] [flags]"),
  });
  expect(await flotilla("why --help")).toEqual(await flotilla("help why"));
  expect(await flotilla("help")).toMatchObject({
    code: 0,
    stderr: "",
    stdout: expect.stringContaining("Getting started:"),
  });
  expect(await flotilla("")).toMatchObject({
    code: WRONG_USAGE,
    stderr: "",
    stdout: expect.stringContaining("Getting started:"),
  });
  expect(await flotilla("--version")).toMatchObject({ code: 0, stdout: expect.stringContaining("flotilla ") });
});

test("colours are printed where they are asked for, and nowhere else", async () => {
  expect((await flotilla("help why")).stdout).not.toContain("\u001b");
  vi.stubEnv("FORCE_COLOR", "1");
  expect((await flotilla("help why")).stdout).toContain("\u001b[1mUsage:");
  expect((await flotilla("help why --no-color")).stdout).not.toContain("\u001b");
});

describe("as a process of its own", () => {
  test("Ctrl-C ends a command that waits, with a line and the exit code of shells", async () => {
    const asked = new Promise<void>((resolve) => (onSilence = resolve));
    const child = spawn(BIN, ["status", "--kubeconfig", at("silent.kubeconfig")], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    await asked;
    child.kill("SIGINT");

    expect(await ended).toBe(130);
    expect(stderr).toBe("flotilla status: stopped by Ctrl-C\n");
  });

  test("a reader that leaves is no failure", () => {
    const { stdout, stderr } = spawnSync("bash", ["-c", `"${BIN}" help | true; echo "\${PIPESTATUS[0]}"`], {
      encoding: "utf8",
    });

    expect({ stdout, stderr }).toEqual({ stdout: "0\n", stderr: "" });
  });

  test.runIf(existsSync("/dev/full"))("a disk that is full is told in one line", () => {
    const { stderr, status } = spawnSync("bash", ["-c", `"${BIN}" help > /dev/full`], { encoding: "utf8" });

    expect({ stderr, status }).toEqual({
      stderr: "flotilla: writing the output: the disk is full; make room, or write elsewhere\n",
      status: 1,
    });
  });

  test("as a plugin of kubectl it calls itself so", () => {
    const { stderr, status } = spawnSync(
      "bash",
      ["-c", `ln -s "${BIN}" "${at("kubectl-flotilla")}" && "${at("kubectl-flotilla")}" staus`],
      { encoding: "utf8" },
    );

    expect({ stderr, status }).toEqual({
      stderr:
        "kubectl flotilla staus: there is no command 'staus' (did you mean 'status'?); 'kubectl flotilla help' lists them\n",
      status: 2,
    });
  });
});
