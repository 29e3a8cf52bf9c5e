/**
 * Broken fleets: for each of them `flotilla status`, `why` and `doctor` name the cause within their first three lines.
 * All of them are namespaces of one hub, which runs for two minutes of its own time.
 */
import { runCommand } from "./run-command.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiError, forbidden } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { WebhookError } from "@flotilla/client";
import { Node } from "@flotilla/kubernetes";
import { quotedCommands, whyWrong } from "./advice-commands.ts";
import { readAll, readFirst, startHealthFleet } from "./health-fleet.ts";
import type { Broken, Examination, HealthFleet, Manifest } from "./health-fleet.ts";
import { brokenDelivery, RETAINED } from "./health-broken-delivery.ts";
import { brokenOcm } from "./health-broken-ocm.ts";
import { brokenPods } from "./health-broken-pods.ts";
import { brokenReleases, withoutReleases } from "./health-broken-releases.ts";
import { brokenScaling } from "./health-broken-scaling.ts";
import { brokenRuns } from "./health-broken-runs.ts";
import { definition, deployment, interpreterWebhook, object, policy, rules } from "./health-manifests.ts";

const KINDS = [
  "Alpha",
  "Beta",
  "Gamma",
  "Delta",
  "Epsilon",
  "Zeta",
  "Eta",
  "Theta",
  "Iota",
  "Kappa",
  "Lambda",
  "Orphan",
  "Vanished",
];
const cases: Record<string, Broken> = {
  ...brokenPods,
  ...brokenRuns,
  ...brokenDelivery,
  ...brokenOcm,
  ...brokenReleases,
  ...brokenScaling,
};

const namespaceOf = (behaviour: string): string => `b${Object.keys(cases).indexOf(behaviour) + 1}`;
const READS = new Set(["get", "list"]);
const refusals = new Map(
  Object.entries(cases).flatMap(([behaviour, { refuses }]) =>
    refuses ? [[namespaceOf(behaviour), refuses] as const] : [],
  ),
);

/**
 * Servers of interpreter webhooks, by their host. The failure does not count as passing, because a call would retry it
 * and wait on the fake clock, which stands still until every reconcile has ended.
 */
function answerOf(host: string): Promise<Buffer> {
  return host.startsWith("down.")
    ? Promise.reject(
        new WebhookError("connection", "the webhook is unreachable (connect ECONNREFUSED 192.0.2.1:443)", {
          isPassing: false,
        }),
      )
    : Promise.resolve(Buffer.from("<html>It works!</html>"));
}

let world: HealthFleet;
let examined: Examination;

