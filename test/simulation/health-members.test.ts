/** What `flotilla status` and `doctor` report about the fleet itself: its members, its controllers, and the user's rights. */
import { CONTROLLER_GROUPS, controllersLease } from "@flotilla/flotilla";
import { afterEach, expect, test } from "vitest";
import { createClient } from "@flotilla/client";
import type { TransportRequest } from "@flotilla/client";
import type { TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";
import { formatMicroTime, formatTime, isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { DoctorFinding } from "../../packages/cli/src/doctor/doctor-check.ts";
import { problemsOfStatus, readFirst, startHealthFleet } from "./health-fleet.ts";
import { realRefusal, refusing } from "./real-refusals.ts";
import { runCommand } from "./run-command.ts";
import type { HealthFleet, Manifest } from "./health-fleet.ts";
import { deployment, job, object, policy } from "./health-manifests.ts";

let world: HealthFleet;
afterEach(() => world.fleet.stop());

const cluster = (name: string): Manifest => object("cluster.karmada.io/v1alpha1", "Cluster", "", name);
const FAULT = { metadata: { annotations: { "simulation.flotilla.dev/fault": "unreachable" } } };
const doctorText = async (only?: DoctorFinding["severity"]): Promise<string> =>
  (await world.doctor()).findings
    .filter(({ severity }) => only === undefined || severity === only)
    .map(({ about, seen }) => `${about}: ${seen}`)
    .join("\n");

/** What `status`, `doctor` and `why` print, if the first three lines on a terminal do not name the cause. */
async function withoutCause(cause: RegExp, ...workloads: string[]): Promise<string[]> {
  const printed = [await world.show("status"), await (await world.doctor()).print()];
  for (const workload of workloads) printed.push(await world.show("why", workload, "-n", "shop"));
  return printed.filter((text) => !cause.test(readFirst(text)));
}

test("an empty hub has no problem", async () => {
  world = await startHealthFleet({ members: [] });

  const text = await world.run("status");

  expect(text).toContain("No members yet.");
  expect(text).toContain(
    "No problems found: the hub, releases, interpreter rules, pods of workloads that are not ready.",
  );
  expect(await doctorText()).toBe("");
});

test("an unreachable member is the cause, with the hub's message, and so it is for its workloads", async () => {
  world = await startHealthFleet({ members: ["m1", "m2"] });
  await world.create(
    "hub",
    object("v1", "Namespace", "", "shop"),
    deployment("shop"),
    policy("shop", "Deployment", { clusters: ["m2"] }),
  );
  await world.fleet.run(20_000);
  await world.patch("hub", cluster("m2"), FAULT);
  await world.fleet.run(120_000);

  expect(problemsOfStatus(await world.run("status"))).toContain(
    "  member m2: Ready is False (cluster is not reachable: cluster m2 is cut off by its annotation simulation.flotilla.dev/fault), Available is False",
  );
  expect(await withoutCause(/m2.*(is not ready|Ready is False)/, "deployment/web")).toEqual([]);
  expect(await doctorText()).toMatch(/^member m2: Ready is False for .*cluster is not reachable/);

  await world.patch("hub", cluster("m2"), { metadata: { annotations: { "simulation.flotilla.dev/fault": null } } });

  expect(await world.run("status")).toContain(
    "member m2: Ready is False (its annotation simulation.flotilla.dev/fault was removed, and the hub has not probed it since)",
  );

  await world.fleet.run(12_000);

  expect(await world.run("status")).toContain(
    "member m2: Ready is False (cluster answers again; it is ready after it has answered for 30 s)",
  );
  expect(await doctorText()).toContain("cluster answers again; it is ready after it has answered for 30 s");
});

test("a member that is cut off is reported within seconds, long before it is no longer Ready, and its numbers are stale", async () => {
  world = await startHealthFleet({ members: ["m1", "m2"] });
  await world.create(
    "hub",
    object("v1", "Namespace", "", "shop"),
    deployment("shop"),
    policy("shop", "Deployment", { clusters: ["m2"] }),
  );
  await world.fleet.run(20_000);

  await world.patch("hub", cluster("m2"), FAULT);
  await world.fleet.run(3_000);

  const cause = /m2.*does not respond/i;
  const text = await world.run("status");
  expect(text).toMatch(/^m2 +push +NotResponding/m);
  expect(text).toMatch(/^shop +web +Deployment .*stale/m);
  expect(await withoutCause(cause, "deployment/web")).toEqual([]);

  await world.patch("hub", cluster("m2"), { metadata: { annotations: { "simulation.flotilla.dev/fault": null } } });
  await world.fleet.run(3_000);

  expect(problemsOfStatus(await world.run("status"))).toEqual([]);
  expect(await world.run("status")).not.toContain("stale");
  expect(await doctorText()).not.toContain("respond");
});

/** What a real server answers, as a member. */
async function startRefused(how: Parameters<typeof realRefusal>[0]): Promise<void> {
  const error = await realRefusal(how);
  world = await startHealthFleet({ members: [], connectMember: () => Promise.resolve(refusing(error)) });
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
}

const REFUSALS: Record<string, { how: Parameters<typeof realRefusal>[0]; cause: RegExp; fix: string }> = {
  "whose certificate has expired": {
    how: { issuedDaysAgo: 400 },
    cause: /member far.* Ready is False .*the server's certificate has expired/,
    fix: "Renew the certificate of its API server, or synchronize the clocks; the hub then recovers by itself.",
  },
  "whose certificate is not valid yet": {
    how: { issuedDaysAgo: -2 },
    cause: /member far.* Ready is False .*the server's certificate is not valid yet/,
    fix: "Renew the certificate of its API server, or synchronize the clocks; the hub then recovers by itself.",
  },
  "that does not know the token of the hub any longer": {
    how: { issuedDaysAgo: 1, token: "expired" },
    cause: /member far.*rejects the hub's token \(401\)/,
    fix: "Join it again under the same name, which renews the hub's credentials.",
  },
};
test.each(Object.entries(REFUSALS))("a member %s is reported with this cause", async (_, { how, cause, fix }) => {
  await startRefused(how);

  expect(await withoutCause(cause)).toEqual([]);
  expect((await world.doctor()).findings.find(({ about }) => about === "member far")?.fix).toBe(fix);
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

/** A workload on a member that pulls, whose agent runs in this process until the test stops it. */
async function startPulling(rest: Partial<TestFleetOptions> = {}): Promise<void> {
  world = await startHealthFleet({ members: ["m1", "m2"], pull: ["m2"], nodes: 1, ...rest });
  await world.create(
    "hub",
    object("v1", "Namespace", "", "shop"),
    deployment("shop"),
    policy("shop", "Deployment", { clusters: ["m2"] }),
  );
  await world.fleet.run(60_000);
}

test("a pull member whose agent stopped is the cause for its workloads", async () => {
  await startPulling();
  await world.patch("hub", cluster("m2"), FAULT);
  await world.fleet.run(120_000);

  expect(await withoutCause(/m2\b.*\bagent\b/i, "deployment/web")).toEqual([]);
});

test("a pull member whose agent never started is the cause for its workloads", async () => {
  world = await startHealthFleet({ members: ["m1"] });
  await world.create(
    "hub",
    object("cluster.karmada.io/v1alpha1", "Cluster", "", "m2", { spec: { syncMode: "Pull", id: "m2-id" } }),
    object("v1", "Namespace", "", "shop"),
    deployment("shop"),
    policy("shop", "Deployment", { clusters: ["m2"] }),
  );
  await world.fleet.run(120_000);

  expect(await withoutCause(/m2\b.*\b(agent|never)\b/i, "deployment/web")).toEqual([]);
});

test("a member whose agent stopped before a workload arrived does not hide what the others run", async () => {
  await startPulling();
  await world.patch("hub", cluster("m2"), FAULT);
  await world.create(
    "hub",
    object("v1", "Namespace", "", "new"),
    deployment("new"),
    policy("new", "Deployment", { clusters: ["m1", "m2"] }),
  );
  await world.fleet.run(90_000);

  expect(await world.run("status", "-n", "new")).toMatch(/new +web +Deployment +2\/4 /);
  expect(await world.run("why", "deployment/web", "-n", "new")).not.toContain("m1: not applied");
});

test("a hub whose disk is full is the cause", async () => {
  let isFull = false;
  await startPulling({ takesWrites: () => !isFull });
  isFull = true;

  expect(
    await withoutCause(/hub.* store-writes: its disk is full, so every change is rejected/, "deployment/web"),
  ).toEqual([]);
});

test("a hub whose store is above its quota is the cause, also while it serves everything else", async () => {
  await startPulling({ storeQuotaBytes: 4_000_000 });
  const before = await world.run("status");
  const data = { text: "x".repeat(100_000) };
  const fill = async (): Promise<void> => {
    for (let count = 0; count < 40; count++)
      await world.create("hub", object("v1", "ConfigMap", "shop", `large-${count}`, { data }));
  };

  await expect(fill()).rejects.toThrow("the store of this server is full");

  expect(problemsOfStatus(before)).toEqual([]);
  expect(await withoutCause(/hub.* store-quota: its store is full or nearly full/, "deployment/web")).toEqual([]);
});

/** Shifts the times that the agent of a member writes. */
const agentClock = (aheadMs: number): Pick<TestFleetOptions, "wrap"> => ({
  wrap: (transport) => ({
    ...transport,
    send: (request, signal) => transport.send(withTimesShifted(request, aheadMs), signal),
  }),
});

function withTimesShifted(request: TransportRequest, aheadMs: number): TransportRequest {
  const { body, path, verb } = request;
  if (path.resource !== "leases" || !isObject(body) || verb === "patch" || path.namespace === "karmada-system")
    return request;
  const spec = isObject(body["spec"]) ? body["spec"] : {};
  const { renewTime } = spec;
  const shifted = Date.parse(typeof renewTime === "string" ? renewTime : "") + aheadMs;
  return { ...request, body: { ...body, spec: { ...spec, renewTime: formatMicroTime(shifted) } } };
}

test("a pull member whose clock is an hour behind is reported with its clock, not with a silent agent", async () => {
  await startPulling(agentClock(-3_600_000));
  // The hub and the agent write the condition by turns, once a minute each.
  await world.fleet.run(30_000);

  const status = await world.run("status");
  expect(problemsOfStatus(status)).toEqual([
    // Open Cluster Management compares the agent's time with the hub's, as upstream does.
    "  member m2: Available is Unknown, its clock is 3600 s behind the hub's, so certificates may count as expired or not yet valid there",
  ]);
  expect(status).toMatch(/^m2 +pull +Ready /m);
  expect(await doctorText()).toContain("agent of m2: Its clock is 3600 s behind the hub's.");
  expect(await doctorText()).not.toContain("Its agent last renewed");
});

test("a pull member whose clock is 20 s off is ready, and only warned about", async () => {
  for (const aheadMs of [20_000, -20_000]) {
    await startPulling(agentClock(aheadMs));

    expect(problemsOfStatus(await world.run("status"))).toEqual([]);
    expect((await world.doctor()).findings.map(({ severity, about }) => `${severity} ${about}`)).toEqual([
      "warning agent of m2",
      "warning agent of m1",
    ]);
    await world.fleet.stop();
  }
  await startPulling();
});

test("a policy with parts that have no effect, and one that no member fits, are reported after 20 s", async () => {
  world = await startHealthFleet({ members: ["m1", "m2"] });
  const spreadConstraints = [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }];
  const divided = { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" };
  const weights = [{ targetCluster: { clusterNames: ["m1"] }, weight: 1 }];
  await world.create(
    "hub",
    object("v1", "Namespace", "", "shop"),
    deployment("shop"),
    policy("shop", "Deployment", {
      clusters: ["m1", "m9"],
      placement: {
        spreadConstraints,
        replicaScheduling: { ...divided, weightPreference: { staticWeightList: weights } },
      },
    }),
  );
  await world.fleet.run(20_000);

  const sound = await world.run("status");

  await world.create(
    "hub",
    object("v1", "Namespace", "", "lost"),
    deployment("lost"),
    policy("lost", "Deployment", {
      placement: { clusterAffinity: { labelSelector: { matchLabels: { tier: "gold" } } } },
    }),
  );
  await world.fleet.run(20_000);

  expect(sound).toMatch(/No problems found: the hub, 2 members, 1 binding, /);
  expect(sound).toContain("2 parts of a policy have no effect: run 'flotilla doctor --only policies'.");
  expect(await doctorText("warning")).toMatch(/PropagationPolicy shop\/all: It names m9[^]*shop\/all: Its spread/);
  expect(await doctorText("problem")).toMatch(/^Deployment lost\/web: 0\/2 clusters are available: /m);
});

test("a member that was drained, and one that has just joined, are not a problem", async () => {
  world = await startHealthFleet({ members: ["m1", "m2"], nodes: 1 });
  await world.create(
    "hub",
    object("v1", "Namespace", "", "shop"),
    deployment("shop", { replicas: 4 }),
    policy("shop", "Deployment", {
      clusters: ["m1", "m2"],
      placement: { replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" } },
    }),
  );
  await world.fleet.run(30_000);
  await Promise.all([world.run("drain", "m2", "--timeout", "120"), world.fleet.run(120_000)]);
  await world.fleet.hub.addMembers(["m3"], (name) => `https://${name}.example.com`, new AbortController().signal);
  await world.fleet.run(1_000);

  expect(problemsOfStatus(await world.run("status"))).toEqual([]);
  expect(await world.run("why", "deployment/web", "-n", "shop")).toContain("PROBLEMS\n  none");
  expect(await doctorText("problem")).toBe("");
});

test("a Job that finished long ago is not a problem, also after its member was drained", async () => {
  world = await startHealthFleet({ members: ["m1", "m2"], nodes: 1 });
  await world.create(
    "hub",
    object("v1", "Namespace", "", "shop"),
    job("shop"),
    policy("shop", "Job", { apiVersion: "batch/v1" }),
  );
  await world.fleet.run(4 * 3_600_000);
  await Promise.all([world.run("drain", "m1", "--timeout", "120"), world.fleet.run(120_000)]);

  expect(problemsOfStatus(await world.run("status"))).toEqual([]);
  expect(await world.run("why", "job/web", "-n", "shop")).toContain("PROBLEMS\n  none");
  expect(await doctorText("problem")).toBe("");
});

test("a finished Job whose only member left has a placement that says so, and does not run again", async () => {
  world = await startHealthFleet({ members: ["m1", "m2"], nodes: 1 });
  await world.create(
    "hub",
    object("v1", "Namespace", "", "shop"),
    job("shop"),
    policy("shop", "Job", { apiVersion: "batch/v1" }),
  );
  await world.fleet.run(3_600_000);
  await Promise.all([world.run("unjoin", "m1"), world.fleet.run(60_000)]);

  expect(await world.run("status")).toMatch(/web +Job +1\/1 Complete +True +<finished, its member left>/);
  expect(await world.run("why", "job/web", "-n", "shop")).toMatch(
    /m1 +rejected .*Fleet: it leaves the fleet, and a finished run does not run again elsewhere/,
  );
});

test("a hub whose controllers have stopped is reported first", async () => {
  world = await startHealthFleet({ members: ["m1"] });
  const renewTime = formatTime(world.fleet.clock.now()).replace("Z", ".000000Z");
  for (const group of CONTROLLER_GROUPS)
    await world.create(
      "hub",
      object("coordination.k8s.io/v1", "Lease", "karmada-system", controllersLease(group), {
        spec: { holderIdentity: "one", leaseDurationSeconds: 6, renewTime },
      }),
    );
  await world.fleet.run(2_000);
  const before = await world.run("status");
  // A renewal is late, so the next one is awaited before anything is said.
  await world.fleet.run(1_000);
  const [late] = await Promise.all([world.run("status"), world.fleet.run(5_000)]);
  await world.fleet.run(20_000);

  expect(problemsOfStatus(before)).toEqual([]);
  expect(before).toContain("No problems found (the controllers last reported 2s ago): the hub, 1 member,");
  expect(late).toContain("the hub's controllers have not renewed their Lease for 7s, so nothing is propagated");
  // A Lease that looks old is read again, in case a clock is wrong.
  const [after] = await Promise.all([world.run("status"), world.fleet.run(5_000)]);
  expect(after).toMatch(/^hub https:\/\/hub.example.com without running controllers: nothing is propagated\n/);
  expect(problemsOfStatus(after)[0]).toMatch(/^ {2}hub controllers: /);
  const [examined] = await Promise.all([doctorText(), world.fleet.run(5_000)]);
  expect(examined).toMatch(/^hub https:\/\/hub.example.com: .*controllers/);
});

test("a hub whose controllers never ran is reported", async () => {
  world = await startHealthFleet({ members: ["m1"] });
  await world.create("hub", object("coordination.k8s.io/v1", "Lease", "karmada-system", "flotilla-controllers", {}));

  expect(problemsOfStatus(await world.run("status"))).toEqual([
    "  hub controllers: no controllers have ever run on this hub, so nothing is propagated and no member can " +
      "join; start 'flotilla controllers --kubeconfig DIR/controllers.kubeconfig', where DIR is the data " +
      "directory of the API server",
  ]);
  expect(await doctorText()).toMatch(/No controllers have ever run on this hub/);
});

/** A fleet with a workload that does not start, and the commands as a user with these rules. */
async function asUser(
  rules: JsonObject[],
  namespace?: string,
): Promise<(name: string, ...argv: string[]) => Promise<string>> {
  world = await startHealthFleet({ members: ["m1"], nodes: 1 });
  const rbac = "rbac.authorization.k8s.io";
  const kind = namespace === undefined ? "ClusterRole" : "Role";
  await world.create(
    "hub",
    object("v1", "Namespace", "", "shop"),
    object(`${rbac}/v1`, kind, namespace ?? "", "some", { rules }),
    object(`${rbac}/v1`, `${kind}Binding`, namespace ?? "", "ann", {
      roleRef: { apiGroup: rbac, kind, name: "some" },
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
  return async (name, ...argv) => {
    const { code, text } = await runCommand({ client, clock }, name, ...argv);
    exitCode = code;
    return text;
  };
}
/** Of the last command of `asUser`. */
let exitCode: number | undefined;
const EVERYTHING = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
/** The checks that do not concern this machine. */
const OF_THE_HUB = "--only=members,policies,bindings,works,workloads,interpreters,drift,ocm,agents";
/** Sentences that say without a limit that nothing is wrong. */
const ALL_CLEAR =
  /No problems found(?: \([^)]*\))?[.:]|No members yet|No workloads|^ {2}none$|\bok\b|0 problems, 0 warnings;/m;

test("a user with a role in one namespace reads first what was not checked, and no all-clear", async () => {
  const run = await asUser(EVERYTHING, "shop");

  const [all, own] = [await run("status"), await run("status", "-n", "shop")];
  const [why, described] = [
    await run("why", "deployment/web", "-n", "shop"),
    await run("describe", "deployment/web", "-n", "shop"),
  ];

  const lines = all.split("\n");
  expect(lines.slice(0, 3)).toEqual(["hub https://hub.example.com", "", "NOT CHECKED:"]);
  expect(lines[3]).toMatch(
    /^ {2}apiservices, clusterpropagationpolicies, .*clusters, .*resourcebindings.*: you are not allowed to list them$/,
  );
  expect(all).not.toMatch(ALL_CLEAR);
  expect(all).toContain("No problems found in what was checked: the hub");
  expect(all).not.toContain("pods of workloads");
  expect(problemsOfStatus(own).join("\n")).toMatch(/Deployment shop\/web: m1: 2 of 2 pods are not ready \(for/);
  expect(own).toMatch(/NOT CHECKED:\n {2}apiservices, clusters, .*\n(.*\n)*? {2}the pods on m1: .*forbidden/);
  expect(why).toMatch(/^Deployment shop\/web \(apps\/v1\)\n\nNOT CHECKED\n( {2}.*\n)* {2}the pods on m1: .*forbidden/);
  expect(why).toMatch(/PROBLEMS\n.*not healthy on m1/);
  expect(described).toMatch(/^Deployment shop\/web \(apps\/v1\)\n\nNOT CHECKED\n/);
});

test("a user who may list bindings only reads first what was not checked, and no all-clear", async () => {
  const run = await asUser([
    { apiGroups: ["work.karmada.io"], resources: ["resourcebindings"], verbs: ["get", "list"] },
    { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get"] },
  ]);

  const [status, doctor] = [await run("status"), await run("doctor", OF_THE_HUB)];
  const described = await run("describe", "deployment/web", "-n", "shop");

  expect(status.split("\n").slice(0, 3)).toEqual(["hub https://hub.example.com", "", "NOT CHECKED:"]);
  expect(problemsOfStatus(status).join("\n")).toMatch(/Deployment shop\/web: m1: 2 of 2 pods are not ready/);
  expect(status).not.toMatch(ALL_CLEAR);
  expect(doctor.split("\n").slice(0, 3)).toEqual(["hub https://hub.example.com", "", "NOT CHECKED:"]);
  expect(doctor).not.toMatch(ALL_CLEAR);
  expect(described).toMatch(/NOT CHECKED\n(.*\n)* {2}the events on hub: you are not allowed to list them\n/);
  expect(described).not.toMatch(ALL_CLEAR);
  await expect(run("why", "deployment/web", "-n", "shop")).rejects.toThrow(/forbidden|not allowed/);
});

test("a user who may not use the proxy of members reads that a workload is not ready, and nothing about its pods", async () => {
  const read = ["get", "list", "watch"];
  const run = await asUser([
    { apiGroups: ["cluster.karmada.io"], resources: ["clusters"], verbs: read },
    { apiGroups: ["work.karmada.io"], resources: ["resourcebindings"], verbs: read },
    { apiGroups: ["apps"], resources: ["deployments"], verbs: read },
  ]);
  const overdue = await run("status");
  const other = { ...deployment("shop", { image: "web:broken" }), metadata: { namespace: "shop", name: "other" } };
  await world.create("hub", other);
  await world.fleet.run(10_000);
  const starting = await run("status");

  expect(overdue).toMatch(/the pods on m1: .*forbidden/);
  expect(problemsOfStatus(overdue)).toEqual([
    expect.stringMatching(/Deployment shop\/web: m1: 2 of 2 pods are not ready \(for .*\); cause not checked$/),
  ]);
  expect(problemsOfStatus(starting)).toContainEqual(
    expect.stringMatching(/Deployment shop\/other: m1: 2 of 2 pods are not ready; cause not checked$/),
  );
  expect(starting).not.toContain("pods of workloads that are not ready");
});

test("a user who may list nothing reads that nothing could be checked", async () => {
  const run = await asUser([]);

  const [status, doctor] = [await run("status"), await run("doctor", OF_THE_HUB)];

  expect(status.split("\n").slice(0, 3)).toEqual(["hub https://hub.example.com", "", "NOT CHECKED:"]);
  expect(status).toMatch(/Nothing could be checked\.|No problems found in what was checked: the hub\./);
  expect(status).not.toMatch(ALL_CLEAR);
  expect(doctor.split("\n").slice(0, 3)).toEqual(["hub https://hub.example.com", "", "NOT CHECKED:"]);
  expect(doctor).toMatch(/0 problems, 0 warnings in what was checked, \d+ could not check everything/);
  expect(exitCode).toBe(1);
  expect(doctor).not.toMatch(ALL_CLEAR);
  for (const name of ["why", "describe"])
    await expect(run(name, "deployment/web", "-n", "shop")).rejects.toThrow(/forbidden|not allowed/);
});
