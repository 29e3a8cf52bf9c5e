import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { newestEvents } from "./events.ts";
import type { Description } from "./read-description.ts";
import { renderDescription } from "./render-description.ts";
import { summariseObject } from "./summarise-object.ts";

const NOW_MS = Date.parse("2026-01-01T00:10:00Z");
const deployment = (replicas: number, more: JsonObject = {}): JsonObject => ({
  kind: "Deployment",
  metadata: {
    name: "web",
    namespace: "shop",
    creationTimestamp: "2026-01-01T00:00:00Z",
    generation: 2,
    labels: { app: "web" },
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", note: "mine" },
  },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: { spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
  ...more,
});

const DESCRIPTION: Description = {
  resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" },
  hub: deployment(4),
  binding: {
    name: "web-deployment",
    // The API server returns them by name.
    conditions: [
      { type: "FullyApplied", status: "True", reason: "FullyAppliedSuccess" },
      { type: "Scheduled", status: "True", reason: "Success" },
    ],
    clusters: [{ cluster: "member1", replicas: 4, applied: true, health: "Unhealthy" }],
  },
  members: [
    {
      cluster: "member1",
      object: deployment(4, {
        status: {
          readyReplicas: 1,
          conditions: [
            {
              type: "Available",
              status: "False",
              reason: "MinimumReplicasUnavailable",
              message: "three are missing",
              lastTransitionTime: "2026-01-01T00:09:00Z",
            },
          ],
        },
      }),
    },
  ],
  without: ["member2"],
  events: [
    {
      cluster: "member1",
      at: "2026-01-01T00:09:30Z",
      type: "Warning",
      reason: "Failed",
      object: "deployment/web",
      message: "no room",
      count: 3,
    },
  ],
  failures: [{ cluster: "member3", reason: "no response within 10 s" }],
  notChecked: ["the events on member2: you are not allowed to list them"],
};

test("one object is described across the fleet, and copies omit what the hub's object has", () => {
  expect(renderDescription(DESCRIPTION, { nowMs: NOW_MS, width: 80 })).toBe(`Deployment shop/web (apps/v1)

NOT CHECKED
  member3: no response within 10 s
  the events on member2: you are not allowed to list them

HUB
  created      2026-01-01T00:00:00Z (10m ago), generation 2
  labels       app=web
  annotations  note: mine
  containers   web: web:1
  spec         replicas: 4
               selector.matchLabels.app: web

BINDING web-deployment
  Scheduled True (Success)
  FullyApplied True (FullyAppliedSuccess)
  CLUSTER   REPLICAS   APPLIED   HEALTH RULE   MESSAGE
  member1   4          yes       Unhealthy

MEMBER member1
  created      2026-01-01T00:00:00Z (10m ago), generation 2
  status       readyReplicas: 1
  conditions   Available False (MinimumReplicasUnavailable), for 60s
                 three are missing

NOT ON member2

EVENTS
  30s ago  member1  Warning Failed  deployment/web  3 times
    no room`);
});

test("Secret values are not shown, and control characters from members are removed", () => {
  const secret = {
    kind: "Secret",
    metadata: { name: "s", creationTimestamp: "2026-01-01T00:00:00Z", labels: { a: "\u001b[31m" } },
    type: "Opaque",
    data: { password: "aHVudGVyMg==" },
  };

  const text = renderDescription(
    { ...DESCRIPTION, hub: secret, members: [], events: [] },
    { nowMs: NOW_MS, width: undefined },
  );

  expect(text).toContain("data.password: (hidden)");
  expect(text).not.toContain("aHVudGVyMg");
  expect(text).toContain("a=?[31m");
});

test("a pod shows the state of its containers", () => {
  const pod: JsonObject = {
    kind: "Pod",
    metadata: {},
    spec: {
      containers: [
        { name: "web", image: "web:1" },
        { name: "proxy", image: "p:1" },
      ],
    },
    status: {
      containerStatuses: [
        { name: "web", ready: true, restartCount: 0, state: { running: {} } },
        { name: "proxy", ready: false, restartCount: 3, state: { waiting: { reason: "CrashLoopBackOff" } } },
      ],
    },
  };

  expect(summariseObject(pod, 0).containers).toEqual([
    "web: web:1 (ready, 0 restarts)",
    "proxy: p:1 (not ready, waiting: CrashLoopBackOff, 3 restarts)",
  ]);
});

test("an object with a thousand values is summarized in a few lines", () => {
  const spec = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key${index}`, "x".repeat(1000)]));

  const { spec: lines } = summariseObject({ kind: "Thing", metadata: {}, spec }, 0);

  expect([lines.length, lines.at(-1), Math.max(...lines.map((line) => line.length))]).toEqual([
    17,
    "and 984 more",
    121,
  ]);
});

test("of many events only the newest are shown, newest last", () => {
  const event = (second: number) => ({
    cluster: "a",
    at: `2026-01-01T00:00:0${second}Z`,
    type: "Normal",
    reason: "R",
    object: "o",
    message: "",
    count: 1,
  });

  expect(newestEvents([event(3), event(1), event(2)], 2).map(({ at }) => at)).toEqual([
    "2026-01-01T00:00:02Z",
    "2026-01-01T00:00:03Z",
  ]);
});