beforeAll(async () => {
  world = await startHealthFleet({
    members: ["m1", "m2", "tainted", "cordoned", "reserved", "lost"],
    nodes: 2,
    connectWebhook: () => ({ post: ({ host }) => answerOf(host), close: () => {} }),
    wrap: (transport) => ({
      ...transport,
      async send(request, signal) {
        const { cluster, namespace = "", resource } = request.path;
        if (
          cluster === "hub" &&
          resource === "fleetrollouts" &&
          request.verb === "create" &&
          withoutReleases.has(namespace)
        )
          throw forbidden({ group: "flotilla.dev", resource }, "", "no more FleetRollouts here");
        const refusal = request.path.cluster === "m1" ? refusals.get(request.path.namespace ?? "") : undefined;
        if (refusal && !READS.has(request.verb))
          throw new ApiError({ apiVersion: "v1", kind: "Status", metadata: {}, status: "Failure", ...refusal });
        return transport.send(request, signal);
      },
    }),
  });
  const { create, patch, fleet } = world;
  for (const kind of KINDS) {
    await create("hub", definition(kind));
    if (kind !== "Orphan") await create("m1", definition(kind));
  }
  const script = (name: string, body: string): string => `function ${name}(o, x) ${body} end`;
  await create(
    "hub",
    rules("Alpha", { healthInterpretation: script("InterpretHealth", "return o.status.nowhere.ready") }),
    rules("Beta", { healthInterpretation: script("InterpretHealth", "return 'yes'") }),
    rules("Gamma", { replicaResource: script("GetReplicas", "return o.spec.nowhere.count, nil") }),
    rules("Delta", { statusAggregation: script("AggregateStatus", "return o.spec.nowhere.sum") }),
    rules("Epsilon", { statusReflection: script("ReflectStatus", "return o.spec.nowhere.part") }),
    rules("Eta", {
      replicaResource: "function GetReplicas(o) return o.spec.replicas, nil end",
      replicaRevision: script("ReviseReplica", "return o.spec.nowhere.count"),
    }),
    rules("Theta", { retention: script("Retain", "return o.spec.nowhere.kept") }),
    interpreterWebhook("down", "Iota", ["InterpretReplica"]),
    interpreterWebhook("rubbish", "Kappa", ["InterpretHealth"]),
    rules(
      "CloneSet",
      { retention: script("Retain", "o.spec.updateStrategy = x.spec.updateStrategy return o") },
      RETAINED,
    ),
    rules("Zeta", { dependencyInterpretation: script("GetDependencies", "return o.spec.nowhere.name") }),
  );
  const cluster = (name: string): Manifest => object("cluster.karmada.io/v1alpha1", "Cluster", "", name);
  await patch("hub", cluster("reserved"), { spec: { taints: [{ key: "gpu", effect: "NoSchedule" }] } });
  const spoiled: Record<string, JsonObject> = {
    tainted: { taints: [{ key: "gpu", effect: "NoSchedule" }] },
    cordoned: { unschedulable: true },
  };
  for (const [member, spec] of Object.entries(spoiled))
    for (const { metadata } of (await fleet.client.list(Node, { cluster: member })).items)
      await patch(member, object("v1", "Node", "", metadata.name), { spec });
  for (const [behaviour, { hub, member }] of Object.entries(cases)) {
    const namespace = namespaceOf(behaviour);
    if (member) await create("m1", ...member(namespace));
    await create("hub", object("v1", "Namespace", "", namespace), ...hub(namespace));
  }
  await fleet.run(20_000);
  for (const { metadata } of (await fleet.client.list(Node, { cluster: "lost" })).items)
    await patch("lost", object("v1", "Node", "", metadata.name), {
      metadata: { annotations: { "simulation.flotilla.dev/fault": "lost" } },
    });
  for (const [behaviour, { next }] of Object.entries(cases)) await next?.(world, namespaceOf(behaviour));
  await fleet.run(130_000);
  examined = await world.doctor();
}, 120_000);
afterAll(() => world.fleet.stop());

describe("a broken fleet is reported with its cause in the first three lines:", () => {
  for (const [behaviour, { why = "deployment/web", whyIn, statusIn, doctorAbout, cause, also, only }] of Object.entries(
    cases,
  )) {
    test(behaviour, async () => {
      const namespace = namespaceOf(behaviour);
      const target = why === "manifestwork" ? `manifestwork/${namespace}` : why;
      const own = doctorAbout ?? new RegExp(`\\b${namespace}\\b`);

      const isExplained = only === undefined || only.includes("why");
      const explained = isExplained ? await world.show("why", target, "-n", whyIn ?? namespace) : "";
      const status = await world.show("status", "-n", statusIn ?? namespace);
      const doctor = await examined.print(own);

      const printed = { why: explained, status, doctor };
      const reporting = Object.entries(printed).filter(
        ([command]) => only === undefined || only.some((name) => name === command),
      );
      const causes = also ? [cause, also] : [cause];
      const silent = reporting.filter(
        ([, text]) =>
          !causes.some((each) => each.test(readFirst(text))) || !causes.every((each) => each.test(readAll(text))),
      );
      expect(silent).toEqual([]);
    });
  }
});

