/**
 * Common user errors and environment failures: each ends with one line that names the action, the problem and a remedy,
 * and with the right exit code. Runs in this process, against one fleet.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { Server as HttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { createCertificateAuthority, parseYaml } from "@flotilla/apimachinery";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { systemClock } from "@flotilla/base";
import { main } from "@flotilla/server";
import { temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";
import { SHIPPED_BIN } from "../shipped.ts";

const BIN = join(SHIPPED_BIN, "flotilla");
const hasFullDevice = existsSync("/dev/full");
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

const folder = temporaryDirectory();
const servers: Server[] = [];
let fleet: Up;
/** Called when a client connects to the server that never answers. */
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

/** Variants of the hub's kubeconfig, each with one error. */
async function writeKubeconfigs(): Promise<void> {
  const make = (name: string, change: (config: Config) => void): void => {
    const config = parseYaml(readFileSync(fleet.kubeconfig("hub"), "utf8")) as unknown as Config;
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
  make("impersonating.kubeconfig", ({ users }) => (users[0].user["as"] = "eve"));
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

/** Runs a command line in this process; `@name` is a file in this test's directory. */
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
    "an unknown command": {
      line: "frobnicate",
      code: WRONG_USAGE,
      want: "flotilla frobnicate: unknown command 'frobnicate'; run 'flotilla help' to list the commands",
    },
    "a misspelt command": {
      line: "staus",
      code: WRONG_USAGE,
      want: "flotilla staus: unknown command 'staus' (did you mean 'status'?); run 'flotilla help' to list the commands",
    },
    "help of a misspelt command": {
      line: "help plann",
      code: WRONG_USAGE,
      want: "flotilla help: unknown command 'plann' (did you mean 'plan'?); run 'flotilla help' to list the commands",
    },
    "flags before the command": {
      line: "--data ./fleet status",
      code: WRONG_USAGE,
      want: "flags follow a command, for example 'flotilla status --data ./fleet'",
    },
    "a misspelt flag": {
      line: "up --memebers 3",
      code: WRONG_USAGE,
      want: "flotilla up: unknown flag '--memebers' (did you mean '--members'?); see 'flotilla up --help'",
    },
    "an invalid number": {
      line: "up --port many",
      code: WRONG_USAGE,
      want: "flotilla up: --port must be a whole number from 0 to 65535, not 'many'",
    },
    "a flag without its value": {
      line: "status --kubeconfig",
      code: WRONG_USAGE,
      want: "flotilla status: --kubeconfig needs a value: FILE",
    },
    "a missing argument": {
      line: "why",
      code: WRONG_USAGE,
      want: "flotilla why: TYPE/NAME is required: the resource as in kubectl, or its TYPE; see 'flotilla why --help'",
    },
    "an argument too many": {
      line: "status web",
      code: WRONG_USAGE,
      want: "unexpected argument 'web' for 'flotilla status'; see 'flotilla status --help'",
    },
    "an unknown output format": {
      line: "status -o xml",
      code: WRONG_USAGE,
      want: "--output must be one of table, json, yaml, wide, not 'xml'",
    },
    "nothing to plan": {
      line: "plan",
      code: WRONG_USAGE,
      want: "specify what would change: -f FILE, -k DIR, or --without-cluster NAME",
    },
    "an unknown feature gate": {
      line: "up --kruise-gates Luck=true --data @never --port 0",
      code: WRONG_USAGE,
      want: "--kruise-gates: reading the feature gates of OpenKruise: Luck is not a gate of release 1.9.1",
    },
    "an invalid host": {
      line: "register nosuch://hub --token abcdef.0123456789abcdef --discovery-token-unsafe-skip-ca-verification --cluster-name paris --write-kubeconfig @x",
      code: WRONG_USAGE,
      want: "'nosuch://hub' is not a valid hub address; use host and port, for example hub.example.com:6443",
    },
    "an unknown member in --pull": {
      line: "up --members 1 --pull menber1 --data @pulling --port 0",
      code: WRONG_USAGE,
      want: "--pull: member 'menber1' not found (did you mean 'member1'?); this fleet has member1",
    },
    "an unsupported shell for completion": {
      line: "completion tcsh",
      code: WRONG_USAGE,
      want: "no completion for shell 'tcsh'; available: bash, zsh, fish",
    },
  },
  "of a kubeconfig": {
    "that does not exist": {
      line: "status --kubeconfig @missing.kubeconfig",
      code: FAILED,
      want: /no kubeconfig at \S+missing\.kubeconfig; start a fleet with 'flotilla up', or specify one with --kubeconfig FILE/,
    },
    "of a fleet that was never started": {
      line: "status --data @empty",
      code: FAILED,
      want: /no kubeconfig at \S+empty\/hub\.kubeconfig; start a fleet with 'flotilla up'/,
    },
    "that is a directory": {
      line: "status --kubeconfig @empty",
      code: WRONG_USAGE,
      want: /cannot read the kubeconfig \S+empty; .*it is a directory/,
    },
    "that is not YAML, without quoting it": {
      line: "status --kubeconfig @not-yaml.kubeconfig",
      code: WRONG_USAGE,
      want: /not-yaml\.kubeconfig is not valid YAML(?!.*hunter2)/,
    },
    "that is empty": {
      line: "status --kubeconfig @empty.kubeconfig",
      code: WRONG_USAGE,
      want: /empty\.kubeconfig is empty; name another file, or create it again: 'kubectl config view/,
    },
    "that has no contexts": {
      line: "status --kubeconfig @bare.kubeconfig",
      code: WRONG_USAGE,
      want: /bare\.kubeconfig has no contexts, so the cluster is not known; name another file, or create it again/,
    },
    "that is another kind of file": {
      line: "status --kubeconfig @deployment.yaml",
      code: WRONG_USAGE,
      want: /deployment\.yaml is not a kubeconfig: its kind is "Deployment"; it must be Config/,
    },
    "without a current context": {
      line: "status --kubeconfig @no-context.kubeconfig",
      code: WRONG_USAGE,
      want: /no-context\.kubeconfig has no current context; choose one of hub with 'kubectl config use-context NAME/,
    },
    "with a missing context": {
      line: "status --kubeconfig @lost-context.kubeconfig",
      code: WRONG_USAGE,
      want: /lost-context\.kubeconfig has no context prod; it has hub/,
    },
    "of a server that is not running": {
      line: "status --kubeconfig @closed.kubeconfig",
      code: FAILED,
      want: /127\.0\.0\.1:1\S*: connection refused; check the address and port, and that the server is running \(ECONNREFUSED\)$/,
    },
    "of a stopped hub, for members": {
      line: "get pods --data @stopped",
      code: FAILED,
      want: /\(ECONNREFUSED\)\. To start the hub of \S+stopped\/hub\.kubeconfig: 'flotilla up --data \S+stopped --port 1'$/,
    },
    "that does not exist, for commands that also use the hub's CA": {
      line: "token --data @empty",
      code: FAILED,
      want: /no kubeconfig at \S+empty\/hub\.kubeconfig; start a fleet with 'flotilla up'/,
    },
    "of a stopped hub": {
      line: "status --data @stopped",
      code: FAILED,
      want: /\(ECONNREFUSED\)\. To start the hub of \S+stopped\/hub\.kubeconfig: 'flotilla up --data \S+stopped --port 1'$/,
    },
    "of an unknown host": {
      line: "status --kubeconfig @nowhere.kubeconfig",
      code: FAILED,
      want: /hub\.invalid:6443.*(unknown host name|the DNS server does not respond)/,
    },
    "of a port without TLS": {
      line: "status --kubeconfig @plain-text.kubeconfig",
      code: FAILED,
      want: /(does not use TLS|closed the connection).*check/,
    },
    "of a web site": {
      line: "status --kubeconfig @website.kubeconfig",
      code: FAILED,
      want: /^flotilla status: http:\/\/\S+ serves neither Clusters nor ManagedClusters, so it is not a hub; specify the hub's kubeconfig with --kubeconfig FILE, or start a hub with 'flotilla up'$/,
    },
    "of a cluster that is not a hub": {
      line: "why deployment/web --kubeconfig @no-hub.kubeconfig",
      code: FAILED,
      want: /reading the hub's API discovery: the server could not find the requested resource; is \S+no-hub\.kubeconfig the kubeconfig of a hub\? Specify the hub's with --kubeconfig FILE/,
    },
    "with another CA": {
      line: "status --kubeconfig @other-ca.kubeconfig",
      code: FAILED,
      want: /CA is not trusted; set certificate-authority-data, or get a newer kubeconfig/,
    },
    "of a server whose certificate has expired": {
      line: "status --kubeconfig @expired.kubeconfig",
      code: FAILED,
      want: /certificate has expired; renew it, and check the clocks/,
    },
    "with a rejected token": {
      line: "status --kubeconfig @refused.kubeconfig",
      code: FAILED,
      want: /Unauthorized: the server rejects the credentials in \S+refused\.kubeconfig; they are invalid or have expired\. Get a newer kubeconfig/,
    },
    "with a token that is rejected before anything else": {
      line: "why deployment/web --kubeconfig @refused.kubeconfig",
      code: FAILED,
      want: /reading the hub's API discovery: Unauthorized: the server rejects the credentials/,
    },
    "of a user without permission": {
      line: "why deployment/web --kubeconfig @impersonating.kubeconfig",
      code: FAILED,
      want: /forbidden: User "eve" cannot .*\. Ask the administrator of the server for this permission, or use a kubeconfig other than \S+impersonating\.kubeconfig/,
    },
    "with a proxy that is down": {
      line: "status --kubeconfig @proxy.kubeconfig",
      code: FAILED,
      want: /proxy.*127\.0\.0\.1:1/,
    },
  },
  "of files": {
    "a missing manifest": {
      line: "plan -f @missing.yaml --data @fleet",
      code: WRONG_USAGE,
      want: /the path "\S+missing\.yaml" does not exist/,
    },
    "a directory without manifests": {
      line: "plan -f @empty --data @fleet",
      code: WRONG_USAGE,
      want: /reading \S+empty: no file there ends in \.json, \.yaml, \.yml; use --recursive to read subfolders/,
    },
    "a manifest that is not YAML": {
      line: "plan -f @broken.yaml --data @fleet",
      code: WRONG_USAGE,
      want: /broken\.yaml/,
    },
    "a manifest that is not an object": {
      line: "plan -f @list.yaml --data @fleet",
      code: WRONG_USAGE,
      want: /list\.yaml/,
    },
    "missing manifests to lint": {
      line: "lint -f @missing.yaml",
      code: FAILED,
      want: /the path "\S+missing\.yaml" does not exist/,
    },
    "a missing customization to interpret": {
      line: "interpret -f @missing.yaml --check",
      code: FAILED,
      want: /the path "\S+missing\.yaml" does not exist/,
    },
    "missing credentials": {
      line: "agent manifests --image x --cluster-name paris --bootstrap-kubeconfig @missing",
      code: FAILED,
      want: /reading \S+missing: it does not exist/,
    },
    "credentials that are a directory": {
      line: "agent manifests --image x --cluster-name paris --bootstrap-kubeconfig @empty",
      code: FAILED,
      want: /reading \S+empty: it is a directory/,
    },
    "a missing output directory": {
      line: "token --data @fleet --bootstrap-kubeconfig @no/such/file",
      code: FAILED,
      want: /writing \S+no\/such\/file: it does not exist/,
    },
    "an empty manifest": {
      line: "plan -f @empty.yaml --data @fleet",
      code: WRONG_USAGE,
      want: /empty\.yaml contains no objects/,
    },
    "an empty manifest to apply": {
      line: "apply --yes -f @empty.yaml --data @fleet",
      code: WRONG_USAGE,
      want: /empty\.yaml contains no objects/,
    },
    "an empty manifest to lint": {
      line: "lint -f @empty.yaml",
      code: WRONG_USAGE,
      want: /empty\.yaml contains no objects/,
    },
    "a missing snapshot": {
      line: "snapshot restore @missing.snapshot --data @restored",
      code: FAILED,
      want: /missing\.snapshot/,
    },
    "a missing fleet to save": {
      line: "snapshot save @x.snapshot --data @empty",
      code: FAILED,
      want: /empty/,
    },
    "the kubeconfig of a joining cluster": {
      line: "join paris --data @fleet --cluster-kubeconfig @missing",
      code: WRONG_USAGE,
      want: /cannot read the kubeconfig \S+missing; .*it does not exist/,
    },
  },
  "about the fleet": {
    "a type that no server serves": {
      line: "why sprocket/web --data @fleet",
      code: WRONG_USAGE,
      want: "the hub does not serve the resource type 'sprocket'",
    },
    "a missing object": {
      line: "why deployment/web --data @fleet",
      code: FAILED,
      want: "Deployment web in namespace default not found on the hub",
    },
    "an unknown member": {
      line: "unjoin oslo --data @fleet",
      code: FAILED,
      want: "member oslo not found; run 'flotilla status' to list the members",
    },
    "an unknown member to adopt from": {
      line: "adopt deployment web --from oslo --data @fleet",
      code: WRONG_USAGE,
      want: "member oslo not found",
    },
    "joining a simulated member again": {
      line: "join oslo --cluster-kubeconfig @fleet/member1.kubeconfig --data @fleet",
      code: FAILED,
      want: "this cluster has joined as member1 already",
    },
    "accepting a cluster that never requested to join": {
      line: "accept oslo --wait 0 --data @fleet",
      code: FAILED,
      want: "no cluster named oslo has asked to join; start its agent",
    },
    "a type that no member serves": {
      line: "get sprockets --data @fleet",
      code: WRONG_USAGE,
      want: "member1 does not serve the resource type 'sprockets'",
    },
    "a misspelt type": {
      line: "get deploymnets --data @fleet",
      code: WRONG_USAGE,
      want: "(did you mean 'deployments'?)",
    },
    "a misspelt member": {
      line: "get pods --clusters menber1 --data @fleet",
      code: WRONG_USAGE,
      want: "member 'menber1' not found (did you mean 'member1'?); run 'flotilla status' to list the members",
    },
    "a pod without logs": {
      line: "logs web-0 --data @fleet",
      code: FAILED,
      want: "there is no pod web-0 in namespace default on member1",
    },
    "a missing pod to run a command in": {
      line: "exec web-0 --data @fleet -- ls",
      code: FAILED,
      want: "there is no pod web-0 in namespace default on member1",
    },
    "a missing command to run": {
      line: "exec web-0 --data @fleet",
      code: WRONG_USAGE,
      want: "COMMAND is required: the command and its arguments, after --",
    },
    "nothing to describe": {
      line: "describe deployment/web --data @fleet",
      code: FAILED,
      want: "there is no Deployment web in namespace default on hub, member1",
    },
    "an unknown format": {
      line: "get pods -o xml --data @fleet",
      code: WRONG_USAGE,
      want: "-o must be one of table, wide, json, yaml, name, jsonpath=…, go-template=…, custom-columns=…, not 'xml'",
    },
    "no terminal to confirm an apply": {
      line: "apply -f @deployment.yaml --data @fleet",
      code: WRONG_USAGE,
      want: "use --yes to apply without it, or run 'flotilla plan' first",
    },
    "an unknown check": {
      line: "doctor --only luck --data @fleet",
      code: WRONG_USAGE,
      want: "unknown check 'luck'; run 'flotilla doctor --list' to list the checks",
    },
    "an unreachable hub to register with": {
      line:
        "register 127.0.0.1:1 --token abcdef.0123456789abcdef --discovery-token-unsafe-skip-ca-verification " +
        "--cluster-name paris --write-kubeconfig @paris --discovery-timeout 1",
      code: FAILED,
      want: /127\.0\.0\.1:1/,
    },
  },
};

