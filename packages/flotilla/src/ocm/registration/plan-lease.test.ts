import { expect, test } from "vitest";
import type { Lease } from "@flotilla/kubernetes";
import type { ManagedCluster } from "@flotilla/ocm";
import { expiresAtMs, graceMs, isClockSynced, nextRenewal } from "./plan-lease.ts";

const NOW = Date.parse("2024-05-01T12:00:00Z");
const SKIP = { "registration.open-cluster-management.io/skip-clock-sync-check": "true" };
const cluster = (leaseDurationSeconds?: number, annotations: Record<string, string> = {}): ManagedCluster => ({
  apiVersion: "cluster.open-cluster-management.io/v1",
  kind: "ManagedCluster",
  metadata: { name: "c1", annotations },
  spec: { leaseDurationSeconds },
});
const lease = (renewTime?: string): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "managed-cluster-lease", creationTimestamp: "2024-05-01T11:00:00Z" },
  spec: { renewTime: renewTime || undefined },
});
const renewal = (renewTime: string, isObserved = true) => ({ renewTime, seenMs: NOW, isObserved });

test("a lease lasts five times its duration, which defaults to a minute", () => {
  expect([cluster(), cluster(0), cluster(60), cluster(10)].map(graceMs)).toEqual([300_000, 300_000, 300_000, 50_000]);
  expect(expiresAtMs(cluster(), renewal("2024-05-01T11:59:00.000000Z"))).toBe(NOW + 240_000);
});

test("a lease that was never renewed counts from its creation", () => {
  expect(nextRenewal(undefined, lease(), NOW).renewTime).toBe("2024-05-01T11:00:00Z");
});

test("a renewal found when the hub starts is not marked as observed, a later change is", () => {
  const first = nextRenewal(undefined, lease("2024-05-01T11:59:00.000000Z"), NOW);
  const same = nextRenewal(first, lease("2024-05-01T11:59:00.000000Z"), NOW + 1);
  const next = nextRenewal(same, lease("2024-05-01T12:00:30.000000Z"), NOW + 2);

  expect([first.isObserved, same === first, next]).toEqual([
    false,
    true,
    { renewTime: "2024-05-01T12:00:30.000000Z", seenMs: NOW + 2, isObserved: true },
  ]);
});

const clocks: Record<
  string,
  { at: string; isObserved?: boolean; annotations?: Record<string, string>; want: boolean | undefined }
> = {
  "a clock four minutes off is synced": { at: "2024-05-01T11:56:00Z", want: true },
  "a clock five minutes behind is not synced": { at: "2024-05-01T11:55:00Z", want: false },
  "a clock five minutes ahead is not synced": { at: "2024-05-01T12:05:00Z", want: false },
  "a renewal that the hub did not observe does not determine the clock state": {
    at: "2024-05-01T11:00:00Z",
    isObserved: false,
    want: undefined,
  },
  "a cluster exempt from the clock check is synced": { at: "2024-05-01T11:00:00Z", annotations: SKIP, want: true },
};
for (const [behaviour, { at, isObserved = true, annotations = {}, want }] of Object.entries(clocks)) {
  test(behaviour, () => {
    expect(isClockSynced(cluster(60, annotations), renewal(at, isObserved))).toBe(want);
  });
}

test("a lease that expired while the hub was down counts from the hub's start", () => {
  expect(expiresAtMs(cluster(), renewal("2024-05-01T11:00:00Z", false))).toBe(NOW + 300_000);
});

test("the lease of an exempt cluster counts from when the hub observed its renewal", () => {
  expect(expiresAtMs(cluster(60, SKIP), renewal("2024-05-01T11:00:00Z"))).toBe(NOW + 300_000);
});
