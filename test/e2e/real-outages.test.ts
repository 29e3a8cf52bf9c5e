/**
 * Real API servers as members while something is missing: the member, the connection to it, its history, the hub, the
 * hub's credentials or its permissions. Also the hub's request load on a member when nothing is. The members store
 * objects and run nothing.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Cluster, PropagationPolicy, Work } from "@flotilla/karmada";
import { ClusterRole, ConfigMap, Deployment, Namespace, Secret } from "@flotilla/kubernetes";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { noCommands } from "../programs/command-line.ts";
import { eventually } from "../programs/eventually.ts";
import { startRealClusters } from "../programs/real-cluster.ts";
import type { RealCluster } from "../programs/real-cluster.ts";
import { deploymentBecomes, isGone, onMember, startRealFleet } from "./real-fleet.ts";
import type { RealFleet } from "./real-fleet.ts";
import { findPrograms } from "../programs/real-programs.ts";

const LIMIT_MS = 120_000;
const ROLE = { cluster: "paris", name: "karmada-controller-manager:karmada-paris" };

/** Values that a member normalizes, and fields that it drops or defaults. */
const ODD = makeDeployment("shop/odd")
  .with(({ spec }) =>
    Object.assign(spec.template.spec?.containers[0] ?? {}, {
      resources: { limits: { cpu: "2000m", memory: "1024Mi" } },
      env: [{ name: "EMPTY", value: "" }],
      ports: [{ containerPort: 80 }],
      args: [],
    }),
  )
  .build();

if (noCommands !== undefined) process.stdout.write(`skipped: outages of real members: ${noCommands}\n`);
const binaries = noCommands === undefined ? findPrograms("outages of real members") : undefined;

