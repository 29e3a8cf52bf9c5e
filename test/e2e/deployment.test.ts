/** The image and the chart: what they say fits the program, and they ask for no more rights than it needs. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commands, parseCommandLine } from "@flotilla/cli";
import { createCommand, noCommands } from "../programs/command-line.ts";
import type { CommandLine } from "../programs/command-line.ts";
import { SHIPPED_MAIN } from "../shipped.ts";
import { flotilla, temporaryDirectory } from "../programs/flotilla-process.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHART = join(ROOT, "deploy/chart");
const run = promisify(execFile);

describe("the Dockerfile", () => {
  interface Instruction {
    name: string;
    text: string;
  }
  const text = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  const instructions: Instruction[] = text
    .replaceAll(/^\s*#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => ({ name: line.split(" ")[0] ?? "", text: line.slice(line.indexOf(" ") + 1) }));
  const all = (name: string): string[] => instructions.filter((each) => each.name === name).map((each) => each.text);
  const lastStage = instructions.slice(instructions.findLastIndex(({ name }) => name === "FROM"));

  test("uses only instructions that builders know, and pins the versions of base images", () => {
    const known = ["FROM", "WORKDIR", "COPY", "RUN", "LABEL", "ENV", "USER", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"];
    const bases = all("FROM").map((base) => base.split(" ")[0] ?? "");

    expect(instructions.filter(({ name }) => !known.includes(name))).toEqual([]);
    expect(new Set(bases)).toEqual(new Set(["node:24-bookworm-slim"]));
  });

  test("runs as a user other than root, by number, and starts the program without a shell", () => {
    const users = lastStage.filter(({ name }) => name === "USER").map((each) => each.text);
    const [entry = "[]"] = all("ENTRYPOINT");

    expect(users).toEqual(["1000:1000"]);
    expect(JSON.parse(entry)).toEqual([
      "node",
      "--disable-warning=ExperimentalWarning",
      "/opt/flotilla/dist/server/main.js",
    ]);
    expect(JSON.parse(all("CMD")[0] ?? "")).toEqual(["help"]);
  });

  test("runs no scripts of dependencies, and its last stage has the bundle and nothing else", () => {
    const copies = lastStage.filter(({ name }) => name === "COPY").map((each) => each.text);

    expect(all("RUN")).toEqual([
      "npm ci --ignore-scripts --no-audit --no-fund && npm run build",
      "install -d -o 1000 -g 1000 -m 700 /var/lib/flotilla",
    ]);
    expect(copies).toEqual([
      "--from=build /src/package.json /src/LICENSE /opt/flotilla/",
      "--from=build /src/dist /opt/flotilla/dist",
    ]);
    for (const name of ["package.json", "LICENSE", "package-lock.json"])
      expect(existsSync(join(ROOT, name))).toBe(true);
  });

  test("builds from the sources alone", () => {
    const ignored = readFileSync(join(ROOT, ".dockerignore"), "utf8").split("\n");

    for (const name of ["**/node_modules", ".git", "dist", "test"]) expect(ignored).toContain(name);
    for (const needed of ["packages", "tools", "bin", "package.json", "package-lock.json", "tsconfig.json"])
      expect(ignored).not.toContain(needed);
  });

  test("has everything that the program needs: it runs from a copy of these files, with a folder for its data", async () => {
    const folder = temporaryDirectory();
    try {
      mkdirSync(join(folder.path, "opt"));
      cpSync(join(dirname(SHIPPED_MAIN), ".."), join(folder.path, "opt/dist"), { recursive: true });
      cpSync(join(ROOT, "package.json"), join(folder.path, "opt/package.json"));
      await run("chmod", ["-R", "a-w", join(folder.path, "opt")]);
      const main = join(folder.path, "opt/dist/server/main.js");

      const made = await run(process.execPath, [main, "keys", "create", "--keys", join(folder.path, "keys")]);
      const version = await run(process.execPath, [main, "version", "-o", "json"]);

      expect(made.stdout).toContain("certificate authority");
      expect(version.stdout).toContain('"flotilla"');
    } finally {
      await run("chmod", ["-R", "u+w", folder.path]);
      folder.remove();
    }
  });
});

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: Record<string, unknown>;
}
interface PodSpec {
  automountServiceAccountToken?: boolean;
  serviceAccountName?: string;
  securityContext: object;
  terminationGracePeriodSeconds?: number;
  containers: {
    name: string;
    args?: string[];
    securityContext: object;
    resources: { requests?: object; limits?: object };
    livenessProbe?: { httpGet: { path: string } };
    readinessProbe?: { httpGet: { path: string } };
    volumeMounts: { mountPath: string }[];
  }[];
  volumes: { name: string; secret?: { secretName: string } }[];
}

