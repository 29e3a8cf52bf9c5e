import { expect, test } from "vitest";
import { MetricsText } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import { BusyMemberError } from "../delivery/member-lanes.ts";
import type { ApplyOutcome, ApplyPolicy, Delivery } from "../delivery/delivery.ts";
import { ApiError } from "@flotilla/apimachinery";
import { createDeliveryMeter } from "./delivery-meter.ts";

const MANIFEST = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "shop" } };
const POLICY: ApplyPolicy = { mode: "apply", force: true, fieldManager: "flotilla", isFirst: true };
const signal = new AbortController().signal;

function setUp(apply: () => Promise<ApplyOutcome>) {
  const delivered: string[] = [];
  const meter = createDeliveryMeter({
    onDelivered: (cluster, { metadata }) => void delivered.push(`${cluster} ${metadata.name}`),
  });
  const plain = { apply, remove: async () => "gone" } as unknown as Delivery;
  return {
    meter,
    plain,
    delivered,
    delivery: meter.around("paris", plain),
    samples: () => {
      const text = new MetricsText();
      meter.write(text);
      return text
        .finish()
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"));
    },
  };
}

const created: ApplyOutcome = { result: "created", object: MANIFEST };

const outcomes: Record<string, { outcome: ApplyOutcome; policy?: Partial<ApplyPolicy>; want: string[] }> = {
  "a created object is counted as created": {
    outcome: created,
    want: [
      'create_resource_to_cluster{result="success",apiversion="v1",kind="ConfigMap",member_cluster="paris",recreate="false"} 1',
    ],
  },
  "an object that was deleted on the member and created again is counted as recreated": {
    outcome: created,
    policy: { isFirst: false },
    want: [
      'create_resource_to_cluster{result="success",apiversion="v1",kind="ConfigMap",member_cluster="paris",recreate="true"} 1',
    ],
  },
  "an unchanged object is counted as an update without a change": {
    outcome: { result: "unchanged", object: MANIFEST },
    want: [
      'update_resource_to_cluster{result="success",apiversion="v1",kind="ConfigMap",member_cluster="paris",operationResult="unchanged"} 1',
    ],
  },
  "drift is counted in addition to the update": {
    outcome: { result: "updated", object: MANIFEST, drift: [{ steps: ["f:data"] }] as never },
    want: [
      'update_resource_to_cluster{result="success",apiversion="v1",kind="ConfigMap",member_cluster="paris",operationResult="updated"} 1',
      'flotilla_delivery_drift_total{member_cluster="paris",action="repaired"} 1',
    ],
  },
  "a conflict with another owner is counted as a failure": {
    outcome: { result: "conflict", message: "theirs" },
    want: [
      'update_resource_to_cluster{result="error",apiversion="v1",kind="ConfigMap",member_cluster="paris",operationResult="none"} 1',
      'flotilla_delivery_refusals_total{member_cluster="paris",reason="conflict"} 1',
    ],
  },
};
for (const [behaviour, { outcome, policy, want }] of Object.entries(outcomes)) {
  test(behaviour, async () => {
    const { delivery, samples } = setUp(async () => outcome);

    await delivery.apply(MANIFEST, { ...POLICY, ...policy }, signal);

    expect(samples()).toEqual(want);
  });
}

const refusal = (code: number, message: string): ApiError =>
  new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason: "Refused", message });

const refusals: Record<string, { error: Error; reason: string }> = {
  "an exceeded quota": {
    error: refusal(403, 'pods "a" is forbidden: exceeded quota: small, requested: pods=1'),
    reason: "quota",
  },
  "a forbidden request": { error: refusal(403, "no"), reason: "forbidden" },
  "an invalid object": { error: refusal(422, "no"), reason: "invalid" },
  "an unreachable member": { error: new UnreachableError("away"), reason: "unreachable" },
  "any other error": { error: new Error("broken"), reason: "other" },
};
for (const [what, { error, reason }] of Object.entries(refusals)) {
  test(`${what} is counted as ${reason} and rethrown`, async () => {
    const { delivery, samples } = setUp(() => Promise.reject(error));

    await expect(delivery.apply(MANIFEST, POLICY, signal)).rejects.toBe(error);

    expect(samples()).toContain(`flotilla_delivery_refusals_total{member_cluster="paris",reason="${reason}"} 1`);
    expect(samples()).toContain(
      'create_resource_to_cluster{result="error",apiversion="v1",kind="ConfigMap",member_cluster="paris",recreate="false"} 1',
    );
  });
}

test("a busy member is not counted as a refusal", async () => {
  const { delivery, samples } = setUp(() => Promise.reject(new BusyMemberError("paris")));

  await expect(delivery.apply(MANIFEST, POLICY, signal)).rejects.toThrow("busy");

  expect(samples()).toEqual([]);
});

test("removal counts deleted objects, not released ones", async () => {
  const { delivery, samples } = setUp(async () => created);
  const ref = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "a" };

  await delivery.remove(ref, { mode: "delete" }, signal);
  await delivery.remove(ref, { mode: "release" }, signal);

  expect(samples()).toEqual([
    'delete_resource_from_cluster{result="success",apiversion="v1",kind="ConfigMap",member_cluster="paris"} 1',
  ]);
});

test("wrapping the same delivery twice returns the same object, because the pipeline identifies members by it", () => {
  const { meter, plain, delivery } = setUp(async () => created);

  expect(meter.around("paris", plain)).toBe(delivery);
});

test("deliveries are reported to onDelivered, and series of a removed member are dropped", async () => {
  const { meter, delivery, delivered, samples } = setUp(async () => created);
  await delivery.apply(MANIFEST, POLICY, signal);

  meter.forget("paris");

  expect(delivered).toEqual(["paris a"]);
  expect(samples()).toEqual([]);
});
