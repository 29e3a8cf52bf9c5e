/** Leases, events, health checks and metrics. */
import { expect, test } from "vitest";
import { NAMESPACE, contract } from "../../programs/api-servers.ts";

const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
const CORE_EVENTS = `/api/v1/namespaces/${NAMESPACE}/events`;
const EVENTS = `/apis/events.k8s.io/v1/namespaces/${NAMESPACE}/events`;

contract("operations", (subject) => {
  test("a Lease keeps its microseconds, and two candidates cannot both renew it", async () => {
    const { body } = await subject.api.create(LEASES, {
      metadata: { name: "leader" },
      spec: {
        holderIdentity: "a",
        leaseDurationSeconds: 15,
        acquireTime: "2026-01-01T00:00:00.000000Z",
        renewTime: "2026-01-01T00:00:01.123456Z",
        leaseTransitions: 0,
      },
    });

    const first = await subject.api.replace(`${LEASES}/leader`, {
      ...body,
      spec: { ...(body.spec as object), holderIdentity: "a", renewTime: "2026-01-01T00:00:02.000001Z" },
    });
    const second = await subject.api.replace(`${LEASES}/leader`, {
      ...body,
      spec: { ...(body.spec as object), holderIdentity: "b" },
    });

    expect(body.spec).toMatchObject({
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:01.123456Z",
    });
    expect(first.body.spec).toMatchObject({ renewTime: "2026-01-01T00:00:02.000001Z" });
    expect(second.status).toBe(409);
  });

  test("a core/v1 Event is the same object in events.k8s.io/v1", async () => {
    const created = await subject.api.create(CORE_EVENTS, {
      metadata: { name: "started" },
      involvedObject: { kind: "Pod", namespace: NAMESPACE, name: "web" },
      reason: "Started",
      message: "It runs.",
      type: "Normal",
      source: { component: "kubelet", host: "n1" },
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:01:00Z",
      count: 3,
    });
    const other = await subject.api.get(`${EVENTS}/started`);

    expect(created.status, created.text).toBe(201);
    expect(other.body).toMatchObject({
      kind: "Event",
      apiVersion: "events.k8s.io/v1",
      metadata: { uid: created.body.metadata.uid },
      regarding: { kind: "Pod", name: "web" },
      note: "It runs.",
      deprecatedSource: { component: "kubelet", host: "n1" },
      deprecatedFirstTimestamp: "2026-01-01T00:00:00Z",
      deprecatedCount: 3,
    });
    await subject.api.delete(`${EVENTS}/started`);
    expect((await subject.api.get(`${CORE_EVENTS}/started`)).status).toBe(404);
  });

  test("an events.k8s.io/v1 Event is the same object in core/v1, with a patch as recorders send it", async () => {
    await subject.api.create(EVENTS, {
      metadata: { name: "scheduled" },
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "example.com/scheduler",
      reportingInstance: "s-1",
      action: "Binding",
      reason: "Scheduled",
      type: "Normal",
      regarding: { kind: "Pod", namespace: NAMESPACE, name: "web" },
      note: "Placed.",
    });

    const patched = await subject.api.patch("strategic", `${EVENTS}/scheduled`, {
      series: { count: 2, lastObservedTime: "2026-01-01T00:01:00.000000Z" },
    });
    const core = await subject.api.get(`${CORE_EVENTS}/scheduled`);

    expect(patched.status, patched.text).toBe(200);
    expect(core.body).toMatchObject({
      apiVersion: "v1",
      involvedObject: { name: "web" },
      message: "Placed.",
      reportingComponent: "example.com/scheduler",
      series: { count: 2, lastObservedTime: "2026-01-01T00:01:00.000000Z" },
    });
  });

  test("a HorizontalPodAutoscaler is one object in both of its versions", async () => {
    const path = (version: string): string =>
      `/apis/autoscaling/${version}/namespaces/${NAMESPACE}/horizontalpodautoscalers`;
    const created = await subject.api.create(path("v1"), {
      metadata: { name: "web" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 5,
        targetCPUUtilizationPercentage: 60,
      },
    });

    const second = await subject.api.get(`${path("v2")}/web`);

    expect(created.status, created.text).toBe(201);
    expect(second.body).toMatchObject({
      apiVersion: "autoscaling/v2",
      metadata: { uid: created.body.metadata.uid },
      spec: {
        minReplicas: 1,
        maxReplicas: 5,
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } } },
        ],
      },
    });
  });

  test("health endpoints return ok, or every check with verbose", async () => {
    for (const path of ["/healthz", "/livez", "/readyz"]) {
      const plain = await subject.api.get(path);
      const verbose = await subject.api.get(`${path}?verbose`);

      expect([plain.status, plain.text, plain.headers["content-type"]]).toEqual([
        200,
        "ok",
        "text/plain; charset=utf-8",
      ]);
      expect(verbose.text).toMatch(/^\[\+\]ping ok\n/);
      expect(verbose.text).toContain(`${path.slice(1)} check passed\n`);
    }
  });

  test("a health check can be queried alone, and excluded", async () => {
    const one = await subject.api.get("/readyz/ping");
    const excluded = await subject.api.get("/readyz?verbose&exclude=ping");
    const unknown = await subject.api.get("/readyz/nothing");

    expect([one.status, one.text]).toEqual([200, "ok"]);
    expect(excluded.text).toContain("[+]ping excluded: ok\n");
    expect(unknown.status).toBe(404);
  });

  test("metrics have the names of Kubernetes", async () => {
    await subject.api.get(`/api/v1/namespaces/${NAMESPACE}/configmaps`);

    const { status, headers, text } = await subject.api.get("/metrics", { accept: "*/*" });

    expect(status).toBe(200);
    expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toMatch(/^apiserver_request_total\{.*resource="configmaps".*verb="LIST".*\} \d+$/m);
    for (const name of [
      "apiserver_request_duration_seconds_bucket",
      "apiserver_current_inflight_requests",
      "apiserver_longrunning_requests",
      "process_resident_memory_bytes",
    ])
      expect(text).toContain(name);
  });
});
