/**
 * The shipped agent between a hub and clusters that the hub cannot reach: joined with `token`, `agent` and `accept`,
 * and with `register`. With $REAL_BIN also on a real kube-apiserver, and with stock karmada-agent instead.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CertificateSigningRequest, ConfigMap, Deployment, Namespace, Secret } from "@flotilla/kubernetes";
import { Cluster, PropagationPolicy } from "@flotilla/karmada";
import { ManagedCluster, ManifestWork } from "@flotilla/ocm";
import { connectionOf, createClient, createHttp2Transport, find, loadKubeconfig } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { findCondition, isConditionTrue } from "@flotilla/apimachinery";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { realBinaries, startKube } from "../programs/kube.ts";
import { eventually } from "../programs/eventually.ts";
import { agent, flotilla, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

const LIMIT_MS = 180_000;

const binaries = process.env["REAL_BIN"] === undefined ? undefined : realBinaries();
const karmadaAgent =
  binaries !== undefined && existsSync(join(binaries, "karmada-agent")) ? join(binaries, "karmada-agent") : undefined;
if (binaries === undefined)
  process.stdout.write(
    "skipped: an agent on a kube-apiserver: $REAL_BIN is not set, or has no etcd and kube-apiserver\n",
  );
if (karmadaAgent === undefined)
  process.stdout.write("skipped: stock karmada-agent on this hub: $REAL_BIN is not set, or has no karmada-agent\n");

describe("a cluster that the hub cannot reach", { timeout: LIMIT_MS }, () => {
  const [hubData, memberData, files] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
  const transports: Transport[] = [];
  const stops: (() => Promise<unknown>)[] = [];
  let hubUp: Up;
  let memberUp: Up;
  let hub: Client;

  async function open(kubeconfig: string, cluster: { root: string } | { only: string }): Promise<Client> {
    const transport = createHttp2Transport({ ...(await connectionOf(await loadKubeconfig(kubeconfig))), cluster });
    transports.push(transport);
    return createClient({ transport, fieldManager: "test" });
  }

  beforeAll(async () => {
    [hubUp, memberUp] = await Promise.all([
      up(hubData.path, "--members", "0", "--ephemeral"),
      up(memberData.path, "--members", "3", "--nodes", "2", "--start-ms", "0", "--ephemeral"),
    ]);
    hub = await open(hubUp.kubeconfig("hub"), { root: "hub" });
    await hub.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  }, LIMIT_MS);
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
    for (const transport of transports) await transport.close();
    await Promise.all([hubUp, memberUp].map((running) => running?.stop("SIGTERM")));
    for (const folder of [hubData, memberData, files]) folder.remove();
  }, LIMIT_MS);

  const ready = (name: string): Promise<unknown> =>
    eventually(
      `${name} is ready`,
      () => find(hub, Cluster, { cluster: "hub", name }),
      (cluster) => isConditionTrue(cluster?.status?.conditions ?? [], "Ready") && cluster?.spec.taints === undefined,
    );

  /** Propagates a Deployment to one member and waits until it is applied. */
  async function propagate(name: string, cluster: string): Promise<void> {
    await hub.create(
      PropagationPolicy,
      "hub",
      makePolicy(`shop/${name}`)
        .selects("apps/v1", "Deployment", name)
        .weights({ [cluster]: 1 })
        .build(),
    );
    await hub.create(Deployment, "hub", makeDeployment(`shop/${name}`).replicas(2).build());
  }
  async function distribute(name: string, cluster: string): Promise<void> {
    const manifest = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "default", name },
      data: { from: "hub" },
    };
    await hub.create(ManifestWork, "hub", {
      apiVersion: "work.open-cluster-management.io/v1",
      kind: "ManifestWork",
      metadata: { namespace: cluster, name },
      spec: { workload: { manifests: [manifest] } },
    });
    await eventually(
      "the work is applied",
      () => hub.get(ManifestWork, { cluster: "hub", namespace: cluster, name }),
      ({ status }) => findCondition(status?.conditions ?? [], "Applied")?.status === "True",
    );
  }

  async function joinAsManaged(name: string, kubeconfig: string, ...where: string[]): Promise<void> {
    const bootstrap = join(files.path, `${name}-bootstrap.kubeconfig`);
    const token = await flotilla("token", "--kubeconfig", hubUp.kubeconfig("hub"), "--bootstrap-kubeconfig", bootstrap);
    expect(token, token.stderr).toMatchObject({ code: 0 });
    const running = agent(
      "--bootstrap-kubeconfig",
      bootstrap,
      "--cluster-kubeconfig",
      kubeconfig,
      "--cluster-name",
      name,
      ...where,
    );
    stops.push(() => running.stop());
    const accepted = await flotilla("accept", name, "--kubeconfig", hubUp.kubeconfig("hub"));
    expect(accepted, accepted.stderr).toMatchObject({ code: 0 });
    expect(accepted.stdout).toContain(`${name} has joined the hub`);
    await ready(name);
  }

  async function register(name: string, kubeconfig: string): Promise<string> {
    const token = await flotilla(
      "token",
      "--through",
      "karmada",
      "--kubeconfig",
      hubUp.kubeconfig("hub"),
      "-o",
      "json",
    );
    const ticket = JSON.parse(token.stdout) as { token: string; caHash: string; server: string };
    const own = join(files.path, `${name}-agent.kubeconfig`);
    const registered = await flotilla(
      "register",
      ticket.server.replace("https://", ""),
      "--token",
      ticket.token,
      "--discovery-token-ca-cert-hash",
      ticket.caHash,
      "--cluster-name",
      name,
      "--cluster-kubeconfig",
      kubeconfig,
      "--write-kubeconfig",
      own,
    );
    expect(registered, registered.stderr).toMatchObject({ code: 0 });
    return own;
  }

  test("requests to join, is accepted, and gets Works and ManifestWorks", async () => {
    const kubeconfig = memberUp.kubeconfig("member1");
    const member = await open(kubeconfig, { only: "member1" });

    await joinAsManaged("paris", kubeconfig, "--state", join(files.path, "paris"));
    await propagate("accepted", "paris");
    await distribute("settings", "paris");

    await eventually(
      "its status came back",
      () => hub.get(Deployment, { cluster: "hub", namespace: "shop", name: "accepted" }),
      ({ status }) => status?.readyReplicas === 2,
    );
    expect((await member.get(ConfigMap, { cluster: "member1", namespace: "default", name: "settings" })).data).toEqual({
      from: "hub",
    });
    expect(
      isConditionTrue(
        (await hub.get(ManagedCluster, { cluster: "hub", name: "paris" })).status?.conditions ?? [],
        "ManagedClusterConditionAvailable",
      ),
    ).toBe(true);
    const unjoined = await flotilla("unjoin", "paris", "--kubeconfig", hubUp.kubeconfig("hub"));
    expect(unjoined, unjoined.stderr).toMatchObject({ code: 0 });
    expect(await find(member, Deployment, { cluster: "member1", namespace: "shop", name: "accepted" })).toBeDefined();
  });

  test("registers with a token, and gets Works", async () => {
    const kubeconfig = memberUp.kubeconfig("member2");
    const own = await register("oslo", kubeconfig);
    const running = agent(
      "--hub-kubeconfig",
      own,
      "--cluster-kubeconfig",
      kubeconfig,
      "--cluster-name",
      "oslo",
      "--state",
      join(files.path, "oslo"),
    );
    stops.push(() => running.stop());
    await ready("oslo");

    await propagate("registered", "oslo");

    await eventually(
      "its status came back",
      () => hub.get(Deployment, { cluster: "hub", namespace: "shop", name: "registered" }),
      ({ status }) => status?.readyReplicas === 2,
    );
    await hub.delete(Deployment, { cluster: "hub", namespace: "shop", name: "registered" });
    const member = await open(kubeconfig, { only: "member2" });
    expect(
      await eventually(
        "it is gone from the member",
        () => find(member, Deployment, { cluster: "member2", namespace: "shop", name: "registered" }),
        (seen) => seen === undefined,
      ),
    ).toBeUndefined();
  });

  test.skipIf(binaries === undefined)("may be a real kube-apiserver", async () => {
    const kube = await startKube(binaries ?? "");
    stops.push(async () => kube.stop());
    const real = await open(kube.kubeconfig, { only: "real" });

    // As documented: credentials are stored on the cluster, which has no namespace for them yet.
    expect(await find(real, Namespace, { cluster: "real", name: "open-cluster-management-agent" })).toBeUndefined();
    await joinAsManaged("real", kube.kubeconfig);
    const requests = await hub.list(CertificateSigningRequest, {
      cluster: "hub",
      labelSelector: "open-cluster-management.io/cluster-name=real",
    });
    expect(requests.items).toHaveLength(1);
    expect(
      await find(real, Secret, {
        cluster: "real",
        namespace: "open-cluster-management-agent",
        name: "hub-kubeconfig-secret",
      }),
    ).toBeDefined();
    await propagate("shipped", "real");
    await distribute("shipped", "real");

    await eventually(
      "applied on the member",
      () => find(real, Deployment, { cluster: "real", namespace: "shop", name: "shipped" }),
      (seen) => seen !== undefined,
    );
    expect((await real.get(ConfigMap, { cluster: "real", namespace: "default", name: "shipped" })).data).toEqual({
      from: "hub",
    });
  });

  test.skipIf(karmadaAgent === undefined)("may be served by stock karmada-agent", async () => {
    const kubeconfig = memberUp.kubeconfig("member3");
    const own = await register("bern", kubeconfig);
    const args = [
      "--karmada-kubeconfig",
      own,
      "--cluster-name",
      "bern",
      "--cluster-api-endpoint",
      memberUp.url,
      "--leader-elect=false",
      "--metrics-bind-address",
      "0",
      "--health-probe-bind-address",
      "0",
      "--cluster-status-update-frequency",
      "5s",
      "--report-secrets",
      "None",
    ];
    const child = spawn(karmadaAgent ?? "", args, {
      env: { ...process.env, KUBECONFIG: kubeconfig },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (said = (said + chunk).slice(-4_000)));
    const ended = new Promise((resolve) => child.once("close", resolve));
    stops.push(() => (child.kill("SIGTERM"), ended));
    await ready("bern").catch((error: unknown) => {
      throw new Error(`karmada-agent said: ${said}`, { cause: error });
    });

    await propagate("stock", "bern");

    await eventually(
      "its status came back",
      () => hub.get(Deployment, { cluster: "hub", namespace: "shop", name: "stock" }),
      ({ status }) => status?.readyReplicas === 2,
    );
    await hub.delete(Deployment, { cluster: "hub", namespace: "shop", name: "stock" });
    const member = await open(kubeconfig, { only: "member3" });
    expect(
      await eventually(
        "it is gone from the member",
        () => find(member, Deployment, { cluster: "member3", namespace: "shop", name: "stock" }),
        (seen) => seen === undefined,
      ),
    ).toBeUndefined();
  });
});