for (const [what, cases] of Object.entries(mistakes)) {
  describe(`errors ${what} are reported in one line:`, () => {
    for (const [mistake, { line, code, want }] of Object.entries(cases)) {
      test(mistake, async () => {
        const seen = await flotilla(line);

        expect(seen.stderr.trimEnd()).toMatch(want);
        expect(seen.stderr.trimEnd().split("\n")).toHaveLength(1);
        expect(seen.stderr).not.toMatch(/\n +at |bug in Flotilla/);
        expect(seen).toMatchObject({ code, stdout: "" });
      });
    }
  });
}

describe("with a member's kubeconfig, which is not a hub's,", () => {
  const lines = [
    "accept member1",
    "adopt deployment/web --from member1 --dry-run",
    "apply -f @policy.yaml --yes",
    "apply -f @web.yaml --yes",
    "cordon member1",
    "delete deployment/web --yes",
    "describe deployment/web",
    "doctor",
    "drain member1",
    "edit deployment/web --yes",
    "get pods",
    "lint -f @policy.yaml --against-hub",
    "logs web-0",
    "plan -f @policy.yaml",
    "plan -f @web.yaml",
    "rollout pause cloneset/web",
    "rollout status cloneset/web",
    "status",
    "token",
    "top pods",
    "uncordon member1",
    "unjoin member1",
    "wait deployment/web --timeout 5s",
    "why deployment/web",
  ];
  beforeAll(async () => {
    // An editor that keeps the file as it is.
    vi.stubEnv("KUBE_EDITOR", "true");
    const container = "{name: web, image: 'web:1'}";
    writeFileSync(
      at("web.yaml"),
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: new, namespace: default}\nspec: {selector: {matchLabels: {a: b}}, " +
        `template: {metadata: {labels: {a: b}}, spec: {containers: [${container}]}}}\n`,
    );
    writeFileSync(
      at("policy.yaml"),
      "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: all, namespace: default}\n" +
        "spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]}\n",
    );
    const created = await flotilla(
      "kubectl --kubeconfig @fleet/member1.kubeconfig create deployment web --image web:1 --replicas 0",
    );
    expect(created.code).toBe(0);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await flotilla("kubectl --kubeconfig @fleet/member1.kubeconfig delete deployment web");
  });

  for (const line of lines) {
    test(`'${line.replaceAll("@", "")}' says so`, async () => {
      const seen = await flotilla(`${line} --kubeconfig @fleet/member1.kubeconfig`);

      expect(seen.stderr + seen.stdout).toContain("serves neither Clusters nor ManagedClusters, so it is not a hub");
      expect(seen.code).not.toBe(0);
    });
  }

  test("an apply and a delete write nothing", async () => {
    const codeOf = async (name: string): Promise<number> =>
      (await flotilla(`kubectl --kubeconfig @fleet/member1.kubeconfig get deployment ${name}`)).code;

    expect([await codeOf("new"), await codeOf("web")]).toEqual([1, 0]);
  });
});