test("every command that is printed as advice for a broken fleet works there", async () => {
  const advice = new Set(
    examined.findings.flatMap(({ fix, seen, commands }) => [...commands, ...quotedCommands(`${fix} ${seen}`)]),
  );
  for (const [behaviour, { why = "deployment/web", whyIn, only }] of Object.entries(cases)) {
    const namespace = namespaceOf(behaviour);
    const target = why === "manifestwork" ? `manifestwork/${namespace}` : why;
    const isExplained = only === undefined || only.includes("why");
    const texts = [
      isExplained ? await world.run("why", target, "-n", whyIn ?? namespace) : "",
      await world.run("status", "-n", namespace, "--all"),
    ];
    for (const command of texts.flatMap(quotedCommands)) advice.add(command);
  }

  const wrong: string[] = [];
  for (const command of advice) {
    const problem = await whyWrong(command, world);
    if (problem !== undefined) wrong.push(problem);
  }

  expect(wrong).toEqual([]);
  expect(advice.size).toBeGreaterThan(100);
});

test("numbers of a member that reports are current although its last update was not applied", async () => {
  const namespace = namespaceOf("a release that is not sent, while the nodes of the running pods are lost");

  const explained = await world.show("why", "cloneset/web", "-n", namespace);
  const status = await world.show("status", "-n", namespace);

  expect(status).toContain(" 0/4 ");
  expect(status).not.toContain("stale");
  expect(readAll(explained)).toContain(
    "lost: 4 replicas, not healthy: 4 of 4 pods are not ready, not applied: the release is not sent: ",
  );
  expect(explained).not.toContain("last known numbers");
});

test("a member whose copy cannot be made does not hide what the others run", async () => {
  const namespace = namespaceOf("an override that fails for one of two members");

  const explained = readAll(await world.show("why", "deployment/web", "-n", namespace));
  const status = await world.show("status", "-n", namespace);

  expect(status).toMatch(/ 2\/4 /);
  expect(explained).not.toContain("m1: not applied yet");
});

test("a pod that its StatefulSet does not replace is to be deleted, not its image corrected", async () => {
  const namespace = namespaceOf("a StatefulSet whose image was corrected, which does not replace the pod");

  const explained = readAll(await world.show("why", "statefulset.apps/web", "-n", namespace));

  expect(explained).toContain(
    `'kubectl delete --raw /apis/cluster.karmada.io/v1alpha1/clusters/m1/proxy/api/v1/namespaces/${namespace}/pods/web-0'`,
  );
  expect(explained).not.toContain("correct the image");
});

test("a workload of another namespace is found by its name", async () => {
  await expect(world.run("why", "cloneset/web")).rejects.toThrow(
    /namespaces b\d+, .* have other objects of that name: run 'flotilla why cloneset\/web -n b/,
  );
});

test("a misspelt name is answered with the nearest one", async () => {
  const namespace = namespaceOf("a Deployment with a wrong image");

  await expect(world.run("why", "deployment/wbe", "-n", namespace)).rejects.toThrow(/\(did you mean 'web'\?\)$/);
});

test("an autoscaler is explained with its target", async () => {
  const namespace = namespaceOf("a FederatedHPA whose pods request nothing");

  await expect(world.run("why", "federatedhpa/web", "-n", namespace)).rejects.toThrow(
    `run 'flotilla why deployment/web -n ${namespace}'`,
  );
});

test("a Secret that is missing in a volume is reported at once, with how to send it to the members", async () => {
  const pod = { volumes: [{ name: "v", secret: { secretName: "db" } }] };
  await world.create("hub", object("v1", "Namespace", "", "soon"), deployment("soon", { pod }));
  await world.create("hub", policy("soon", "Deployment"));
  await world.fleet.run(10_000);

  const explained = await world.show("why", "deployment/web", "-n", "soon");
  const status = await world.show("status", "-n", "soon");

  const cause = 'ContainerCreating: MountVolume.SetUp failed for volume "v" : secret "db" not found';
  expect(readFirst(status), status).toContain(cause);
  expect(readFirst(explained), explained).toContain(cause);
  expect(explained.replaceAll(/\s+/g, " ")).toContain(
    "create Secret db in namespace soon of the hub, and select it in a policy or set 'propagateDeps: true' in " +
      "the policy of the workload, if the workload names it",
  );
});

