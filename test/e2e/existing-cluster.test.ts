/**
 * `flotilla install` on an existing cluster: a real kube-apiserver, and a logical cluster of our own API server that has
 * only Kubernetes' kinds. The controllers and the webhooks run beside it; the members are simulated. The walk-through of the
 * guide is the one of every other hub.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCommand, noCommands } from "../programs/command-line.ts";
import type { CommandLine } from "../programs/command-line.ts";
import { eventually } from "../programs/eventually.ts";
import { flotilla, serve, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Finished, Up } from "../programs/flotilla-process.ts";
import { startOwnHost, startRealHost } from "../programs/host-cluster.ts";
import type { HostCluster } from "../programs/host-cluster.ts";
import { freePort } from "../programs/kube.ts";
import { findPrograms } from "../programs/real-programs.ts";
import { MEMBERS, testGuide } from "./seeds-guide.ts";
import type { GuideCommands } from "./seeds-guide.ts";

const run = promisify(execFile);
const LIMIT_MS = 180_000;
const CHART = fileURLToPath(new URL("../../deploy/chart", import.meta.url));
const SHOP = fileURLToPath(new URL("../../examples/shop/shop.yaml", import.meta.url));

if (noCommands !== undefined) process.stdout.write(`skipped: a hub on an existing cluster: ${noCommands}\n`);
const binaries = findPrograms(
  "a hub on a real kube-apiserver",
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "karmadactl",
);

describe.runIf(noCommands === undefined)("a hub on a cluster of our own API server", { timeout: LIMIT_MS }, () => {
  testHost(startOwnHost);
});

describe.runIf(noCommands === undefined && binaries !== undefined)(
  "a hub on a real kube-apiserver",
  { timeout: LIMIT_MS },
  () => {
    testHost(() => startRealHost(binaries ?? ""), join(binaries ?? "", "karmadactl"));
  },
);

function testHost(start: () => Promise<HostCluster>, karmadactl?: string): void {
  const [accounts, memberData] = [temporaryDirectory(), temporaryDirectory()];
  let host: HostCluster;
  let members: Up;
  let port: number;
  let programs: Up[] = [];
  let commands: GuideCommands;

  const install = (...more: string[]): Promise<Finished> =>
    flotilla(
      "install",
      "--kubeconfig",
      host.kubeconfig,
      "--address",
      `localhost:${port}`,
      "--accounts",
      accounts.path,
      ...more,
    );
  const startPrograms = async (): Promise<void> => {
    const of = (name: string): string[] => ["--kubeconfig", join(accounts.path, `${name}.kubeconfig`)];
    programs = [
      await serve(accounts.path, ["webhooks", ...of("webhooks"), "--port", String(port)]),
      await serve(accounts.path, ["controllers", ...of("controllers"), "--cluster-success-threshold", "0"]),
    ];
  };
  const stopPrograms = async (): Promise<void> => {
    const ends = [];
    const running = programs.splice(0);
    for (const program of running.toReversed()) ends.push((await program.stop("SIGTERM")).code);
    expect(ends).toEqual(running.map(() => 0));
  };
  const kubectl = async (cluster: keyof GuideCommands, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await commands[cluster].run(args);
    expect(code, `kubectl ${args.join(" ")}: ${stderr}`).toBe(0);
    return stdout;
  };
  const refusal = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await commands.hub.run(args);
    expect(code).not.toBe(0);
    return stderr;
  };

  beforeAll(async () => {
    [host, members, port] = await Promise.all([
      start(),
      up(memberData.path, "--members", "2", "--start-ms", "0", "--ephemeral"),
      freePort(),
    ]);
    const command = (kubeconfig: string): CommandLine => createCommand("kubectl", kubeconfig);
    commands = {
      hub: command(host.kubeconfig),
      member1: command(members.kubeconfig("member1")),
      member2: command(members.kubeconfig("member2")),
    };
  }, LIMIT_MS);
  afterAll(async () => {
    try {
      await stopPrograms();
    } finally {
      await members.stop("SIGTERM");
      await host.stop();
      for (const { remove } of Object.values(commands)) remove();
      for (const directory of [accounts, memberData]) directory.remove();
    }
  }, LIMIT_MS);

  test("the Helm chart makes the cluster a hub, is upgraded and removed, and leaves what members depend on", async () => {
    const helm = createCommand("helm", host.kubeconfig);
    const type = async (...args: string[]): Promise<void> => {
      const { code, stderr } = await helm.run([...args, "-n", "flotilla-system", "--timeout", "60s"]);
      expect(code, `helm ${args.join(" ")}: ${stderr}`).toBe(0);
    };
    const names = (): Promise<string> =>
      kubectl("hub", "get", "crd,namespaces,validatingwebhookconfigurations,clusterroles", "-o", "name");
    const shape = ["--set", "shape=host", "--set", "host.proxyUsers={jane}"];
    try {
      await type("install", "flotilla", CHART, "--create-namespace", ...shape);
      const installed = await names();
      await type("upgrade", "flotilla", CHART, ...shape, "--set", "host.webhooks.replicas=3");
      const webhooks = await kubectl(
        "hub",
        "get",
        "deployment",
        "flotilla-webhooks",
        "-n",
        "flotilla-system",
        "-o",
        "json",
      );
      // As its pod would start it.
      const program = await serve(accounts.path, [
        "webhooks",
        "--kubeconfig",
        host.kubeconfig,
        "--port",
        "0",
        "--api-services",
      ]);
      const service = await kubectl("hub", "get", "apiservice", "v1alpha1.cluster.karmada.io", "-o", "json");
      await program.stop("SIGTERM");
      await type("uninstall", "flotilla");
      const left = await names();
      const removed = await flotilla("uninstall", "--kubeconfig", host.kubeconfig, "--yes", "--delete-fleet");

      expect(installed).toContain("validatingwebhookconfiguration.admissionregistration.k8s.io/flotilla-webhooks");
      expect(JSON.parse(webhooks)).toMatchObject({ spec: { replicas: 3 } });
      expect(JSON.parse(service)).toMatchObject({
        spec: {
          service: { namespace: "flotilla-system", name: "flotilla-webhooks", port: 443 },
          caBundle: expect.any(String),
        },
      });
      expect(left).toContain("customresourcedefinition.apiextensions.k8s.io/works.work.karmada.io");
      expect(left).toContain("namespace/karmada-cluster");
      expect(left).not.toMatch(/flotilla-(webhooks|controllers)/);
      expect(removed.code, removed.stderr).toBe(0);
    } finally {
      helm.remove();
    }
  });

  test("an installation is shown before it is made, and made again changes nothing", async () => {
    const shown = await install("--dry-run");
    const made = await install();
    const again = await install("-o", "json");

    expect(shown.stdout, shown.stderr).toContain(
      "created  CustomResourceDefinition propagationpolicies.policy.karmada.io",
    );
    expect(shown.stdout).toContain("Nothing was changed (--dry-run).");
    expect(made.stdout, made.stderr).toMatch(/^flotilla \S+ is installed on https:\S+: \d+ created/);
    const { changes } = JSON.parse(again.stdout) as { changes: { change: string }[] };
    expect(new Set(changes.map(({ change }) => change))).toEqual(new Set(["unchanged"]));
  });

  test("the webhooks and the controllers start, and members join", async () => {
    await startPrograms();

    for (const name of MEMBERS) {
      const joined = await flotilla(
        "join",
        name,
        "--kubeconfig",
        host.kubeconfig,
        "--cluster-kubeconfig",
        members.kubeconfig(name),
      );
      expect(joined.code, joined.stderr).toBe(0);
    }
    expect(await kubectl("hub", "get", "managedclusters")).toMatch(/member1 +true .*\nmember2 +true /);
  });

  testGuide(() => commands, { hasComponents: false });

  test("a member's API is reached through its Cluster, and placements are explained", async () => {
    const pods = await kubectl(
      "hub",
      "get",
      "--raw",
      "/apis/cluster.karmada.io/v1alpha1/clusters/member1/proxy/api/v1/namespaces/default/pods?limit=1",
    );
    const why = await flotilla("why", "cloneset/sample-cloneset", "--kubeconfig", host.kubeconfig);
    const status = await flotilla("status", "--kubeconfig", host.kubeconfig);

    expect(JSON.parse(pods)).toMatchObject({ kind: "PodList" });
    expect(why.stdout, why.stderr).toMatch(/^  member1 +kept +100 +- +2$/m);
    expect(status.stdout, status.stderr).toMatch(/^member2 +push +Ready +Available /m);
  });

  test.runIf(karmadactl !== undefined)("stock karmadactl reads the hub and its members", async () => {
    const ask = async (...args: string[]): Promise<string> =>
      (await run(karmadactl ?? "", [...args, "--kubeconfig", host.kubeconfig])).stdout;

    expect(await ask("get", "clusters")).toMatch(/^member1 +Karmada +\S+ +Push +True/m);
    expect(await ask("get", "pods", "--operation-scope=members", "-n", "default")).toMatch(
      /^sample-cloneset-\S+ +member1 +\d\/\d +Running/m,
    );
  });

  test("objects are defaulted and rejected by our rules, with the texts of the upstream webhooks", async () => {
    const policy = (spec: object): string =>
      JSON.stringify({
        apiVersion: "policy.karmada.io/v1alpha1",
        kind: "PropagationPolicy",
        metadata: { name: "rules", namespace: "default" },
        spec,
      });
    const selectors = [{ apiVersion: "v1", kind: "ConfigMap", name: "rules" }];
    const write = (text: string) => commands.hub.run(["apply", "-f", "-"], text);

    const rejected = await write(
      policy({
        resourceSelectors: selectors,
        placement: { spreadConstraints: [{ spreadByField: "region", maxGroups: 1, minGroups: 2 }] },
      }),
    );
    const warned = await write(
      policy({ resourceSelectors: selectors, placement: { clusterAffinity: { clusterNames: ["member3"] } } }),
    );
    const stored = await kubectl("hub", "get", "propagationpolicy", "rules", "-n", "default", "-o", "json");

    expect(rejected.stderr).toContain('admission webhook "propagationpolicy.karmada.io" denied the request: ');
    expect(warned.stderr).toContain("no joined cluster is named member3");
    expect(JSON.parse(stored)).toMatchObject({
      metadata: { labels: { "propagationpolicy.karmada.io/permanent-id": expect.any(String) } },
      spec: { priority: 0, schedulerName: "default-scheduler" },
    });
  });

  test("protected objects and the namespaces of the hub cannot be deleted", async () => {
    await kubectl("hub", "create", "configmap", "kept", "-n", "default");
    await kubectl(
      "hub",
      "label",
      "configmap",
      "kept",
      "-n",
      "default",
      "resourcetemplate.karmada.io/deletion-protected=Always",
    );

    expect(await refusal("delete", "configmap", "kept", "-n", "default")).toContain("This resource is protected");
    expect(await refusal("delete", "namespace", "karmada-cluster")).toContain(
      "contains the Works and Secrets of members",
    );
    expect(await refusal("delete", "namespace", "karmada-es-member1")).toContain(
      "contains the Works and Secrets of members",
    );
  });

  test("a kind with two versions is read in both", async () => {
    const old = await kubectl(
      "hub",
      "get",
      "clonesets.v1alpha1.apps.kruise.io",
      "sample-cloneset",
      "-n",
      "default",
      "-o",
      "json",
    );

    expect(JSON.parse(old)).toMatchObject({
      apiVersion: "apps.kruise.io/v1alpha1",
      spec: { replicas: expect.any(Number) },
    });
  });

  test("a plan shows objects of a namespace that does not exist yet", async () => {
    const plan = await flotilla("plan", "-f", SHOP, "--kubeconfig", host.kubeconfig);

    expect(plan.stdout, plan.stderr).toMatch(/hub\n  \+ Namespace shop\n[^]*member1\n  \+ CloneSet shop\/web/);
  });

  test("an uninstallation waits for the controllers, keeps the fleet and the members' workloads, and another installation continues", async () => {
    const pods = (): Promise<string> =>
      kubectl("member1", "get", "pods", "-n", "default", "-o", "jsonpath={.items[*].metadata.uid}");
    const before = await pods();

    const early = await flotilla("uninstall", "--kubeconfig", host.kubeconfig, "--yes", "--wait", "1");
    await stopPrograms();
    const done = await flotilla("uninstall", "--kubeconfig", host.kubeconfig, "--yes");
    const kept = await kubectl("hub", "get", "clusters,resourcebindings,clonesets", "-A", "-o", "name");
    const after = await pods();
    const made = await install();
    await startPrograms();
    await eventually(
      "the hub reports its members again",
      async () => (await flotilla("status", "--kubeconfig", host.kubeconfig)).stdout,
      (status) => /^member1 +push +Ready +Available /m.test(status),
    );

    expect(early.stderr).toMatch(/controllers still run after 1 s .*Nothing else was removed/);
    expect(done.code, done.stderr).toBe(0);
    expect(kept).toContain("cluster.cluster.karmada.io/member1");
    expect(kept).toContain("cloneset.apps.kruise.io/sample-cloneset");
    expect(made.code, made.stderr).toBe(0);
    expect(after).toBe(before);
    expect(await pods()).toBe(before);
  });

  test("--delete-fleet removes members, policies and works, and leaves templates and workloads", async () => {
    const count = (): Promise<string> =>
      kubectl("member1", "get", "clonesets", "-n", "default", "-o", "jsonpath={.items[*].metadata.uid}");
    const before = await count();
    await stopPrograms();

    const done = await flotilla("uninstall", "--kubeconfig", host.kubeconfig, "--yes", "--delete-fleet");
    const definitions = await kubectl("hub", "get", "crd", "-o", "name");
    const templates = await kubectl("hub", "get", "clonesets", "-n", "default", "-o", "name");

    expect(done.code, done.stderr).toBe(0);
    expect(definitions).not.toContain("karmada.io");
    await eventually(
      "the namespaces of members are deleted",
      () => kubectl("hub", "get", "namespaces", "-o", "name"),
      (namespaces) => !namespaces.includes("karmada-es-"),
    );
    expect(templates).toContain("cloneset.apps.kruise.io/sample-cloneset");
    expect(await count()).toBe(before);
  });
}
