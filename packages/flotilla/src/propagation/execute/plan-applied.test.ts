import { describe, expect, test } from "vitest";
import { UnknownKindError, UnreachableError } from "@flotilla/client";
import { makeWork } from "@flotilla/testing/builders.ts";
import { failureOf, isReflection, planApplied } from "./plan-applied.ts";
import type { Attempt } from "./plan-applied.ts";

const created: Attempt = {
  result: "created",
  object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
};
const conflict: Attempt = { result: "conflict", message: "it exists and is not ours" };

const cases: Record<string, { attempts: { servesAsItIs?: boolean; attempt: Attempt }[]; want: string | undefined }> = {
  "nothing failed when every manifest is in place": {
    attempts: [{ attempt: created }],
    want: undefined,
  },
  "a foreign object is reported as a failure": {
    attempts: [{ attempt: conflict }],
    want: "it exists and is not ours",
  },
  "an existing object that serves as it is, such as a namespace, is not a failure": {
    attempts: [{ servesAsItIs: true, attempt: conflict }],
    want: undefined,
  },
  "all failures are reported together": {
    attempts: [{ attempt: conflict }, { attempt: { result: "failed", error: new Error("no route") } }],
    want: "it exists and is not ours; no route",
  },
};
for (const [behaviour, { attempts, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(failureOf(attempts)?.message).toBe(want);
  });
}

test("a kind that the member does not serve has its own reason", () => {
  const error = new UnknownKindError("paris", "apps.kruise.io/v1beta1", "CloneSet");

  expect(failureOf([{ attempt: { result: "failed", error } }])).toEqual({
    reason: "KindNotServed",
    message: expect.stringContaining("does not serve CloneSet in apps.kruise.io/v1beta1"),
  });
});

test("a possibly delivered request is reported until the member answers, regardless of later errors", () => {
  const after = (work: Parameters<typeof planApplied>[0], error: Error): ReturnType<typeof planApplied> =>
    planApplied(work, failureOf([{ attempt: { result: "failed", error } }]), "2024-05-01T12:00:00Z");
  const lost = after(makeWork("paris", "web").build(), new UnreachableError("lost", { mayHaveArrived: true }));

  expect(lost.status?.conditions).toMatchObject([{ type: "Applied", status: "False", reason: "NoAnswer" }]);
  expect(after(lost, new UnreachableError("no route"))).toBe(lost);
  expect(after(makeWork("paris", "web").build(), new UnreachableError("no route")).status?.conditions).toMatchObject([
    { reason: "MemberUnreachable" },
  ]);
  expect(planApplied(lost, undefined, "2024-05-01T12:00:00Z").status?.conditions).toMatchObject([{ status: "True" }]);
});

test("a pending answer is reported where no failure is known, and is replaced by its result", () => {
  const now = "2024-05-01T12:00:00Z";
  const said = (work: Parameters<typeof planApplied>[0]): unknown => work.status?.conditions?.[0]?.reason;
  const work = makeWork("paris", "web").build();
  const pending = planApplied(planApplied(work, undefined, now), { reason: "AnswerPending", message: "slow" }, now);
  const away = planApplied(work, { reason: "MemberUnreachable", message: "no route" }, now);

  expect(said(pending)).toBe("AnswerPending");
  expect(said(planApplied(pending, { reason: "MemberUnreachable", message: "no route" }, now))).toBe(
    "MemberUnreachable",
  );
  expect(said(planApplied(pending, undefined, now))).toBe("AppliedSuccessful");
  expect(planApplied(away, { reason: "AnswerPending", message: "slow" }, now)).toBe(away);
});

test("a Work with an up-to-date condition is returned unchanged", () => {
  const work = planApplied(makeWork("paris", "web").build(), undefined, "2024-05-01T12:00:00Z");

  expect(work.status?.conditions).toMatchObject([{ type: "Applied", status: "True", reason: "AppliedSuccessful" }]);
  expect(planApplied(work, undefined, "2024-05-01T13:00:00Z")).toBe(work);
});

const written = "2024-05-01T12:00:00Z";
const work = makeWork("paris", "web").build();
const applied = planApplied({ ...work, metadata: { ...work.metadata, generation: 1 } }, undefined, written);
const reflected: typeof applied = {
  ...applied,
  status: {
    ...applied.status,
    manifestStatuses: [{ identifier: { ordinal: 0, version: "v1", kind: "Pod", resource: "pods", name: "web" } }],
  },
};

const changes: Record<string, { before?: typeof applied; now: typeof applied; want: boolean }> = {
  "a report of reflect changes nothing that is applied": { before: applied, now: reflected, want: true },
  "a new Work is applied": { now: reflected, want: false },
  "another manifest is applied": {
    before: applied,
    now: { ...reflected, metadata: { ...reflected.metadata, generation: 7 } },
    want: false,
  },
  "a condition of a delivery that another client changed is restored": {
    before: applied,
    now: planApplied(applied, { reason: "AppliedFailed", message: "not so" }, written),
    want: false,
  },
};
for (const [behaviour, { before, now, want }] of Object.entries(changes)) {
  test(behaviour, () => {
    expect(isReflection(before, now)).toBe(want);
  });
}

describe("a Work whose member is unreachable", () => {
  const now = "2024-05-01T12:00:00Z";
  const ofGeneration = (object: typeof work, generation: number): typeof work => ({
    ...object,
    metadata: { ...object.metadata, generation },
  });
  const delivered = planApplied(ofGeneration(makeWork("paris", "web").build(), 3), undefined, now);

  for (const reason of ["MemberUnreachable", "NoAnswer", "AnswerPending"] as const)
    test(`stays applied when it has not changed since (${reason})`, () => {
      expect(planApplied(delivered, { reason, message: "no route" }, now)).toBe(delivered);
    });

  test("is not applied when it has changed since", () => {
    const changed = ofGeneration(delivered as typeof work, 4);

    expect(
      planApplied(changed, { reason: "MemberUnreachable", message: "no route" }, now).status?.conditions,
    ).toMatchObject([{ type: "Applied", status: "False", reason: "MemberUnreachable" }]);
  });

  test("has the generation that was delivered, not one that was written meanwhile", () => {
    const changed = ofGeneration(delivered as typeof work, 4);

    expect(planApplied(changed, undefined, now, 3).status?.conditions).toMatchObject([{ observedGeneration: 3 }]);
  });

  test("is not applied when the member has rejected it", () => {
    expect(planApplied(delivered, { reason: "AppliedFailed", message: "no" }, now).status?.conditions).toMatchObject([
      { status: "False" },
    ]);
  });
});
