/**
 * Broken fleets: for each of them `flotilla status`, `why` and `doctor` name the cause within their first three lines.
 * All of them are namespaces of one hub, which runs for two minutes of its own time.
 */
import { runCommand } from "./run-command.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { Node } from "@flotilla/kubernetes";
import { startHealthFleet, problemsOfStatus, problemsOfWhy } from "./health-fleet.ts";
import type { Broken, HealthFleet, Manifest } from "./health-fleet.ts";
import { brokenDelivery } from "./health-broken-delivery.ts";
import { brokenOcm } from "./health-broken-ocm.ts";
import { brokenPods } from "./health-broken-pods.ts";
import { brokenRuns } from "./health-broken-runs.ts";
import { definition, deployment, object, policy, rules } from "./health-manifests.ts";

const KINDS = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta", "Theta", "Orphan", "Vanished"];
const cases: Record<string, Broken> = { ...brokenPods, ...brokenRuns, ...brokenDelivery, ...brokenOcm };

const isProblem = ({ severity }: { severity: string }): boolean => severity === "problem";
const namespaceOf = (behaviour: string): string => `b${Object.keys(cases).indexOf(behaviour) + 1}`;
let world: HealthFleet;
let findings: Awaited<ReturnType<HealthFleet["doctor"]>>;

beforeAll(async () => {
  world = await startHealthFleet({
    members: ["m1", "m2", "tainted", "cordoned", "reserved", "away", "lost"],
    nodes: 2,
  });
  const { create, patch, fleet } = world;
  for (const kind of KINDS) {
    await create("hub", definition(kind));
    if (kind !== "Orphan") await create("m1", definition(kind));
  }
  const bad = (name: string, body: string): string => `function ${name}(o, x) ${body} end`;
  await create(
    "hub",
    rules("Alpha", { healthInterpretation: bad("InterpretHealth", "return o.status.nowhere.ready") }),
    rules("Beta", { healthInterpretation: bad("InterpretHealth", "return 'yes'") }),
    rules("Gamma", { replicaResource: bad("GetReplicas", "return o.spec.nowhere.count, nil") }),
    rules("Delta", { statusAggregation: bad("AggregateStatus", "return o.spec.nowhere.sum") }),
    rules("Epsilon", { statusReflection: bad("ReflectStatus", "return o.spec.nowhere.part") }),
    rules("Eta", {
      replicaResource: "function GetReplicas(o) return o.spec.replicas, nil end",
      replicaRevision: bad("ReviseReplica", "return o.spec.nowhere.count"),
    }),
    rules("Theta", { retention: bad("Retain", "return o.spec.nowhere.kept") }),
    rules("Zeta", { dependencyInterpretation: bad("GetDependencies", "return o.spec.nowhere.name") }),
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
  await patch("hub", cluster("away"), {
    metadata: { annotations: { "simulation.flotilla.dev/fault": "unreachable" } },
  });
  for (const { metadata } of (await fleet.client.list(Node, { cluster: "lost" })).items)
    await patch("lost", object("v1", "Node", "", metadata.name), {
      metadata: { annotations: { "simulation.flotilla.dev/fault": "lost" } },
    });
  for (const [behaviour, { next }] of Object.entries(cases)) await next?.(world, namespaceOf(behaviour));
  await fleet.run(130_000);
  findings = await world.doctor();
}, 60_000);
afterAll(() => world.fleet.stop());

describe("a broken fleet is reported with its cause:", () => {
  for (const [behaviour, { why = "deployment/web", whyIn, statusIn, cause, only }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const namespace = namespaceOf(behaviour);
      const target = why === "manifestwork" ? `manifestwork/${namespace}` : why;

      const explained = await world.run("why", target, "-n", whyIn ?? namespace);
      const status = await world.run("status", "-n", statusIn ?? namespace);

      expect(problemsOfWhy(explained).join("\n"), explained).toMatch(cause);
      if (only) return;
      expect(problemsOfStatus(status).join("\n"), status).toMatch(cause);
      // One finding may be about several objects, of which it names the first.
      const about = (word: string): typeof findings => {
        const pattern = new RegExp(`\\b${word}\\b`);
        return findings.filter(({ about: object, seen, commands }) =>
          pattern.test(`${object} ${seen} ${commands.join(" ")}`),
        );
      };
      const named = about(namespace);
      const own = named.length > 0 ? named : about("member away");
      // A finding is three lines: what it is about, what was seen, what to do.
      const [first] = [...own.filter(isProblem), ...own.filter((finding) => !isProblem(finding))];
      expect(`${first?.about}: ${first?.seen}`, JSON.stringify(own, null, 2)).toMatch(cause);
    });
  }
});

test("a workload of another namespace is found by its name", async () => {
  await expect(world.run("why", "cloneset/web")).rejects.toThrow(
    /namespace b\d+, .* has one: run 'flotilla why cloneset\/web -n b/,
  );
});

test("a Secret that is missing in a volume is reported at once, with how to send it to the members", async () => {
  const pod = { volumes: [{ name: "v", secret: { secretName: "db" } }] };
  await world.create("hub", object("v1", "Namespace", "", "soon"), deployment("soon", { pod }));
  await world.create("hub", policy("soon", "Deployment"));
  await world.fleet.run(10_000);

  const explained = await world.run("why", "deployment/web", "-n", "soon");
  const status = await world.run("status", "-n", "soon");

  const cause = 'ContainerCreating: MountVolume.SetUp failed for volume "v" : secret "db" not found';
  expect(problemsOfStatus(status).join("\n"), status).toContain(cause);
  expect(problemsOfWhy(explained).join("\n"), explained).toContain(cause);
  expect(explained.replaceAll(/\s+/g, " ")).toContain(
    "create Secret db in namespace soon of the hub, and select it in a policy or set 'propagateDeps: true' in the policy of the workload, if the workload names it",
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

test("a wait that times out names why the pods do not run", async () => {
  const namespace = namespaceOf("a Deployment with a wrong image");

  await Promise.all([
    expect(world.run("wait", "deployment/web", "-n", namespace, "--timeout", "1")).rejects.toThrow(
      "on m1: 2 of 2 pods are not ready (2 pods wait: ImagePullBackOff: image web:broken)",
    ),
    world.fleet.run(5_000),
  ]);
});
