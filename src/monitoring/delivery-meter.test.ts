import { expect, test } from "vitest";
import { MetricsText } from "../base/index.ts";
import { UnreachableError } from "../client/index.ts";
import { BusyMemberError } from "../delivery/index.ts";
import type { ApplyOutcome, ApplyPolicy, Delivery } from "../delivery/index.ts";
import { ApiError } from "../machinery/index.ts";
import { createDeliveryMeter } from "./delivery-meter.ts";

const MANIFEST = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "shop" } };
const POLICY: ApplyPolicy = { mode: "apply", force: true, fieldManager: "flotilla", adopt: false, isFirst: true };
const signal = new AbortController().signal;

function setUp(apply: () => Promise<ApplyOutcome>) {
  const delivered: string[] = [];
  const meter = createDeliveryMeter({
    onDelivered: (cluster, { metadata }) => void delivered.push(`${cluster} ${metadata.name}`),
  });
  const plain = { apply, remove: async () => {} } as unknown as Delivery;
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
  "what was created is counted as such": {
    outcome: created,
    want: [
      'create_resource_to_cluster{result="success",apiversion="v1",kind="ConfigMap",member_cluster="paris",recreate="false"} 1',
    ],
  },
  "what was there before and had to be made again is told apart": {
    outcome: created,
    policy: { isFirst: false },
    want: [
      'create_resource_to_cluster{result="success",apiversion="v1",kind="ConfigMap",member_cluster="paris",recreate="true"} 1',
    ],
  },
  "what was as it should be is a look without a change": {
    outcome: { result: "unchanged", object: MANIFEST },
    want: [
      'update_resource_to_cluster{result="success",apiversion="v1",kind="ConfigMap",member_cluster="paris",operationResult="unchanged"} 1',
    ],
  },
  "what somebody changed is told, too": {
    outcome: { result: "updated", object: MANIFEST, drift: [{ steps: ["f:data"] }] as never },
    want: [
      'update_resource_to_cluster{result="success",apiversion="v1",kind="ConfigMap",member_cluster="paris",operationResult="updated"} 1',
      'flotilla_delivery_drift_total{member_cluster="paris",action="repaired"} 1',
    ],
  },
  "what belongs to somebody else is a failure": {
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
  "a quota that is used up": {
    error: refusal(403, 'pods "a" is forbidden: exceeded quota: small, requested: pods=1'),
    reason: "quota",
  },
  "missing rights": { error: refusal(403, "no"), reason: "forbidden" },
  "an object that is not valid": { error: refusal(422, "no"), reason: "invalid" },
  "a member that does not answer": { error: new UnreachableError("away"), reason: "unreachable" },
  "anything else": { error: new Error("broken"), reason: "other" },
};
for (const [what, { error, reason }] of Object.entries(refusals)) {
  test(`${what} is counted as ${reason}, and handed on`, async () => {
    const { delivery, samples } = setUp(() => Promise.reject(error));

    await expect(delivery.apply(MANIFEST, POLICY, signal)).rejects.toBe(error);

    expect(samples()).toContain(`flotilla_delivery_refusals_total{member_cluster="paris",reason="${reason}"} 1`);
    expect(samples()).toContain(
      'create_resource_to_cluster{result="error",apiversion="v1",kind="ConfigMap",member_cluster="paris",recreate="false"} 1',
    );
  });
}

test("a member that is busy has refused nothing", async () => {
  const { delivery, samples } = setUp(() => Promise.reject(new BusyMemberError("paris")));

  await expect(delivery.apply(MANIFEST, POLICY, signal)).rejects.toThrow("busy");

  expect(samples()).toEqual([]);
});

test("removing counts where something is deleted, not where it is let go", async () => {
  const { delivery, samples } = setUp(async () => created);
  const ref = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "a" };

  await delivery.remove(ref, { mode: "delete" }, signal);
  await delivery.remove(ref, { mode: "release" }, signal);

  expect(samples()).toEqual([
    'delete_resource_from_cluster{result="success",apiversion="v1",kind="ConfigMap",member_cluster="paris"} 1',
  ]);
});

test("a delivery has one face, by which the pipeline knows the member", () => {
  const { meter, plain, delivery } = setUp(async () => created);

  expect(meter.around("paris", plain)).toBe(delivery);
});

test("what arrived is told to who measures the way, and a member that is gone is forgotten", async () => {
  const { meter, delivery, delivered, samples } = setUp(async () => created);
  await delivery.apply(MANIFEST, POLICY, signal);

  meter.forget("paris");

  expect(delivered).toEqual(["paris a"]);
  expect(samples()).toEqual([]);
});
