/** The logs of a fleet, at the most verbose level, while secrets pass through it. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Deployment, ResourceQuota, Secret } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import { createFakeClock, createLog } from "@flotilla/base";
import type { LogFields } from "@flotilla/base";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

const PASSWORD = "correct-horse-battery-staple";

let fleet: TestFleet;
let lines: string[];
beforeEach(async () => {
  lines = [];
  const clock = createFakeClock();
  fleet = await startTestFleet({
    members: ["paris", "oslo"],
    nodes: 1,
    clock,
    log: createLog({ level: "debug", clock, write: (line) => void lines.push(line) }),
  });
});
afterEach(() => fleet.stop());

test("each line is one JSON object with consistent fields, and contains no data of a Secret or token", async () => {
  const selectors = ["Secret", "Deployment"].map((kind) => ({
    apiVersion: kind === "Secret" ? "v1" : "apps/v1",
    kind,
    name: "web",
  }));
  await fleet.client.create(ResourceQuota, "paris", {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "none", namespace: "default" },
    spec: { hard: { secrets: "0" } },
  });
  await fleet.client.create(PropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "web", namespace: "default" },
    spec: { resourceSelectors: selectors, placement: {} },
  });
  await fleet.client.create(Secret, "hub", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "web", namespace: "default" },
    data: { password: Buffer.from(PASSWORD).toString("base64") },
  });
  await fleet.client.create(Deployment, "hub", {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
    },
  });
  await fleet.hub.server.handle({
    method: "GET",
    path: "/api/v1/secrets",
    query: new URLSearchParams({ token: PASSWORD }),
    headers: { authorization: `Bearer ${PASSWORD}` },
    body: new Uint8Array(),
    user: { name: "alice", groups: [] },
    signal: new AbortController().signal,
  });
  await fleet.run(120_000);

  const entries = lines.map((line) => JSON.parse(line) as LogFields);

  expect(entries.length).toBeGreaterThan(10);
  for (const { time, level, message } of entries)
    expect([typeof time, ["debug", "info", "warn", "error"].includes(String(level)), typeof message]).toEqual([
      "string",
      true,
      "string",
    ]);
  expect(entries.find(({ message }) => message === "works dispatched")).toMatchObject({
    component: "hub",
    controller: "dispatch",
    key: expect.stringMatching(/^hub\/default\/web-/),
    clusters: 2,
  });
  const all = lines.join("");
  for (const secret of [PASSWORD, Buffer.from(PASSWORD).toString("base64"), "eyJ"]) expect(all).not.toContain(secret);
});
