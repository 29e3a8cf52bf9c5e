import { expect, test } from "vitest";
import { mayCollide } from "./plan-existing.ts";
import type { FleetPlan, MemberChange } from "./plan-fleet.ts";
import { planRetained } from "./plan-retained.ts";
import type { Template } from "../propagation/templates/templates.ts";

/** Two StatefulSets of one name, in the order of the plan: Kubernetes' is applied, OpenKruise's is not. */
const statefulSet = (apiVersion: string, replicas: number): Template =>
  ({
    apiVersion,
    kind: "StatefulSet",
    metadata: { namespace: "shop", name: "db" },
    spec: { replicas },
  }) as unknown as Template;
const work = (manifest: Template, applied: "True" | "False"): object => ({
  metadata: { namespace: "karmada-es-oslo", name: `db-${applied}` },
  spec: { workload: { manifests: [manifest] } },
  status: { conditions: [{ type: "Applied", status: applied }] },
});
const planned = (apiVersion: string, replicas: number, applied: "True" | "False"): object => {
  const template = statefulSet(apiVersion, replicas);
  return { template, works: { before: [work(template, applied)], after: [work(template, applied)] } };
};
const plan = {
  templates: [planned("apps/v1", 1, "True"), planned("apps.kruise.io/v1beta1", 2, "False")],
  works: [],
} as unknown as FleetPlan;
const change: MemberChange = {
  cluster: "oslo",
  action: "update",
  object: { apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet", namespace: "shop", name: "db" },
  fields: [],
};

test("a change belongs to the Work of its own group", () => {
  expect(mayCollide(plan, change)).toBe(true);
  expect(mayCollide(plan, { ...change, object: { ...change.object, apiVersion: "apps/v1" } })).toBe(false);
});

test("a Retain rule runs on the copy of its own group", async () => {
  const ran: unknown[] = [];
  const interpreter = {
    ownerOf: () => "rules",
    retain: (desired: Template) => {
      ran.push(desired.apiVersion);
      return Promise.resolve(desired);
    },
  };

  await planRetained(plan, change, statefulSet("apps.kruise.io/v1beta1", 2), interpreter);

  expect(new Set(ran)).toEqual(new Set(["apps.kruise.io/v1beta1"]));
});
