import { expect, test } from "vitest";
import type { DeepReadonly } from "@flotilla/base";
import type { Deployment, ReplicaSet } from "@flotilla/kubernetes";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import { planReplicaSets } from "./plan-replica-sets.ts";

const REVISION = "deployment.kubernetes.io/revision";
const deployment = (image: string, annotations: Record<string, string> = {}, limit?: number): Deployment =>
  makeDeployment("shop/web")
    .with(({ metadata, spec }) => {
      metadata.uid = "u1";
      metadata.annotations = annotations;
      spec.revisionHistoryLimit = limit;
      spec.template.spec = { containers: [{ name: "web", image }] };
    })
    .build();

/** The ReplicaSets after a Deployment had these images one after another. */
function historyOf(...images: string[]): DeepReadonly<ReplicaSet>[] {
  let sets: DeepReadonly<ReplicaSet>[] = [];
  for (const image of images) {
    const { create, update } = planReplicaSets(deployment(image), sets);
    if (create) sets = [...sets, create];
    if (update) sets = sets.map((set) => (set.metadata.name === update.metadata.name ? update : set));
  }
  return sets;
}
const numbers = (sets: readonly DeepReadonly<ReplicaSet>[]): (string | undefined)[] =>
  sets.map(({ metadata }) => metadata.annotations?.[REVISION]);

test("the first template is revision 1, without replicas, and the Deployment is not written for it", () => {
  const { create, revision, remove } = planReplicaSets(deployment("web:1"), []);

  expect(create).toMatchObject({
    metadata: { annotations: { [REVISION]: "1" }, ownerReferences: [{ kind: "Deployment", uid: "u1" }] },
    spec: { replicas: 0 },
  });
  expect([revision, remove]).toEqual([undefined, []]);
});

test("another template is the next revision, and one that returns the newest again", () => {
  expect(numbers(historyOf("web:1", "web:2"))).toEqual(["1", "2"]);
  expect(numbers(historyOf("web:1", "web:2", "web:1"))).toEqual(["3", "2"]);
  expect(planReplicaSets(deployment("web:1"), historyOf("web:1", "web:2", "web:1")).revision).toBe("3");
});

test("an unchanged Deployment plans nothing", () => {
  const sets = historyOf("web:1", "web:2");

  expect(planReplicaSets(deployment("web:2", { [REVISION]: "2" }), sets)).toEqual({ remove: [] });
});

test("a revision annotation of another cluster is corrected", () => {
  expect(planReplicaSets(deployment("web:1", { [REVISION]: "17" }), historyOf("web:1")).revision).toBe("1");
});

test("the newest revision has the change cause of the Deployment", () => {
  const cause = { "kubernetes.io/change-cause": "a new logo" };

  const { update } = planReplicaSets(deployment("web:1", cause), historyOf("web:1"));

  expect(update?.metadata.annotations).toMatchObject({ ...cause, [REVISION]: "1" });
  expect(planReplicaSets(deployment("web:1"), update ? [update] : []).update?.metadata.annotations).not.toHaveProperty(
    "kubernetes.io/change-cause",
  );
});

test("the oldest revisions beyond the limit are removed, never the newest", () => {
  const sets = historyOf("web:1", "web:2", "web:3");

  const images = (limit: number): unknown[] =>
    planReplicaSets(deployment("web:3", {}, limit), sets).remove.map(
      ({ spec }) => spec.template?.spec?.containers[0]?.image,
    );

  expect([images(1), images(0), images(2)]).toEqual([["web:1"], ["web:1", "web:2"], []]);
});

test("a name that another object has is avoided", () => {
  const names = [0, 1].map((collisions) => planReplicaSets(deployment("web:1"), [], collisions).create?.metadata.name);

  expect(new Set(names).size).toBe(2);
});
