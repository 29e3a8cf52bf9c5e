import { expect, test } from "vitest";
import { Event, EventsEvent, HorizontalPodAutoscaler, Namespace } from "@flotilla/kubernetes";
import { createResources } from "../resources/resources.ts";
import { createTestServer } from "../test-server.ts";

const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };
const hub = { builtIns: [Namespace, Event, EventsEvent, HorizontalPodAutoscaler], customs: [], objects: [namespace] };
const CORE = "/api/v1/namespaces/default/events";
const NEWER = "/apis/events.k8s.io/v1/namespaces/default/events";

test("an Event written to one API group can be read, listed and deleted in the other", async () => {
  const { request } = await createTestServer({ profiles: { hub } });
  await request("POST", CORE, { metadata: { name: "a" }, involvedObject: { kind: "Pod" }, message: "m", count: 2 });

  const read = await request("GET", `${NEWER}/a`);
  const listed = await request("GET", NEWER);
  const deleted = await request("DELETE", `${NEWER}/a`);
  const gone = await request("GET", `${CORE}/a`);

  expect(read.body).toMatchObject({
    apiVersion: "events.k8s.io/v1",
    regarding: { kind: "Pod" },
    note: "m",
    deprecatedCount: 2,
  });
  expect(listed.body.items).toHaveLength(1);
  expect([deleted.status, gone.status]).toEqual([200, 404]);
});

test("a HorizontalPodAutoscaler is one object in two versions", async () => {
  const { request } = await createTestServer({ profiles: { hub } });
  const path = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  await request("POST", path("v1"), {
    metadata: { name: "a" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
      maxReplicas: 3,
      targetCPUUtilizationPercentage: 40,
    },
  });

  await request(
    "PATCH",
    `${path("v2")}/a`,
    { spec: { maxReplicas: 4 } },
    { "content-type": "application/merge-patch+json" },
  );
  const { body } = await request("GET", `${path("v1")}/a`);

  expect(body.spec).toMatchObject({ maxReplicas: 4, minReplicas: 1, targetCPUUtilizationPercentage: 40 });
});

test("a view requires the kind that it is a view of", () => {
  expect(() => createResources([EventsEvent])).toThrow(
    /the kind Event must also be served, because events.k8s.io Event is a view of it/,
  );
});
