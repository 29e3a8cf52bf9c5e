/** The introduction to OpenKruise with Karmada: rules with paths instead of scripts, and a policy that divides. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { AdvancedStatefulSet, CloneSet, type CloneSetV1alpha1 } from "@flotilla/openkruise";
import { inVersion } from "@flotilla/apimachinery";
import { read, walkThrough, type WalkThrough } from "./walk-through.ts";

const CloneSetInV1alpha1 = inVersion<CloneSetV1alpha1>(CloneSet, "v1alpha1");
const MEMBERS = ["member1", "member2"];

let walk: WalkThrough;
beforeEach(async () => {
  walk = await walkThrough();
});
afterEach(() => walk.fleet.stop());

test("CloneSet in Karmada: its replicas are divided, its status is on the hub, and a member keeps its own strategy", async () => {
  await walk.apply(
    "interpreters/introduction-cloneset",
    "policies/introduction-cloneset-propagation",
    "workloads/guide-sample-cloneset",
  );
  await walk.settle();
  const shares = await Promise.all(
    MEMBERS.map(async (member) => (await walk.get(CloneSet, member, "sample-cloneset")).spec.replicas),
  );
  await walk.fleet.client.patch(
    CloneSetInV1alpha1,
    { cluster: "member1", namespace: "default", name: "sample-cloneset" },
    { spec: { updateStrategy: { partition: 1, maxUnavailable: 1 } } },
    { type: "merge" },
  );

  await walk.change(CloneSet, "sample-cloneset", { spec: { replicas: 6 } });

  expect(shares).toEqual([1, 1]);
  expect((await walk.get(CloneSet, "hub", "sample-cloneset")).status).toMatchObject({ replicas: 6, readyReplicas: 6 });
  expect((await walk.get(CloneSetInV1alpha1, "member1", "sample-cloneset")).spec).toMatchObject({
    replicas: 3,
    updateStrategy: { partition: 1, maxUnavailable: 1 },
  });
  expect((await walk.get(CloneSetInV1alpha1, "member2", "sample-cloneset")).spec).toMatchObject({
    replicas: 3,
    updateStrategy: { partition: 0 },
  });
});

test("Advanced StatefulSet in Karmada: the same with its own rules", async () => {
  const policy = read("policies/introduction-cloneset-propagation");
  await walk.apply("interpreters/introduction-statefulset", "workloads/guide-sample-advancedstatefulset");
  await walk.applyObject({
    ...policy,
    spec: {
      ...(policy["spec"] as object),
      resourceSelectors: [{ apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet" }],
    },
  });
  await walk.settle();

  const shares = await Promise.all(
    MEMBERS.map(
      async (member) => (await walk.get(AdvancedStatefulSet, member, "sample-advancedstatefulset")).spec.replicas,
    ),
  );

  expect(shares).toEqual([1, 1]);
  expect((await walk.get(AdvancedStatefulSet, "hub", "sample-advancedstatefulset")).status).toMatchObject({
    replicas: 2,
    readyReplicas: 2,
    currentReplicas: 2,
  });
});
