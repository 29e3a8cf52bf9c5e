/**
 * The shipped command adopts workloads of simulated members; with $REAL_BIN stock karmadactl promotes them, too. No pod
 * changes.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Deployment, Namespace, Pod } from "@flotilla/kubernetes";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { makeCloneSet, makeDeployment } from "@flotilla/testing/builders.ts";
import { realBinaries } from "../programs/kube.ts";
import { eventually } from "../programs/eventually.ts";
import { flotilla, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

const run = promisify(execFile);
const LIMIT_MS = 120_000;

const binaries = process.env["REAL_BIN"] === undefined ? undefined : realBinaries();
const karmadactl =
  binaries !== undefined && existsSync(join(binaries, "karmadactl")) ? join(binaries, "karmadactl") : undefined;
if (karmadactl === undefined)
  process.stdout.write("skipped: promote with karmadactl: $REAL_BIN is not set, or has no karmadactl\n");

describe("members with workloads of their own", { timeout: LIMIT_MS }, () => {
  const data = temporaryDirectory();
  const MEMBERS = ["member1", "member2"];
  let hub: Up;
  let client: Client;
  let transport: Transport;

  beforeAll(async () => {
    hub = await up(data.path, "--members", "2", "--nodes", "1", "--start-ms", "0", "--ephemeral");
    transport = createHttp2Transport({
      ...(await connectionOf(await loadKubeconfig(hub.kubeconfig("hub")))),
      cluster: { root: "hub" },
    });
    client = createClient({ transport, fieldManager: "test" });
    for (const cluster of [...MEMBERS, "hub"])
      await client.create(Namespace, cluster, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  }, LIMIT_MS);
  afterAll(async () => {
    await transport?.close();
    await hub?.stop("SIGTERM");
    data.remove();
  }, LIMIT_MS);

  const pods = async (app: string): Promise<string[]> => {
    const lists = await Promise.all(
      MEMBERS.map(
        async (cluster) => (await client.list(Pod, { cluster, namespace: "shop", labelSelector: `app=${app}` })).items,
      ),
    );
    return lists
      .flat()
      .map(
        ({ metadata, status }) =>
          `${metadata.name} ${metadata.uid} ${status?.phase} ${status?.containerStatuses?.[0]?.restartCount}`,
      )
      .sort();
  };
  const allRun =
    (count: number) =>
    (found: string[]): boolean =>
      found.length === count && found.every((line) => line.includes(" Running "));

  test("are adopted with flotilla, and the hub shows the fleet", async () => {
    await client.create(CloneSet, "member1", makeCloneSet("shop/web").replicas(3).build());
    await client.create(CloneSet, "member2", makeCloneSet("shop/web").replicas(2).build());
    const before = await eventually("pods run", () => pods("web"), allRun(5));

    const adopted = await flotilla(
      "adopt",
      "cloneset",
      "web",
      "-n",
      "shop",
      "--from",
      "member1,member2",
      "--kubeconfig",
      hub.kubeconfig("hub"),
    );
    const again = await flotilla(
      "adopt",
      "cloneset",
      "web",
      "-n",
      "shop",
      "--from",
      "member1,member2",
      "--kubeconfig",
      hub.kubeconfig("hub"),
    );

    expect(adopted, adopted.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /CloneSet shop\/web is adopted\n {2}member1 \(3\): no pod changed\n {6}spec\.\S+\.maxUnavailable: 20% → 1\n {2}member2 \(2\): no pod changed\n/,
      ) as string,
    });
    expect(again).toMatchObject({ code: 0, stdout: "CloneSet shop/web is already adopted\nNothing to do.\n" });
    await eventually(
      "the hub counts all",
      () => client.get(CloneSet, { cluster: "hub", namespace: "shop", name: "web" }),
      ({ status }) => status?.readyReplicas === 5,
    );
    expect(await pods("web")).toEqual(before);
  });

  test("members with workloads of their own that differ are rejected with exit code 1, and wrong usage with 2", async () => {
    await client.create(Deployment, "member1", makeDeployment("shop/api").image("api:1").build());
    await client.create(Deployment, "member2", makeDeployment("shop/api").image("api:2").build());

    const refused = await flotilla(
      "adopt",
      "deployment/api",
      "-n",
      "shop",
      "--from",
      "member1,member2",
      "--kubeconfig",
      hub.kubeconfig("hub"),
    );
    const wrong = await flotilla("adopt", "deployment/api", "--kubeconfig", hub.kubeconfig("hub"));

    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        "on member2 spec.template.spec.containers[0].image: api:2 → api:1; nothing was changed",
      ) as string,
    });
    expect(wrong).toMatchObject({
      code: 2,
      stderr: "flotilla adopt: --from MEMBER is required: the members that run it\n",
    });
  });

  test.skipIf(karmadactl === undefined)("are promoted with stock karmadactl", async () => {
    await client.create(Deployment, "member1", makeDeployment("shop/legacy").replicas(2).build());
    const before = await eventually("pods run", () => pods("legacy"), allRun(2));

    const { stdout } = await run(karmadactl ?? "", [
      "promote",
      "deployment",
      "legacy",
      "-n",
      "shop",
      "-C",
      "member1",
      "--kubeconfig",
      hub.kubeconfig("hub"),
    ]);

    expect(stdout).toContain("is promoted successfully");
    await eventually(
      "managed by the hub",
      () => client.get(Deployment, { cluster: "member1", namespace: "shop", name: "legacy" }),
      ({ metadata }) => metadata.labels?.["karmada.io/managed"] === "true",
    );
    await eventually(
      "the hub counts all",
      () => client.get(Deployment, { cluster: "hub", namespace: "shop", name: "legacy" }),
      ({ status }) => status?.readyReplicas === 2,
    );
    expect(await pods("legacy")).toEqual(before);
  });
});
