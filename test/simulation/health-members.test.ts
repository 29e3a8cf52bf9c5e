/** What `flotilla status` and `doctor` report about the fleet itself: its members, its controllers, and the user's rights. */
import { afterEach, expect, test } from "vitest";
import { createClient } from "@flotilla/client";
import { formatTime } from "@flotilla/base";
import { problemsOfStatus, startHealthFleet } from "./health-fleet.ts";
import { runCommand } from "./run-command.ts";
import type { HealthFleet, Manifest } from "./health-fleet.ts";
import { deployment, object, policy } from "./health-manifests.ts";

let world: HealthFleet;
afterEach(() => world.fleet.stop());

const cluster = (name: string): Manifest => object("cluster.karmada.io/v1alpha1", "Cluster", "", name);
const FAULT = { metadata: { annotations: { "simulation.flotilla.dev/fault": "unreachable" } } };
const doctorText = async (): Promise<string> =>
  (await world.doctor()).map(({ about, seen }) => `${about}: ${seen}`).join("\n");

test("an empty hub has no problem", async () => {
  world = await startHealthFleet({ members: [] });

  const text = await world.run("status");

  expect(text).toContain("No members yet.");
  expect(text).toContain("No problems found: the hub, interpreter rules, pods of workloads that are not ready.");
  expect(await doctorText()).toBe("");
});

test("an unreachable member is reported with the hub's message", async () => {
  world = await startHealthFleet({ members: ["m1", "m2"] });
  await world.patch("hub", cluster("m2"), FAULT);
  await world.fleet.run(120_000);

  expect(problemsOfStatus(await world.run("status"))).toEqual([
    "  member m2: Ready is False (cluster is not reachable: cluster m2 is cut off by its annotation simulation.flotilla.dev/fault), Available is False",
  ]);
  expect(await doctorText()).toMatch(/^member m2: Ready is False for .*cluster is not reachable/);
});

test("a member whose credentials have expired is reported with the member's answer", async () => {
  world = await startHealthFleet({
    members: [],
    connectMember: () => Promise.reject(new Error("Unauthorized: the token has expired")),
  });
  await world.create(
    "hub",
    object("v1", "Secret", "karmada-cluster", "far", { data: { token: "dG9rZW4=", caBundle: "" } }),
    object("cluster.karmada.io/v1alpha1", "Cluster", "", "far", {
      spec: {
        syncMode: "Push",
        id: "far-id",
        apiEndpoint: "https://far.example.com",
        secretRef: { namespace: "karmada-cluster", name: "far" },
      },
    }),
  );
  await world.fleet.run(120_000);

  expect(problemsOfStatus(await world.run("status")).join("\n")).toMatch(
    /member far: Ready is False \(.*the token has expired/,
  );
  expect(await doctorText()).toMatch(/member far: Ready is False .*the token has expired/);
});

test("a cluster that the hub has not accepted is reported", async () => {
  world = await startHealthFleet({ members: ["m1"] });
  await world.create(
    "hub",
    object("cluster.open-cluster-management.io/v1", "ManagedCluster", "", "new", { spec: { hubAcceptsClient: false } }),
  );
  await world.fleet.run(120_000);

  expect(problemsOfStatus(await world.run("status"))).toEqual(["  member new: the hub has not accepted it"]);
});

test("a member whose agent no longer renews its Lease is reported", async () => {
  world = await startHealthFleet({ members: ["m1", "m2"], pull: ["m2"] });
  await world.fleet.run(60_000);
  await world.patch("hub", cluster("m2"), FAULT);
  await world.fleet.run(400_000);

  expect(problemsOfStatus(await world.run("status")).join("\n")).toMatch(
    /member m2: .*its agent no longer renews its Lease, so what the hub knows of it is old/,
  );
  expect(await doctorText()).toMatch(/member m2: Its agent last renewed its lease/);
});

test("a hub whose controllers have stopped is reported first", async () => {
  world = await startHealthFleet({ members: ["m1"] });
  const renewTime = formatTime(world.fleet.clock.now()).replace("Z", ".000000Z");
  await world.create(
    "hub",
    object("coordination.k8s.io/v1", "Lease", "karmada-system", "flotilla-controllers", {
      spec: { holderIdentity: "one", leaseDurationSeconds: 15, renewTime },
    }),
  );
  await world.fleet.run(20_000);
  const before = await world.run("status");
  await world.fleet.run(60_000);

  expect(problemsOfStatus(before)).toEqual([]);
  expect(problemsOfStatus(await world.run("status"))).toEqual([
    "  hub flotilla-controllers: no process leads the hub's controllers, so nothing is propagated and what is shown here is old; start 'flotilla controllers'",
  ]);
  expect(await doctorText()).toMatch(/^hub https:\/\/hub.example.com: No process has led its controllers for 8\ds/);
});

test("a hub whose controllers never ran is reported", async () => {
  world = await startHealthFleet({ members: ["m1"] });
  await world.create("hub", object("coordination.k8s.io/v1", "Lease", "karmada-system", "flotilla-controllers", {}));

  expect(problemsOfStatus(await world.run("status"))).toEqual([
    "  hub flotilla-controllers: no process leads the hub's controllers, so nothing is propagated and what is shown here is old; start 'flotilla controllers'",
  ]);
  expect(await doctorText()).toMatch(/It runs without controllers, and none have ever run/);
});

test("a user with a role in one namespace reads first what was not checked, and no all-clear", async () => {
  world = await startHealthFleet({ members: ["m1"], nodes: 1 });
  const rbac = "rbac.authorization.k8s.io";
  await world.create(
    "hub",
    object("v1", "Namespace", "", "shop"),
    object(`${rbac}/v1`, "Role", "shop", "all", { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] }),
    object(`${rbac}/v1`, "RoleBinding", "shop", "ann", {
      roleRef: { apiGroup: rbac, kind: "Role", name: "all" },
      subjects: [{ apiGroup: rbac, kind: "User", name: "ann" }],
    }),
    deployment("shop", { image: "web:broken" }),
    policy("shop", "Deployment"),
  );
  await world.fleet.run(120_000);
  const { clock, hub } = world.fleet;
  const client = createClient({
    transport: hub.server.transport({ name: "ann", groups: ["system:authenticated"] }),
    fieldManager: "test",
  });
  const run = async (name: string, ...argv: string[]) => (await runCommand({ client, clock }, name, ...argv)).text;

  const [all, own] = [await run("status"), await run("status", "-n", "shop")];

  const lines = all.split("\n");
  expect(lines.slice(0, 3)).toEqual(["hub https://hub.example.com", "", "NOT CHECKED:"]);
  expect(lines[3]).toMatch(
    /^ {2}clusterpropagationpolicies, .*clusters, .*resourcebindings.*: you are not allowed to list them$/,
  );
  expect(all).not.toContain("No members yet");
  expect(all).not.toContain("No workloads");
  expect(all).toContain("No problems found in what was checked: the hub");
  expect(problemsOfStatus(own).join("\n")).toMatch(/Deployment shop\/web: m1: 2 of 2 pods are not ready \(for/);
  expect(own).toMatch(/NOT CHECKED:\n {2}clusters, .*\n(.*\n)*? {2}the pods on m1: .*forbidden/);
});