test("with -o json an error is a JSON object", async () => {
  const { stderr, code } = await flotilla("status --data @empty -o json");

  expect(JSON.parse(stderr)).toEqual({
    error: { code: "NoKubeconfig", message: expect.stringContaining("no kubeconfig at"), exitCode: 1 },
  });
  expect(code).toBe(FAILED);
});

test("FLOTILLA_DEBUG adds the stack trace to an error", async () => {
  vi.stubEnv("FLOTILLA_DEBUG", "1");

  const { stderr } = await flotilla("status --data @empty");

  expect(stderr).toMatch(
    /^flotilla status: no kubeconfig at .*\nFlotillaError: no kubeconfig at .*\n +at [^]*code: 'NoKubeconfig'/,
  );
});

test("help, the overview and the version are not errors", async () => {
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

test("colours are only printed on request", async () => {
  expect((await flotilla("help why")).stdout).not.toContain("\u001b");
  vi.stubEnv("FORCE_COLOR", "1");
  expect((await flotilla("help why")).stdout).toContain("\u001b[1mUsage:");
  expect((await flotilla("help why --no-color")).stdout).not.toContain("\u001b");
});

describe("as a separate process", () => {
  test("Ctrl-C ends a waiting command, with a message and the exit code of shells", async () => {
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
    expect(stderr).toBe("flotilla status: interrupted by Ctrl-C\n");
  });

  test("a closed output pipe is not a failure", () => {
    const { stdout, stderr } = spawnSync("bash", ["-c", `"${BIN}" help | true; echo "\${PIPESTATUS[0]}"`], {
      encoding: "utf8",
    });

    expect({ stdout, stderr }).toEqual({ stdout: "0\n", stderr: "" });
  });

  if (!hasFullDevice) process.stdout.write("skipped: a full disk: this system has no /dev/full\n");
  test.runIf(hasFullDevice)("a full disk is reported in one line", () => {
    const { stderr, status } = spawnSync("bash", ["-c", `"${BIN}" help > /dev/full`], { encoding: "utf8" });

    expect({ stderr, status }).toEqual({
      stderr: "flotilla: writing the output: the disk is full; free some space, or write elsewhere\n",
      status: 1,
    });
  });

  test("as a kubectl plugin it uses that name in its messages", () => {
    const { stderr, status } = spawnSync(
      "bash",
      ["-c", `ln -s "${BIN}" "${at("kubectl-flotilla")}" && "${at("kubectl-flotilla")}" staus`],
      { encoding: "utf8" },
    );

    expect({ stderr, status }).toEqual({
      stderr:
        "kubectl flotilla staus: unknown command 'staus' (did you mean 'status'?); run 'kubectl flotilla help' to list the commands\n",
      status: 2,
    });
  });
});
