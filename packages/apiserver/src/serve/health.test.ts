import { describe, expect, test } from "vitest";
import { createTestServer } from "../test-server.ts";

describe("health", () => {
  const cases: Record<string, { path: string; status: number; text: RegExp }> = {
    "is ok": { path: "/healthz", status: 200, text: /^ok$/ },
    "is reported per check": { path: "/readyz/ping", status: 200, text: /^ok$/ },
    "supports checks with several path segments": {
      path: "/livez/poststarthook/rbac/bootstrap-roles",
      status: 200,
      text: /^ok$/,
    },
    "has no check of an unknown name": { path: "/readyz/nope", status: 404, text: /^404 page not found\n$/ },
    "lists the checks with verbose": {
      path: "/livez?verbose",
      status: 200,
      text: /^\[\+\]ping ok\n\[\+\]log ok\n\[\+\]etcd ok\n[^]*livez check passed\n$/,
    },
    "reports excluded checks": {
      path: "/readyz?verbose&exclude=etcd",
      status: 200,
      text: /\[\+\]etcd excluded: ok\n/,
    },
    "warns about unknown excluded checks": {
      path: "/readyz?verbose&exclude=nope",
      status: 200,
      text: /warn: some health checks cannot be excluded: no matches for "nope"\nreadyz check passed\n$/,
    },
  };
  for (const [behaviour, { path, status, text }] of Object.entries(cases)) {
    test(behaviour, async () => {
      const { request } = await createTestServer();

      const answer = await request("GET", path);

      expect(answer.status).toBe(status);
      expect(answer.text).toMatch(text);
    });
  }

  test("a stopping server is not ready but live, and still answers", async () => {
    const { request, server } = await createTestServer();

    server.drain();

    const ready = await request("GET", "/readyz");
    expect(ready.status).toBe(500);
    expect(ready.text).toContain("[-]shutdown failed: reason withheld\nreadyz check failed\n");
    expect((await request("GET", "/readyz?exclude=shutdown")).status).toBe(200);
    expect((await request("GET", "/livez")).status).toBe(200);
    expect((await request("GET", "/api/v1/namespaces")).status).toBe(200);
  });

  test("is not ready while the controllers in its process are unhealthy", async () => {
    let problems: string[] = ["the controllers have not started"];
    const { request } = await createTestServer({ controllers: { problems: () => problems, writeMetrics() {} } });

    const before = await request("GET", "/readyz");
    const alive = await request("GET", "/livez");
    problems = [];
    const after = await request("GET", "/readyz");

    expect(before.text).toContain("[-]controllers failed: reason withheld\n");
    expect([before.status, alive.status, after.status]).toEqual([500, 200, 200]);
  });

  test("a hub whose disk rejects writes is not ready; its members, which share the disk, stay ready", async () => {
    const { request } = await createTestServer({ takesWrites: () => false, clusters: { hub: "hub", paris: "hub" } });

    const hub = await request("GET", "/readyz");
    const alive = await request("GET", "/livez");
    const member = await request("GET", "/clusters/paris/readyz?verbose");

    expect(hub.text).toContain("[-]store-writes failed: reason withheld\n");
    expect([hub.status, alive.status, member.status]).toEqual([500, 200, 200]);
    expect(member.text).not.toContain("store-writes");
  });
});