describe.runIf(binaries !== undefined)("two real members and a simulated one", { timeout: LIMIT_MS }, () => {
  let fleet: RealFleet;
  let paris: RealCluster;
  let oslo: RealCluster;

  beforeAll(async () => {
    [paris, oslo] = await startRealClusters(binaries ?? "", "bare", ["paris", "oslo"]);
    fleet = await startRealFleet("--members", "1", "--nodes", "1");
    await Promise.all([fleet.join(paris), fleet.join(oslo)]);
    await fleet.hub().create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await fleet
      .hub()
      .create(
        PropagationPolicy,
        "hub",
        makePolicy("shop/all")
          .selects("apps/v1", "Deployment")
          .selects("v1", "ConfigMap")
          .duplicates("member1", "paris", "oslo")
          .build(),
      );
    await create("kept");
    await fleet.hub().create(Deployment, "hub", ODD);
  }, LIMIT_MS);
  afterAll(async () => {
    const finished = await fleet?.stop();
    await Promise.all([paris, oslo].map((member) => member?.stop()));
    expect(finished?.code, finished?.stderr).toBe(0);
  }, LIMIT_MS);
  beforeEach(async () => {
    for (const member of ["paris", "oslo"]) await isReady(member, "True");
  });

  const onHub = (name: string) => ({ cluster: "hub", namespace: "shop", name });
  const at = ({ name: cluster }: RealCluster, name: string) => ({ cluster, namespace: "shop", name });
  const change = (name: string, replicas: number): Promise<unknown> =>
    fleet.hub().patch(Deployment, onHub(name), { spec: { replicas } }, { type: "merge" });
  /** Creates it on both members, and waits until the hub reports it as applied. */
  async function create(name: string): Promise<void> {
    await fleet.hub().create(Deployment, "hub", makeDeployment(`shop/${name}`).replicas(1).build());
    for (const member of [paris, oslo]) {
      await deploymentBecomes(member, name, ({ replicas }) => replicas === 1);
      await eventually(
        `${name} is reported as applied`,
        () => fleet.workCondition(member.name, name, "Applied"),
        (condition) => condition?.status === "True",
      );
    }
  }
  const isReady = (member: string, status: string) =>
    eventually(
      `${member} is ${status}`,
      async () =>
        (await fleet.hub().get(Cluster, { cluster: "hub", name: member })).status?.conditions?.find(
          ({ type }) => type === "Ready",
        ),
      (condition) => condition?.status === status,
    );
  /** How often the hub has probed a member since `forgetRequests`: once a second, however long the test takes. */
  const probes = (member: RealCluster): number => member.requests().filter(({ uri }) => uri === "/readyz").length;
  /** The hub's event-driven requests: periodic health and discovery requests are excluded. */
  const asked = (member: RealCluster): string[] =>
    member
      .requests()
      .filter(({ uri }) => !/^\/(readyz|version|api|apis)$/.test(uri))
      .map(({ verb, uri, code }) => `${verb} ${uri.replace(/\?.*/, "")} ${code}`);

  test("a member receives one request for a created object, one for a change, and none when nothing changes", async () => {
    const wait = (seconds: number): Promise<unknown> =>
      fleet.hub().patch(Deployment, onHub("known"), { spec: { minReadySeconds: seconds } }, { type: "merge" });
    await create("known");
    // The first change converts a created object into an applied one, which takes one more request.
    await wait(1);
    await deploymentBecomes(paris, "known", ({ minReadySeconds }) => minReadySeconds === 1);
    await paris.probed(2);
    paris.forgetRequests();
    const deployments = "/apis/apps/v1/namespaces/shop/deployments";

    await create("fresh");
    const created = asked(paris);
    paris.forgetRequests();
    await wait(2);
    await deploymentBecomes(paris, "known", ({ minReadySeconds }) => minReadySeconds === 2);
    await paris.probed(2);
    const changed = asked(paris);
    paris.forgetRequests();
    await paris.probed(5);

    expect(created).toEqual([`create ${deployments} 201`]);
    expect(changed).toEqual([`patch ${deployments}/known 200`]);
    expect(asked(paris)).toEqual([]);
    expect(paris.gate.counts().open).toBe(1);
  });

  test("a member whose API server is killed delays no other member, loses nothing, and receives pending changes", async () => {
    const before = await onMember(paris, Deployment, "kept");
    await create("removed");
    await paris.crash();

    await change("kept", 4);
    await fleet.hub().delete(Deployment, onHub("removed"));
    await deploymentBecomes(oslo, "kept", ({ replicas }) => replicas === 4);
    await isGone(oslo, Deployment, "removed");
    const reported = await eventually(
      "reported on the Work",
      () => fleet.workCondition("paris", "kept", "Applied"),
      (condition) => condition?.status === "False",
    );
    expect(reported?.message).toMatch(/paris/);
    expect(await isReady("paris", "False")).toMatchObject({ reason: "ClusterNotReachable" });
    expect(
      await eventually(
        "the deletion waits",
        async () =>
          (await fleet.hub().list(Work, { cluster: "hub", namespace: "karmada-es-paris" })).items.filter(
            ({ metadata }) => metadata.deletionTimestamp,
          ),
        (works) => works.length > 0,
      ),
    ).toHaveLength(1);

    await paris.restart();
    const after = await deploymentBecomes(paris, "kept", ({ replicas }) => replicas === 4);
    await isGone(paris, Deployment, "removed");
    await eventually(
      "reported as applied",
      () => fleet.workCondition("paris", "kept", "Applied"),
      (condition) => condition?.status === "True",
    );
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
  });

  test("changes on a member during a connection loss with compacted history are detected on reconnect", async () => {
    await create("elsewhere");
    paris.gate.cut();
    await isReady("paris", "False");
    await paris.client.patch(Deployment, at(paris, "kept"), { spec: { replicas: 9 } }, { type: "merge" });
    await paris.client.delete(Deployment, at(paris, "elsewhere"));
    await paris.compact();
    // A restarted server has an empty watch cache as well.
    await paris.crash();
    await paris.restart();
    paris.forgetRequests();

    paris.gate.open();

    await deploymentBecomes(paris, "kept", ({ replicas }) => replicas === 4);
    await deploymentBecomes(paris, "elsewhere", ({ replicas }) => replicas === 1);
    expect(
      await eventually(
        "reported",
        () => fleet.workCondition("paris", "kept", "Drifted"),
        (condition) => condition !== undefined,
      ),
    ).toMatchObject({ message: expect.stringContaining("spec.replicas was 9 instead of 4 (ann,") as string });
    // A watch that cannot resume is listed again, once.
    expect(
      paris
        .requests()
        .filter(({ uri }) => uri.startsWith("/apis/apps/v1/deployments?") && uri.includes("sendInitialEvents=true")),
    ).toHaveLength(1);
  });

  test("a killed hub removes nothing, and repairs drift after its restart", async () => {
    const before = await onMember(oslo, Deployment, "kept");
    await fleet.killHub();
    await oslo.client.patch(Deployment, at(oslo, "kept"), { spec: { replicas: 9 } }, { type: "merge" });
    for (const member of [paris, oslo]) member.forgetRequests();

    await fleet.startHub();

    const after = await deploymentBecomes(oslo, "kept", ({ replicas }) => replicas === 4);
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    // Each kind is watched once, and objects are not read one by one.
    const isWatch = (request: string): boolean => request.startsWith("watch ");
    const watches = asked(paris).filter(isWatch);
    expect(watches).toEqual([...new Set(watches)]);
    expect(asked(paris).filter((request) => !isWatch(request) && !/^get \/apis?\/[^ ]*v1 200$/.test(request))).toEqual(
      [],
    );
    expect(asked(oslo).filter((request) => !/^(get|list|watch) /.test(request))).toEqual([
      "patch /apis/apps/v1/namespaces/shop/deployments/kept 200",
    ]);
  });

  test("a rejected token is reported on the Cluster and the Work, is not retried constantly, and a valid one is used at once", async () => {
    const secret = { cluster: "hub", namespace: "karmada-cluster", name: "paris" };
    const { data } = await fleet.hub().get(Secret, secret);
    const setToken = (token: string): Promise<unknown> =>
      fleet.hub().patch(Secret, secret, { data: { token } }, { type: "merge" });
    const before = await paris.refusedCredentials();
    oslo.forgetRequests();
    await setToken(Buffer.from("no-longer-good").toString("base64"));
    await change("kept", 5);

    const reported = await eventually(
      "reported on the Work",
      () => fleet.workCondition("paris", "kept", "Applied"),
      (condition) => condition?.status === "False",
    );
    const unready = await isReady("paris", "False");
    await oslo.probed(5);
    const refused = (await paris.refusedCredentials()) - before;
    const seconds = probes(oslo);
    await setToken(data?.["token"] ?? "");

    for (const condition of [reported, unready])
      expect(condition?.message).toContain("cluster paris rejects the hub's token (401)");
    // Its health is probed every second in this test; other requests use backoff.
    expect(refused).toBeLessThan(10 + 4 * seconds);
    await deploymentBecomes(paris, "kept", ({ replicas }) => replicas === 5);
  });

  test("a missing permission is reported on the Work with the member's error, and blocked objects arrive once it is granted", async () => {
    const { rules } = await paris.client.get(ClusterRole, ROLE);
    const setRules = (given: unknown): Promise<unknown> =>
      paris.client.patch(ClusterRole, ROLE, { rules: given } as never, { type: "merge" });
    await setRules(
      rules?.map((rule) =>
        rule.resources?.includes("*") ? { ...rule, resources: ["deployments", "nodes", "pods", "namespaces"] } : rule,
      ),
    );
    await eventually(
      "the right is gone",
      async () =>
        (
          await paris.kubectl.run([
            "auth",
            "can-i",
            "create",
            "configmaps",
            "--as=system:serviceaccount:karmada-cluster:karmada-paris",
          ])
        ).stdout.trim(),
      (answer) => answer === "no",
    );
    paris.forgetRequests();

    await fleet.hub().create(ConfigMap, "hub", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "shop", name: "settings" },
      data: { mode: "plain" },
    });
    const reported = await eventually(
      "reported on the Work",
      () => fleet.workCondition("paris", "settings", "Applied"),
      (condition) => condition?.status === "False",
    );
    await change("kept", 6);
    await deploymentBecomes(paris, "kept", ({ replicas }) => replicas === 6);
    await paris.probed(5);
    const refused = paris.requests().filter(({ code }) => code === 403);
    const seconds = probes(paris);
    await setRules(rules);

    expect(reported).toMatchObject({
      reason: "AppliedFailed",
      message: expect.stringMatching(/configmaps.*forbidden|forbidden.*configmaps/) as string,
    });
    expect(refused.length).toBeLessThan(10 + 2 * seconds);
    await eventually(
      "arrived",
      () => onMember(paris, ConfigMap, "settings"),
      (seen) => seen?.data?.["mode"] === "plain",
    );
  });
});
