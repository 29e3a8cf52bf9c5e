/**
 * Kinds without a rule of Karmada for their health, and pods that report nothing: `flotilla status`, `why` and `doctor`
 * name the cause within their first three lines, as for the fleets of health-broken.test.ts.
 */
import { beforeAll, afterAll, describe, expect, test } from "vitest";
import { messageOf } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { ReplicationController } from "@flotilla/kubernetes";
import { readAll, readFirst, startHealthFleet } from "./health-fleet.ts";
import type { Broken, Examination, HealthFleet, Manifest } from "./health-fleet.ts";
import { daemonSet, deployment, manifestWork, object, policy } from "./health-manifests.ts";

function replicationController(namespace: string, image: string): Manifest {
  const web = deployment(namespace, { image });
  return {
    ...web,
    apiVersion: "v1",
    kind: "ReplicationController",
    spec: { ...(web["spec"] as JsonObject), selector: { app: "web" } },
  };
}

function autoscaler(namespace: string, name: string): Manifest {
  const cpu = { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } };
  return object("autoscaling/v2", "HorizontalPodAutoscaler", namespace, "web", {
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      maxReplicas: 4,
      metrics: [{ type: "Resource", resource: cpu }],
    },
  });
}

const cases: Record<string, Pick<Broken, "hub" | "why" | "cause">> = {
  "a Deployment that is paused before its first pod": {
    hub: (ns) => [deployment(ns, { spec: { paused: true } }), policy(ns, "Deployment")],
    cause: /2 of 2 pods are not ready: the rollout is paused, so it has no pods of this template/,
  },
  "pods whose scheduler does not run": {
    hub: (ns) => [deployment(ns, { pod: { schedulerName: "batch" } }), policy(ns, "Deployment")],
    cause: /2 pods wait on m1: Pending: the scheduler batch has assigned no node/,
  },
  "a ReplicationController with a wrong image": {
    hub: (ns) => [replicationController(ns, "web:broken"), policy(ns, "ReplicationController", { apiVersion: "v1" })],
    why: "replicationcontroller/web",
    cause: /2 pods wait on m1: ImagePullBackOff: image web:broken/,
  },
  "a ReplicaSet with a wrong image": {
    hub: (ns) => [{ ...deployment(ns, { image: "web:broken" }), kind: "ReplicaSet" }, policy(ns, "ReplicaSet")],
    why: "replicaset/web",
    cause: /2 pods wait on m1: ImagePullBackOff: image web:broken/,
  },
  "a Pod with a wrong image": {
    hub: (ns) => [
      object("v1", "Pod", ns, "web", { spec: { containers: [{ name: "main", image: "web:broken" }] } }),
      policy(ns, "Pod", { apiVersion: "v1" }),
    ],
    why: "pod/web",
    cause: /1 pod waits on m1: ImagePullBackOff: image web:broken/,
  },
  "a ManifestWork whose ReplicationController has a wrong image": {
    hub: (ns) => [manifestWork("m1", ns, object("v1", "Namespace", "", ns), replicationController(ns, "web:broken"))],
    why: "manifestwork",
    cause: /2 pods wait on m1: ImagePullBackOff: image web:broken/,
  },
  "a workload whose Works an admission policy of the hub rejects": {
    hub: (ns) => [
      object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "", ns, {
        spec: {
          matchConstraints: {
            resourceRules: [
              {
                apiGroups: ["work.karmada.io"],
                apiVersions: ["*"],
                operations: ["CREATE", "UPDATE"],
                resources: ["works"],
              },
            ],
          },
          validations: [
            {
              expression: `object.metadata.?annotations[?'resourcebinding.karmada.io/namespace'].orValue('') != '${ns}'`,
              message: "change freeze",
            },
          ],
        },
      }),
      object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", ns, {
        spec: { policyName: ns, validationActions: ["Deny"] },
      }),
      deployment(ns),
      policy(ns, "Deployment"),
    ],
    cause:
      /m1: the hub cannot write the Work: ValidatingAdmissionPolicy 'b\d+' with binding 'b\d+' denied request: change freeze/,
  },
  "an Advanced DaemonSet with a wrong image": {
    hub: (ns) => [
      { ...daemonSet(ns, { image: "web:broken" }), apiVersion: "apps.kruise.io/v1beta1" },
      policy(ns, "DaemonSet", { apiVersion: "apps.kruise.io/v1beta1" }),
    ],
    why: "daemonset.apps.kruise.io/web",
    cause: /2 pods wait on m1: ImagePullBackOff: image web:broken/,
  },
  "a Workflow with a wrong image": {
    hub: (ns) => [
      object("argoproj.io/v1alpha1", "Workflow", ns, "web", {
        spec: { entrypoint: "main", templates: [{ name: "main", container: { image: "web:broken" } }] },
      }),
      policy(ns, "Workflow", { apiVersion: "argoproj.io/v1alpha1" }),
    ],
    why: "workflow/web",
    cause: /1 pod waits on m1: ImagePullBackOff: image web:broken/,
  },
  "a HorizontalPodAutoscaler whose target does not exist": {
    hub: (ns) => [autoscaler(ns, "gone"), policy(ns, "HorizontalPodAutoscaler", { apiVersion: "autoscaling/v2" })],
    why: "hpa/web",
    cause: /FailedGetScale: deployments.apps "gone" not found/,
  },
  "a HorizontalPodAutoscaler whose pods request nothing": {
    hub: (ns) => [
      deployment(ns),
      policy(ns, "Deployment"),
      autoscaler(ns, "web"),
      {
        ...policy(ns, "HorizontalPodAutoscaler", { apiVersion: "autoscaling/v2" }),
        metadata: { name: "hpa", namespace: ns },
      },
    ],
    why: "hpa/web",
    cause: /FailedGetResourceMetric: .*missing request for cpu/,
  },
};

