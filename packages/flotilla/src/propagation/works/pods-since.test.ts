import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { makeCloneSet, makeDeployment, makeWork } from "@flotilla/testing/builders.ts";
import { podsSince, withoutOlderPods } from "./pods-since.ts";

const deployment = (image: string, replicas = 3, generation = 1) =>
  makeDeployment("shop/web")
    .replicas(replicas)
    .with(({ metadata, spec }) => {
      metadata.annotations = { "resourcetemplate.karmada.io/generation": String(generation) };
      spec.template.spec = { containers: [{ name: "web", image }] };
    })
    .build();
function workWith(manifest: object | undefined, since?: string) {
  const work = makeWork("paris", "web").build();
  work.spec.workload = { manifests: manifest ? [manifest as unknown as JsonObject] : [] };
  if (since !== undefined) work.metadata.annotations = { "flotilla.dev/pods-since": since };
  return work;
}

const cases: Record<string, { before: ReturnType<typeof workWith> | undefined; want: string | undefined }> = {
  "are those of the first copy while there was no other": { before: undefined, want: undefined },
  "are those of the first copy while only its replicas change": {
    before: workWith(deployment("web:2", 5)),
    want: undefined,
  },
  "date from the generation with which they changed": { before: workWith(deployment("web:1")), want: "4" },
  "keep their generation while only the replicas change": {
    before: workWith(deployment("web:2", 5, 3), "2"),
    want: "2",
  },
  "that an override changed are newer than the template's generation": {
    before: workWith(deployment("web:1", 3, 4), "2"),
    want: "4+",
  },
};
for (const [behaviour, { before, want }] of Object.entries(cases))
  test(`the pods of a copy ${behaviour}`, () => {
    expect(podsSince(deployment("web:2"), 4, before)).toBe(want);
  });

test("kinds of OpenKruise and kinds without pods have no such record", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web" } };

  expect(podsSince(makeCloneSet("shop/web").build(), 4, workWith(deployment("web:1")))).toBeUndefined();
  expect(podsSince(map, 4, workWith({ ...map, data: { a: "b" } }))).toBeUndefined();
});

const report = { replicas: 3, readyReplicas: 3, updatedReplicas: 3, generation: 7, observedGeneration: 7 };
const reports: Record<string, { since?: string; status: JsonObject; isApplied?: boolean; want: number }> = {
  "count where the pods never changed": { status: { ...report, resourceTemplateGeneration: 1 }, want: 3 },
  "do not count in a report from before the pods changed": {
    since: "4",
    status: { ...report, resourceTemplateGeneration: 3 },
    want: 0,
  },
  "count in a report of the copy with which they changed": {
    since: "4",
    status: { ...report, resourceTemplateGeneration: 4 },
    want: 3,
  },
  "count while a later copy with the same pods is not applied": {
    since: "4",
    status: { ...report, resourceTemplateGeneration: 4 },
    isApplied: false,
    want: 3,
  },
  "do not count until the member has observed the copy": {
    since: "4",
    status: { ...report, resourceTemplateGeneration: 4, observedGeneration: 6 },
    want: 0,
  },
  "do not count while a copy with overridden pods is not applied": {
    since: "4+",
    status: { ...report, resourceTemplateGeneration: 4 },
    isApplied: false,
    want: 0,
  },
};
for (const [behaviour, { since, status, isApplied = true, want }] of Object.entries(reports))
  test(`updated pods ${behaviour}`, () => {
    const counted = withoutOlderPods(workWith(deployment("web:2"), since), status, isApplied);

    expect(counted).toEqual({ ...status, updatedReplicas: want });
  });

test("a report that names no generation is left as it is", () => {
  const { generation: _generation, observedGeneration: _observed, ...status } = report;

  expect(withoutOlderPods(workWith(deployment("web:2"), "4"), status, true)).toBe(status);
});