if (noCommands !== undefined) process.stdout.write(`skipped: the chart: ${noCommands}\n`);

describe.skipIf(noCommands !== undefined)("the chart", () => {
  let helm: CommandLine;
  beforeAll(() => {
    helm = createCommand("helm", "/dev/null");
  });
  afterAll(() => helm.remove());

  const render = async (...flags: string[]): Promise<Manifest[]> => {
    const { code, stdout, stderr } = await helm.run(["template", "hub", CHART, "-n", "fleet", ...flags]);
    expect(code, stderr).toBe(0);
    return (loadAll(stdout) as (Manifest | null)[]).filter((each) => each !== null);
  };
  const podsOf = (manifests: readonly Manifest[]): PodSpec[] =>
    manifests
      .filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
      .map(({ spec }) => (spec["template"] as { spec: PodSpec }).spec);
  const named = (manifests: readonly Manifest[]): string[] =>
    manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`).toSorted();

  const SHAPES: Record<string, string[]> = {
    "with the etcd of the chart": [],
    "with an etcd of its own, TLS and encryption": [
      "--set",
      "store.address=etcds://etcd1:2379\\,etcd2:2379,store.tlsSecret=etcd-tls",
      "--set",
      "apiserver.encryptionSecret=encryption,apiserver.advertiseAddress=hub.example.com",
    ],
    "on an existing cluster": ["--set", "shape=host", "--set", "host.proxyUsers={jane}"],
    "with shards": ["--set", "controllers.shards=3", "--set", "controllers.extraArgs={--cluster-failure-threshold=60}"],
  };

  test.each(Object.entries(SHAPES))("%s calls the program with flags that it has", async (_shape, flags) => {
    const containers = podsOf(await render(...flags)).flatMap((pod) => pod.containers);
    const called = containers.filter(({ args }) => args !== undefined);

    expect(called.length).toBeGreaterThan(1);
    for (const { args: [name = "", ...rest] = [] } of called) {
      const command = await commands.find((each) => each.name === name)?.load();
      if (!command) throw new Error(`the chart calls 'flotilla ${name}'`);
      expect(() => parseCommandLine(command, rest)).not.toThrow();
    }
  });

  test.each(Object.entries(SHAPES))("%s runs without privileges, and probes every container", async (_shape, flags) => {
    for (const pod of podsOf(await render(...flags))) {
      // The programs on an existing cluster are accounts of its API server.
      expect(pod.automountServiceAccountToken ?? pod.serviceAccountName).toSatisfy(
        (account: unknown) => account === false || /^flotilla-(webhooks|controllers)$/.test(String(account)),
      );
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect([container.readinessProbe?.httpGet.path, container.livenessProbe?.httpGet.path]).toEqual([
          "/readyz",
          expect.stringMatching(/^\/(livez|healthz)$/),
        ]);
        expect(container.resources).toMatchObject({
          requests: expect.anything() as object,
          limits: expect.anything() as object,
        });
      }
    }
  });

  test("each shard has processes and a budget of its own, and the other groups run apart", async () => {
    const manifests = await render("--set", "controllers.shards=2");
    const shards = podsOf(manifests).flatMap(({ containers }) =>
      containers.flatMap(({ args = [] }) => args.filter((arg) => /^--(controllers|shard)=/.test(arg))),
    );

    expect(shards).toEqual([
      "--controllers=propagation,membership,ocm",
      "--controllers=delivery",
      "--shard=0/2",
      "--controllers=delivery",
      "--shard=1/2",
    ]);
    expect(named(manifests)).toEqual(
      expect.arrayContaining([
        "PodDisruptionBudget/hub-flotilla-delivery-0-of-2",
        "PodDisruptionBudget/hub-flotilla-delivery-1-of-2",
      ]),
    );
  });

  test("a server keeps its data in a folder that it creates, because others may write to that of a volume", async () => {
    const [pod] = podsOf(await render()).filter(({ containers }) =>
      containers.some(({ name }) => name === "apiserver"),
    );
    const [{ args = [], volumeMounts } = { volumeMounts: [] }] = pod?.containers ?? [];

    expect(args).toContain("--data=/var/lib/flotilla/hub");
    expect(volumeMounts.map(({ mountPath }) => mountPath)).toContain("/var/lib/flotilla");
  });

  test("a server has time to drain before it is killed", async () => {
    const [pod] = podsOf(await render("--set", "apiserver.shutdownDelaySeconds=40")).filter(({ containers }) =>
      containers.some(({ name }) => name === "apiserver"),
    );

    expect(pod?.terminationGracePeriodSeconds).toBe(60);
  });

  test("an etcd elsewhere leaves the chart's out", async () => {
    const manifests = await render("--set", "store.address=etcd://etcd1:2379");

    expect(named(manifests).filter((name) => name.includes("etcd"))).toEqual([]);
  });

  test("on an existing cluster the chart has what 'flotilla install' applies", async () => {
    const rendered = await render("--set", "shape=host", "--set", "host.proxyUsers={jane}");
    const { stdout } = await flotilla(
      "install",
      "--print",
      "--namespace",
      "fleet",
      "--proxy-users",
      "jane",
      "--image",
      "flotilla:0.1.0",
    );
    const installed = loadAll(stdout) as Manifest[];
    const programs = (manifests: readonly Manifest[]): unknown[] =>
      manifests
        .filter(({ kind }) => kind === "Deployment")
        .map(({ metadata, spec }) => {
          const { containers } = (spec["template"] as { spec: PodSpec }).spec;
          return containers.map(({ args, resources }) => ({ name: metadata.name, args, resources }));
        });

    // Helm makes the namespace of a release, and the program what helm would not take over.
    expect(named(rendered)).toEqual(
      named(installed).filter((name) => name !== "Namespace/fleet" && !name.startsWith("APIService/")),
    );
    expect(JSON.stringify(programs(rendered)).replace('"--api-services",', "")).toEqual(
      JSON.stringify(programs(installed)),
    );
  });

  const mistakes: Record<string, { flag: string; want: RegExp }> = {
    "a value that does not exist": { flag: "apiserver.replica=3", want: /additional properties 'replica' not allowed/ },
    "a number of etcd members without a majority": { flag: "etcd.replicas=2", want: /etcd.replicas|\/etcd\/replicas/ },
    "an address that is not etcd's": { flag: "store.address=http://etcd", want: /store.address|\/store\/address/ },
    "a shape that does not exist": { flag: "shape=hosted", want: /shape/ },
    "a project that does not exist": { flag: "host.workloads={kruise}", want: /host.workloads|\/host\/workloads/ },
    "no store at all": { flag: "etcd.enabled=false", want: /set store.address, or enable the etcd of this chart/ },
  };
  test.each(Object.entries(mistakes))("%s is rejected", async (_mistake, { flag, want }) => {
    const { code, stderr } = await helm.run(["template", "hub", CHART, "--set", flag]);

    expect(code).toBe(1);
    expect(stderr).toMatch(want);
  });

  test("the kubeconfig that its notes describe is one of the controllers", async () => {
    const folder = temporaryDirectory();
    try {
      const keys = join(folder.path, "keys");
      await flotilla("keys", "create", "--keys", keys);
      const { code, stdout } = await flotilla(
        "keys",
        "kubeconfig",
        "--keys",
        keys,
        "--server",
        "https://hub-flotilla.fleet.svc:6443",
      );

      expect(code).toBe(0);
      expect(stdout).toContain("https://hub-flotilla.fleet.svc:6443");
      expect(stdout).toContain("client-certificate-data");
    } finally {
      folder.remove();
    }
  });
});
