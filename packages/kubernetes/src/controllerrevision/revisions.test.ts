import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { podTemplateData, podTemplateOf } from "./pod-template-data.ts";
import type { ReadonlyRevision } from "./pod-template-data.ts";
import { makeRevision, planHistory, planRevisions, revisionHash } from "./revisions.ts";
import type { RevisionFormat } from "./revisions.ts";

interface Workload extends KubernetesObject {
  spec: { template: PodTemplateSpec };
}
const format: RevisionFormat<Workload> = {
  dataOf: ({ spec }) => podTemplateData(spec.template),
  labelsOf: ({ spec }) => spec.template.metadata?.labels,
};
const template = (image: string): PodTemplateSpec => ({
  metadata: { labels: { app: "demo" } },
  spec: { containers: [{ name: "main", image }] },
});
const workload = (image: string): DeepReadonly<Workload> => ({
  apiVersion: "example.com/v1",
  kind: "Workload",
  metadata: { name: "demo", namespace: "shop", uid: "u" },
  spec: { template: template(image) },
});
const revisionOf = (image: string, number: number): ReadonlyRevision =>
  makeRevision(format, workload(image), number, 0);

describe("A revision", () => {
  test("has OpenKruise's hash", () => {
    const data = {
      spec: {
        template: {
          $patch: "replace",
          metadata: { creationTimestamp: null, labels: { app: "demo" } },
          spec: { containers: [{ image: "nginx:1.0", name: "main" }] },
        },
      },
    };

    expect([revisionHash(data, 0), revisionHash(data, 1)]).toEqual(["6b758798c9", "6b758798c8"]);
  });

  test("returns the original template", () => {
    expect(podTemplateOf(revisionOf("web:1", 1))).toEqual({
      metadata: { labels: { app: "demo" } },
      spec: { containers: [{ name: "main", image: "web:1", resources: {} }] },
    });
  });

  test("A revision of Kubernetes' own kinds omits creationTimestamp", () => {
    expect(podTemplateData(template("web:1"), "absent")).toMatchObject({
      spec: { template: { metadata: { labels: { app: "demo" } } } },
    });
    expect(JSON.stringify(podTemplateData(template("web:1"), "absent"))).not.toContain("creationTimestamp");
  });

  test("A revision of a workload with a long name keeps room for its hash", () => {
    const long = { ...workload("web:1"), metadata: { name: "n".repeat(250), namespace: "shop", uid: "u" } };

    expect(makeRevision(format, long, 1, 0).metadata.name).toMatch(/^n{223}-[a-z0-9]+$/);
  });
});

describe("The revision of a workload", () => {
  test("is a new one for its first template, with no rollout in progress", () => {
    const plan = planRevisions(format, workload("web:1"), { known: [] });

    expect(plan).toMatchObject({ write: "create", update: { revision: 1 }, collisionCount: 0 });
    expect(plan.current).toBe(plan.update);
  });

  test("is the newest one while the template is unchanged", () => {
    const known = [revisionOf("web:1", 1), revisionOf("web:2", 2)];

    expect(planRevisions(format, workload("web:2"), { known, currentRevision: known[0]?.metadata.name })).toEqual({
      update: known[1],
      current: known[0],
      collisionCount: 0,
    });
  });

  test("is the old one with its old name and a new number when a template is restored", () => {
    const known = [revisionOf("web:1", 1), revisionOf("web:2", 2)];

    const plan = planRevisions(format, workload("web:1"), { known, currentRevision: known[1]?.metadata.name });

    expect(plan.write).toBe("update");
    expect([plan.update.metadata.name, plan.update.revision]).toEqual([known[0]?.metadata.name, 3]);
  });

  test("gets another hash on a name collision with another template", () => {
    const taken = { ...revisionOf("web:1", 1), data: { other: true } } as unknown as ReadonlyRevision;

    const plan = planRevisions(format, workload("web:1"), { known: [taken] });

    expect(plan.collisionCount).toBe(1);
    expect(plan.update.metadata.name).not.toBe(taken.metadata.name);
  });

  test("falls back to the update revision when the current one was pruned", () => {
    const plan = planRevisions(format, workload("web:2"), {
      known: [revisionOf("web:2", 5)],
      currentRevision: "demo-gone",
    });

    expect(plan.current).toBe(plan.update);
  });
});

test("history deletes the oldest unused revisions beyond the limit", () => {
  const known = [4, 2, 1, 3].map((number) => revisionOf(`web:${number}`, number));
  const inUse = known[2];

  expect(planHistory(known, 1, (revision) => revision === inUse).map(({ revision }) => revision)).toEqual([2, 3]);
  expect(planHistory(known, undefined, () => false)).toEqual([]);
});