test("why names what pods wait for before it has lasted, as a wait does that refers to it", async () => {
  await world.create("hub", object("v1", "Namespace", "", "early"), deployment("early"));
  await world.create("hub", policy("early", "Deployment", { clusters: ["cordoned"] }));
  await world.fleet.run(5_000);

  const cause = /2 pods wait.*: Unschedulable: 0\/2 nodes are available: 2 node\(s\) were unschedulable/;
  await Promise.all([
    expect(world.run("wait", "deployment/web", "-n", "early", "--timeout", "1")).rejects.toThrow(cause),
    world.fleet.run(3_000),
  ]);
  expect(readAll(await world.run("why", "deployment/web", "-n", "early"))).toMatch(
    /PROBLEMS none yet; this may pass: 2 pods wait on cordoned: Unschedulable: 0\/2 nodes are available/,
  );
});

test("a wait names why the pods do not run while it waits", async () => {
  const namespace = namespaceOf("a Deployment with a wrong image");
  const { client, clock } = world.fleet;
  const steps: string[] = [];

  await Promise.all([
    expect(
      runCommand(
        { client, clock, progress: (text) => steps.push(text) },
        "wait",
        "deployment/web",
        "-n",
        namespace,
        "--timeout",
        "12",
      ),
    ).rejects.toThrow("ImagePullBackOff"),
    world.fleet.run(20_000),
  ]);

  expect(steps.at(-2)).toMatch(
    /on m\d: 2 of 2 pods are not ready \(2 pods wait: ImagePullBackOff: image web:broken\)$/,
  );
});

test("a wait for a Job that has failed ends at once, with the cause", async () => {
  const namespace = namespaceOf("a Job that reached its backoff limit");

  await expect(world.run("wait", "job/web", "-n", namespace, "--timeout", "1h")).rejects.toThrow(
    /^Job \S+\/web on m1: it failed: BackoffLimitExceeded.*exited with code 7.*\. A run that failed does not start again; run 'flotilla why' for details$/,
  );
});

test("a wait for an object that exists on a member unmanaged names this cause", async () => {
  const namespace = namespaceOf("an object that already exists on the member");

  await Promise.all([
    expect(world.run("wait", "deployment/web", "-n", namespace, "--timeout", "1")).rejects.toThrow(
      "already exists in the cluster m1 and the work.karmada.io/conflict-resolution strategy value is empty, Flotilla will not manage this resource",
    ),
    world.fleet.run(5_000),
  ]);
});

test("a wait for a run whose status hides its pods names why they do not start", async () => {
  const namespace = namespaceOf("a BroadcastJob with a wrong image");

  for (const state of ["healthy", "complete"])
    await Promise.all([
      expect(world.run("wait", "broadcastjob/web", "-n", namespace, "--for", state, "--timeout", "1")).rejects.toThrow(
        "on m1: 0 of 2 pods done, still running (2 pods wait: ImagePullBackOff: image web:broken)",
      ),
      world.fleet.run(5_000),
    ]);
});

test("a wait that times out names why the pods do not run", async () => {
  const namespace = namespaceOf("a Deployment with a wrong image");

  await Promise.all([
    expect(world.run("wait", "deployment/web", "-n", namespace, "--timeout", "1")).rejects.toThrow(
      "on m1: 2 of 2 pods are not ready (2 pods wait: ImagePullBackOff: image web:broken)",
    ),
    world.fleet.run(5_000),
  ]);
});