const namespaceOf = (behaviour: string): string => `b${Object.keys(cases).indexOf(behaviour) + 1}`;
/** A ManifestWork is in the namespace of its member. */
const targetOf = (why: string, namespace: string): string[] =>
  why === "manifestwork" ? [`manifestwork/${namespace}`, "-n", "m1"] : [why, "-n", namespace];
let world: HealthFleet;
let examined: Examination;

beforeAll(async () => {
  world = await startHealthFleet({ members: ["m1"], nodes: 2 });
  for (const [behaviour, { hub }] of Object.entries(cases)) {
    const namespace = namespaceOf(behaviour);
    await world.create("hub", object("v1", "Namespace", "", namespace), ...hub(namespace));
  }
  await world.fleet.run(180_000);
  examined = await world.doctor();
});
afterAll(() => world.fleet.stop());

describe("a broken fleet is reported with its cause in the first three lines:", () => {
  for (const [behaviour, { why = "deployment/web", cause }] of Object.entries(cases))
    test(behaviour, async () => {
      const namespace = namespaceOf(behaviour);

      const printed = {
        why: await world.show("why", ...targetOf(why, namespace)),
        status: await world.show("status", "-n", namespace),
        doctor: await examined.print(new RegExp(`\\b${namespace}\\b`)),
      };

      expect(Object.entries(printed).filter(([, text]) => !cause.test(readFirst(text)))).toEqual([]);
    });
});

test("a wait for an object that does not work fails, and describe names the cause", async () => {
  const wrong: unknown[] = [];
  for (const [behaviour, { why = "deployment/web", cause }] of Object.entries(cases)) {
    const namespace = namespaceOf(behaviour);
    const [waited] = await Promise.all([
      world.run("wait", ...targetOf(why, namespace), "--timeout", "1").catch(messageOf),
      world.fleet.run(4_000),
    ]);
    const described = readAll(await world.run("describe", ...targetOf(why, namespace)));
    const isWaiting = waited.includes("not everything is applied and healthy");
    if (!isWaiting || !cause.test(described)) wrong.push([behaviour, waited, described]);
  }

  expect(wrong).toEqual([]);
});

test("a Namespace whose deletion a finalizer blocks is reported, also without a policy", async () => {
  const held = {
    ...object("v1", "ConfigMap", "held", "a"),
    metadata: { name: "a", namespace: "held", finalizers: ["example.com/backup"] },
  };
  const namespace = object("v1", "Namespace", "", "held");
  await world.create("hub", namespace, held);
  await world.remove("hub", namespace);
  await world.fleet.run(30_000);
  const early = await world.run("status", "-n", "held");
  await world.fleet.run(60_000);

  const cause = /Namespace held: it has been deleting for 90s: .*example\.com\/backup in 1 resource instances/;
  expect(early).toContain("No problems found");
  expect(await world.run("status", "-n", "held")).toMatch(cause);
  expect(await world.run("status")).toMatch(cause);
});

test("the hub shows the pods of a ReplicationController", async () => {
  const web = replicationController("sum", "web:1");
  await world.create("hub", object("v1", "Namespace", "", "sum"), web, policy("sum", web.kind, { apiVersion: "v1" }));
  await world.fleet.run(30_000);

  const key = { cluster: "hub", namespace: "sum", name: "web" };
  expect((await world.fleet.client.get(ReplicationController, key)).status).toMatchObject({
    replicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
  });
});

test("a wait for a run ends although its kind has no status subresource, so that the hub shows no status", async () => {
  const main = { name: "main", container: { image: "web:1" }, metadata: { annotations: { "sim/run": "1" } } };
  await world.create(
    "hub",
    object("v1", "Namespace", "", "done"),
    object("argoproj.io/v1alpha1", "Workflow", "done", "web", { spec: { entrypoint: "main", templates: [main] } }),
    policy("done", "Workflow", { apiVersion: "argoproj.io/v1alpha1" }),
  );
  await world.fleet.run(30_000);

  const [waited] = await Promise.all([
    world.run("wait", "workflow/web", "-n", "done", "--timeout", "1"),
    world.fleet.run(4_000),
  ]);

  expect(waited).toContain("Workflow done/web is healthy on m1");
});
