import { expect, onTestFinished, test } from "vitest";
import type { Agent } from "@flotilla/flotilla";
import { silentLog } from "@flotilla/base";
import { createAgentMetrics, parseMetricsAddress, serveMetrics } from "./agent-metrics.ts";
import { metricsPages } from "../metrics-catalogue.ts";

const agent = {
  manager: { metrics: () => new Map() },
  lanes: () => [{ cluster: "paris", active: 1, waiting: 2, failures: 0 }],
  writeMetrics: () => {},
} as unknown as Agent;

test("an agent exposes what it serves, and only declared metrics", () => {
  const metrics = createAgentMetrics();
  const before = metrics.render();

  metrics.follow(agent, { karmada: true, ocm: false });
  const text = metrics.render();

  expect(before).toContain('flotilla_agent_serving{kind="Work"} 0\n');
  expect(text).toContain('flotilla_agent_serving{kind="Work"} 1\nflotilla_agent_serving{kind="ManifestWork"} 0\n');
  expect(text).toContain('flotilla_member_lane_waiting{member_cluster="paris"} 2\n');
  const declared = new Set(metricsPages.at(-1)?.metrics.map(({ name }) => name));
  expect(
    Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name = ""]) => name).filter((name) => !declared.has(name)),
  ).toEqual([]);
});

test("/metrics is served at the given address, and other paths are not found", async () => {
  const served = await serveMetrics("127.0.0.1:0", () => "up 1\n", silentLog);
  onTestFinished(() => served.close());
  const get = async (path: string, method = "GET"): Promise<[number, string | null, string]> => {
    const response = await fetch(`http://127.0.0.1:${served.port}${path}`, { method });
    return [response.status, response.headers.get("content-type"), await response.text()];
  };

  expect(await get("/metrics")).toEqual([200, "text/plain; version=0.0.4; charset=utf-8", "up 1\n"]);
  expect((await get("/healthz"))[0]).toBe(200);
  expect((await get("/secrets"))[0]).toBe(404);
  expect((await get("/metrics", "POST"))[0]).toBe(405);
});

test("the workloads of members have a page where the process knows them", async () => {
  let known = true;
  const members = (only?: string): string | undefined => (known ? `of ${only ?? "all"}\n` : undefined);
  const served = await serveMetrics("127.0.0.1:0", () => "", silentLog, { members });
  onTestFinished(() => served.close());
  const get = async (path: string): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${served.port}${path}`);
    return [response.status, await response.text()];
  };

  expect(await get("/metrics/members")).toEqual([200, "of all\n"]);
  expect(await get("/metrics/members?cluster=oslo")).toEqual([200, "of oslo\n"]);
  known = false;
  expect(await get("/metrics/members")).toEqual([200, ""]);
});

test("a taken port is reported with the flag to change", async () => {
  const served = await serveMetrics("127.0.0.1:0", () => "", silentLog);
  onTestFinished(() => served.close());

  await expect(serveMetrics(`127.0.0.1:${served.port}`, () => "", silentLog)).rejects.toThrow(
    `cannot serve metrics on 127.0.0.1:${served.port}; choose another --metrics-address`,
  );
});

const addresses: Record<string, { host: string; port: number }> = {
  "9102": { host: "127.0.0.1", port: 9102 },
  ":9102": { host: "127.0.0.1", port: 9102 },
  "0.0.0.0:9102": { host: "0.0.0.0", port: 9102 },
  "[::1]:9102": { host: "::1", port: 9102 },
  "agent.example.com:80": { host: "agent.example.com", port: 80 },
};
for (const [text, want] of Object.entries(addresses)) {
  test(`${text} is ${want.host} and ${want.port}`, () => {
    expect(parseMetricsAddress(text)).toEqual(want);
  });
}

for (const text of ["127.0.0.1", "127.0.0.1:70000", "http://127.0.0.1:9102", ""]) {
  test(`"${text}" is rejected`, () => {
    expect(() => parseMetricsAddress(text)).toThrow("is not a valid address");
  });
}
