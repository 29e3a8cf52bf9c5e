/**
 * The shipped command with a cluster of another process as a member: join, propagate a workload, reach it through the
 * hub, unjoin. With $REAL_BIN also with stock karmadactl, and with a real kube-apiserver as the member.
 */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseYaml } from "@flotilla/apimachinery";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Cluster, PropagationPolicy } from "@flotilla/karmada";
import {
  ClusterRole,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  Pod,
  Secret,
  ServiceAccount,
} from "@flotilla/kubernetes";
import { connectionOf, createClient, createHttp2Transport, find, loadKubeconfig } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { realBinaries, startKube } from "../programs/kube.ts";
import { eventually } from "../programs/eventually.ts";
import { flotilla, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

const run = promisify(execFile);
const LIMIT_MS = 120_000;

const binaries = process.env["REAL_BIN"] === undefined ? undefined : realBinaries();
const karmadactl =
  binaries !== undefined && existsSync(join(binaries, "karmadactl")) ? join(binaries, "karmadactl") : undefined;
if (karmadactl === undefined)
  process.stdout.write("skipped: join with karmadactl: $REAL_BIN is not set, or has no karmadactl\n");
if (binaries === undefined)
  process.stdout.write(
    "skipped: a kube-apiserver as member: $REAL_BIN is not set, or has no etcd and kube-apiserver\n",
  );

/** The version that every OpenKruise release serves. */
const OlderCloneSet = { ...CloneSet, storageVersion: "v1alpha1" };

/** A member of the hub, however it joined. */
interface Member {
  kubeconfig: string;
  context: string;
  client: Client;
}

describe("a cluster of another process", { timeout: LIMIT_MS }, () => {
  const [hubData, memberData] = [temporaryDirectory(), temporaryDirectory()];
  const transports: Transport[] = [];
  let hubUp: Up;
  let memberUp: Up;
  let hub: Client;
  let other: Member;
  let stopKube: (() => Promise<void>) | undefined;

  async function open(kubeconfig: string, cluster: { root: string } | { only: string }): Promise<Client> {
    const transport = createHttp2Transport({ ...(await connectionOf(await loadKubeconfig(kubeconfig))), cluster });
    transports.push(transport);
    return createClient({ transport, fieldManager: "test" });
  }

  beforeAll(async () => {
    [hubUp, memberUp] = await Promise.all([
      up(hubData.path, "--members", "1", "--nodes", "0", "--ephemeral"),
      up(memberData.path, "--members", "1", "--nodes", "2", "--start-ms", "0", "--ephemeral"),
    ]);
    hub = await open(hubUp.kubeconfig("hub"), { root: "hub" });
    other = {
      kubeconfig: memberUp.kubeconfig("member1"),
      context: "member1",
      client: await open(memberUp.kubeconfig("member1"), { only: "member1" }),
    };
    await hub.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  }, LIMIT_MS);
  afterAll(async () => {
    for (const transport of transports) await transport.close();
    await Promise.all([hubUp, memberUp].map((running) => running?.stop("SIGTERM")));
    await stopKube?.();
    hubData.remove();
    memberData.remove();
  }, LIMIT_MS);

  /** Propagates a Deployment and a CloneSet to one member; they are deleted from the hub when the test ends. */
  async function propagate(name: string, cluster: string): Promise<void> {
    await hub.create(
      PropagationPolicy,
      "hub",
      makePolicy(`shop/${name}`)
        .selects("apps/v1", "Deployment", name)
        .selects("apps.kruise.io/v1alpha1", "CloneSet", name)
        .weights({ [cluster]: 1 })
        .build(),
    );
    await hub.create(Deployment, "hub", makeDeployment(`shop/${name}`).replicas(2).build());
    await hub.create(OlderCloneSet, "hub", {
      ...makeCloneSet(`shop/${name}`).replicas(2).build(),
      apiVersion: "apps.kruise.io/v1alpha1",
    });
  }
  async function withdraw(name: string): Promise<void> {
    await hub.delete(Deployment, { cluster: "hub", namespace: "shop", name });
    await hub.delete(CloneSet, { cluster: "hub", namespace: "shop", name });
    await hub.delete(PropagationPolicy, { cluster: "hub", namespace: "shop", name });
  }
  const there = (client: Client, cluster: string, name: string): Promise<unknown> =>
    find(client, Deployment, { cluster, namespace: "shop", name });

  test("joins with flotilla, runs workloads, is reached through the hub as the caller, and keeps its workloads when it leaves", async () => {
    const joined = await flotilla(
      "join",
      "far",
      "--kubeconfig",
      hubUp.kubeconfig("hub"),
      "--cluster-kubeconfig",
      other.kubeconfig,
      "--cluster-region",
      "eu",
    );
    expect(joined, joined.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^cluster far has joined: v1\.\d+.*2 nodes, ready\n$/) as string,
    });

    await propagate("web", "far");
    await eventually(
      "ready on the hub",
      () => hub.get(Deployment, { cluster: "hub", namespace: "shop", name: "web" }),
      ({ status }) => status?.readyReplicas === 2,
    );
    await eventually(
      "a fleet's CloneSet is ready",
      () => hub.get(CloneSet, { cluster: "hub", namespace: "shop", name: "web" }),
      ({ status }) => status?.readyReplicas === 2,
    );
    const proxied = async (): Promise<{ status: number; body: string }> => {
      const { status, body } = await hub.raw({
        method: "GET",
        path: "/apis/cluster.karmada.io/v1alpha1/clusters/far/proxy/api/v1/namespaces/shop/pods?limit=10",
        cluster: "hub",
      });
      return { status, body: await new Response(ReadableStream.from(body)).text() };
    };
    // The users that the hub may impersonate there are delivered like any other object.
    const { body } = await eventually(
      "the member's API is reached through the hub",
      proxied,
      ({ status }) => status === 200,
    );
    expect((JSON.parse(body) as { items: Pod[] }).items).toHaveLength(4);

    const left = await flotilla(
      "unjoin",
      "far",
      "--kubeconfig",
      hubUp.kubeconfig("hub"),
      "--cluster-kubeconfig",
      other.kubeconfig,
    );
    expect(left, left.stderr).toMatchObject({
      code: 0,
      stdout: "cluster far has left; its workloads keep running\n",
    });
    expect(await find(hub, Cluster, { cluster: "hub", name: "far" })).toBeUndefined();
    expect(await find(hub, Namespace, { cluster: "hub", name: "karmada-es-far" })).toBeUndefined();
    await eventually(
      "credentials go with the Cluster",
      () => find(hub, Secret, { cluster: "hub", namespace: "karmada-cluster", name: "far" }),
      (secret) => secret === undefined,
    );
    expect(await there(other.client, "member1", "web")).toBeDefined();
    expect(
      await find(other.client, ClusterRole, { cluster: "member1", name: "karmada-controller-manager:karmada-far" }),
    ).toBeUndefined();
    await withdraw("web");
  });

  test("loses its workloads when it is purged", async () => {
    await flotilla(
      "join",
      "far",
      "--kubeconfig",
      hubUp.kubeconfig("hub"),
      "--cluster-kubeconfig",
      other.kubeconfig,
      "--token-days",
      "0",
      "--permissions",
      "admin",
    );
    await propagate("purged", "far");
    await eventually(
      "applied on the member",
      () => there(other.client, "member1", "purged"),
      (seen) => seen !== undefined,
    );

    const left = await flotilla(
      "unjoin",
      "far",
      "--purge",
      "--kubeconfig",
      hubUp.kubeconfig("hub"),
      "--cluster-kubeconfig",
      other.kubeconfig,
    );

    expect(left, left.stderr).toMatchObject({
      code: 0,
      stdout: "cluster far has left; the objects that the hub created there are deleted\n",
    });
    await eventually(
      "deleted on the member",
      () => there(other.client, "member1", "purged"),
      (seen) => seen === undefined,
    );
    await withdraw("purged");
  });

  test("cannot join twice under two names, and an unknown member cannot be unjoined", async () => {
    await flotilla("join", "far", "--kubeconfig", hubUp.kubeconfig("hub"), "--cluster-kubeconfig", other.kubeconfig);

    const again = await flotilla(
      "join",
      "near",
      "--kubeconfig",
      hubUp.kubeconfig("hub"),
      "--cluster-kubeconfig",
      other.kubeconfig,
    );
    const unknown = await flotilla("unjoin", "near", "--kubeconfig", hubUp.kubeconfig("hub"));
    await flotilla("unjoin", "far", "--kubeconfig", hubUp.kubeconfig("hub"), "--cluster-kubeconfig", other.kubeconfig);

    expect(again).toMatchObject({
      code: 1,
      stderr: "flotilla join: this cluster has joined as far already; unjoin it first\n",
    });
    expect(unknown).toMatchObject({
      code: 1,
      stderr: "flotilla unjoin: member near not found; run 'flotilla status' to list the members\n",
    });
  });

  test.skipIf(karmadactl === undefined)(
    "joins and leaves with stock karmadactl, which reaches its pods through the hub",
    async () => {
      const control = (...args: string[]): Promise<{ stdout: string }> =>
        run(karmadactl ?? "", [...args, "--kubeconfig", hubUp.kubeconfig("hub")]);

      const joined = await control("join", "far", "--cluster-kubeconfig", other.kubeconfig);
      expect(joined.stdout).toContain("cluster(far) is joined successfully");
      await propagate("stock", "far");
      await eventually(
        "ready on the member",
        () => find(other.client, Deployment, { cluster: "member1", namespace: "shop", name: "stock" }),
        (seen) => seen?.status?.readyReplicas === 2,
      );
      const listed = await control("get", "deployments", "-n", "shop", "--operation-scope", "members", "-C", "far");
      expect(listed.stdout).toMatch(/NAME +CLUSTER +READY[\s\S]*stock +far +2\/2/);
      const [pod] = (
        await other.client.list(Pod, { cluster: "member1", namespace: "shop", labelSelector: "app=stock" })
      ).items;
      const name = pod?.metadata.name ?? "";
      expect((await control("logs", name, "-n", "shop", "--cluster", "far")).stdout).not.toBe("");
      expect(
        (
          await run(karmadactl ?? "", [
            "--kubeconfig",
            hubUp.kubeconfig("hub"),
            "exec",
            name,
            "-n",
            "shop",
            "--operation-scope",
            "members",
            "--cluster",
            "far",
            "--",
            "hostname",
          ])
        ).stdout.trim(),
      ).toBe(name);

      await control(
        "unjoin",
        "far",
        "--cluster-kubeconfig",
        other.kubeconfig,
        "--cluster-context",
        other.context,
        "--wait",
        "60s",
      );
      expect(await find(hub, Cluster, { cluster: "hub", name: "far" })).toBeUndefined();
      expect(await there(other.client, "member1", "stock")).toBeDefined();
      await withdraw("stock");
    },
  );

  test.skipIf(binaries === undefined)(
    "may be a real kube-apiserver, where the hub needs only permission to read and write objects",
    async () => {
      const kube = await startKube(binaries ?? "");
      stopKube = async () => kube.stop();
      const real = await open(kube.kubeconfig, { only: "real" });
      const definition = parseYaml(
        readFileSync(join(binaries ?? "", "kruise-config/crd/bases/apps.kruise.io_clonesets.yaml"), "utf8"),
      ) as unknown as CustomResourceDefinition;
      await real.create(CustomResourceDefinition, "real", definition);

      const joined = await flotilla(
        "join",
        "real",
        "--kubeconfig",
        hubUp.kubeconfig("hub"),
        "--cluster-kubeconfig",
        kube.kubeconfig,
      );
      expect(joined, joined.stderr).toMatchObject({ code: 0 });
      await propagate("shipped", "real");
      const delivered = await eventually(
        "applied on the member",
        () => find(real, Deployment, { cluster: "real", namespace: "shop", name: "shipped" }),
        (seen) => seen !== undefined,
      );
      await eventually(
        "its CloneSet too",
        () => find(real, OlderCloneSet, { cluster: "real", namespace: "shop", name: "shipped" }),
        (seen) => seen !== undefined,
      );
      await eventually(
        "the hub may act as its administrator",
        () => find(real, ClusterRole, { cluster: "real", name: "karmada-impersonator" }),
        (role) => (role?.rules?.length ?? 0) > 0,
      );
      const left = await flotilla(
        "unjoin",
        "real",
        "--kubeconfig",
        hubUp.kubeconfig("hub"),
        "--cluster-kubeconfig",
        kube.kubeconfig,
      );

      expect(delivered?.spec.replicas).toBe(2);
      expect(left, left.stderr).toMatchObject({ code: 0 });
      expect(
        await find(real, ServiceAccount, { cluster: "real", namespace: "karmada-cluster", name: "karmada-real" }),
      ).toBeUndefined();
      await withdraw("shipped");
    },
  );
});
