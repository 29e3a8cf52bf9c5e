import { expect, test } from "vitest";
import type { ReturnStep } from "./member-stage.ts";
import { planReturn, type MixedMember } from "./plan-return.ts";

const LAYERS = [
  { layer: 0, pods: 3 },
  { layer: 1, pods: 1 },
];

/** A member of four pods that does what its copy asks for. */
function member(seen: number, step?: ReturnStep, change: Partial<MixedMember> = {}): MixedMember {
  const was = { digest: "", partition: 9, updated: seen, replicas: 4, isBackward: step !== undefined, step };
  return {
    size: 4,
    was,
    seen,
    pods: 4,
    isAcknowledged: true,
    isThrough: false,
    isHeld: false,
    layers: LAYERS,
    ...change,
  };
}

const cases: Record<string, { member: MixedMember; updated: number; want: ReturnStep | undefined }> = {
  "a member with no more pods than requested stays forward": { member: member(1), updated: 1, want: undefined },
  "a member with too many pods counts those of the newest template first": {
    member: member(3),
    updated: 1,
    want: { layer: 0, keeps: 3 },
  },
  "a member that has not reported its copy is not counted yet": {
    member: member(3, undefined, { isAcknowledged: false }),
    updated: 1,
    want: undefined,
  },
  "a counted member returns pods as far as the newest template had them": {
    member: member(4, { layer: 0, keeps: 4 }, { counted: 0 }),
    updated: 0,
    want: { layer: 0, keeps: 1, others: 0 },
  },
  "a counted member keeps the pods of other templates": {
    member: member(2, { layer: 0, keeps: 2 }, { counted: 1 }),
    updated: 1,
    want: { layer: 0, keeps: 1, others: 1 },
  },
  "a member waits while a copy rolls pods back": {
    member: member(3, { layer: 0, keeps: 1, others: 0 }, { counted: 1 }),
    updated: 0,
    want: { layer: 0, keeps: 1, others: 0 },
  },
  "the next template is counted when the newest has its pods again": {
    member: member(1, { layer: 0, keeps: 1, others: 0 }, { counted: 3 }),
    updated: 0,
    want: { layer: 1, keeps: 1 },
  },
  "the oldest template gets what is left": {
    member: member(2, { layer: 1, keeps: 2 }, { counted: 1 }),
    updated: 0,
    want: { layer: 1, keeps: 0, others: 1 },
  },
  "a member that has returned its pods is written forward": {
    member: member(1, { layer: 0, keeps: 1, others: 1 }, { counted: 2 }),
    updated: 1,
    want: undefined,
  },
  "a member that had completed the release stays with the earlier template": {
    member: member(1, { layer: 0, keeps: 1, others: 0 }, { counted: 3, isThrough: true }),
    updated: 1,
    want: { layer: 0, keeps: 1, others: 0 },
  },
  "a growing member that had completed the release starts pods of the last complete one": {
    member: member(4, undefined, { size: 6, isThrough: true }),
    updated: 4,
    want: { layer: 1, keeps: 4, others: 0 },
  },
  "more pods of the release are asked for forward": {
    member: member(1, { layer: 0, keeps: 1, others: 1 }, { counted: 2 }),
    updated: 3,
    want: undefined,
  },
  "a scaled member is counted again": {
    member: member(2, { layer: 0, keeps: 2 }, { size: 6, counted: 1 }),
    updated: 1,
    want: undefined,
  },
  "a member that gets no copies keeps its own": {
    member: member(3, { layer: 0, keeps: 3 }, { isHeld: true, counted: 1 }),
    updated: 1,
    want: { layer: 0, keeps: 3 },
  },
};
test.each(Object.entries(cases))("%s", (_name, { member: given, updated, want }) => {
  expect(planReturn(given, updated)).toEqual({ updated, isBackward: want !== undefined, step: want });
});
