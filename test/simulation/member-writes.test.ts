/** API writes per pod on a simulated member: create, bind, status. A converged member writes nothing. */
import { afterEach, describe, expect, test } from "vitest";
import { kruiseKinds } from "@flotilla/openkruise";
import { kubernetesKinds } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";

const WRITES_PER_POD = 3;
const PODS = 20;
const MINUTE_MS = 60_000;

let member: KruiseMember | undefined;
afterEach(async () => {
  await member?.stop();
  member = undefined;
});

const labels = { app: "web" };
const selector = { matchLabels: labels };
const template = (spec: JsonObject = {}): JsonObject => ({
  metadata: { labels },
  spec: { containers: [{ name: "main", image: "web:1" }], ...spec },
});

const workloads: Record<string, { apiVersion: string; kind: string; spec: JsonObject }> = {
  "a Deployment": {
    apiVersion: "apps/v1",
    kind: "Deployment",
    spec: { replicas: PODS, selector, template: template() },
  },
  "a StatefulSet": {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    spec: { replicas: PODS, selector, serviceName: "web", podManagementPolicy: "Parallel", template: template() },
  },
  "a DaemonSet": { apiVersion: "apps/v1", kind: "DaemonSet", spec: { selector, template: template() } },
  "a CloneSet": {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    spec: { replicas: PODS, selector, template: template() },
  },
  "a CloneSet that updates in place": {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "CloneSet",
    spec: {
      replicas: PODS,
      selector,
      template: template(),
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { podUpdatePolicy: "InPlaceIfPossible" } },
    },
  },
  "an Advanced StatefulSet": {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "StatefulSet",
    spec: { replicas: PODS, selector, serviceName: "web", podManagementPolicy: "Parallel", template: template() },
  },
  "an Advanced DaemonSet": {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "DaemonSet",
    spec: { selector, template: template() },
  },
  "a UnitedDeployment": {
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "UnitedDeployment",
    spec: {
      replicas: PODS,
      selector,
      template: { cloneSetTemplate: { metadata: { labels }, spec: { selector, template: template() } } },
      topology: { subsets: [{ name: "a" }, { name: "b" }] },
    },
  },
};

function kindOf({ apiVersion, kind }: { apiVersion: string; kind: string }): Kind {
  const [group = "", version = ""] = apiVersion.split("/");
  const found = [...kruiseKinds, ...kubernetesKinds].find(
    (candidate) => candidate.group === group && candidate.kind === kind,
  );
  if (!found) throw new Error(`${kind} is not known`);
  return { ...found, storageVersion: version };
}

describe.each(Object.entries(workloads))("%s", (_name, { apiVersion, kind, spec }) => {
  test("causes at most three writes per pod until all are ready, and none in the minutes after", async () => {
    member = await startKruiseMember({
      nodes: PODS,
      customs: kruiseKinds,
      times: { startMs: 0, restartMs: 0, stopMs: 0 },
    });
    await member.pass(1_000);
    member.writes.reset();

    const object: KubernetesObject & { spec: JsonObject } = {
      apiVersion,
      kind,
      metadata: { name: "web", namespace: NAMESPACE },
      spec,
    };
    await member.client.create(kindOf(object), MEMBER, object);
    await member.pass(10_000);

    expect(
      member
        .pods()
        .filter(({ status }) =>
          status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True"),
        ),
    ).toHaveLength(PODS);
    expect(
      member.writes.total({ resource: "pods" }) / PODS,
      JSON.stringify(member.writes.counts(), undefined, 1),
    ).toBeLessThanOrEqual(WRITES_PER_POD);

    await member.pass(MINUTE_MS);
    member.writes.reset();
    await member.pass(5 * MINUTE_MS);
    expect(member.writes.counts()).toEqual([]);
  });
});
