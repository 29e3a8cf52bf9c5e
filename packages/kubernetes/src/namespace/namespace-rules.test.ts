import { expect, test } from "vitest";
import { completedBy, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type Namespace } from "./namespace-kind.ts";
import { rules, asNewNamespace } from "./namespace-rules.ts";

const makeNamespace = (rest: Partial<Namespace> = {}): Namespace => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "shop" },
  ...rest,
});

test("a namespace carries its name as a label", () => {
  expect(completedBy(rules, makeNamespace()).metadata.labels).toEqual({ "kubernetes.io/metadata.name": "shop" });
});

test("a new namespace is Active and gets the kubernetes finalizer besides the requested ones", () => {
  expect(asNewNamespace(makeNamespace({ spec: { finalizers: ["example.com/a"] } }))).toMatchObject({
    spec: { finalizers: ["example.com/a", "kubernetes"] },
    status: { phase: "Active" },
  });
});

const cases: Record<string, [object: Partial<Namespace>, subresource: string | undefined, want: string[]]> = {
  "a finalizer must be qualified with a domain": [
    { spec: { finalizers: ["plain"] } },
    undefined,
    ['spec.finalizers: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified'],
  ],
  "known finalizers need no domain": [{ spec: { finalizers: ["kubernetes", "orphan"] } }, undefined, []],
  "the finalize endpoint reports the field spec.finalizers": [
    { spec: { finalizers: ["plain"] } },
    "finalize",
    ['spec.finalizers[0]: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified'],
  ],
  "a namespace without a deletionTimestamp must be Active": [
    { status: { phase: "Terminating" } },
    "status",
    ["status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"],
  ],
  "a missing phase defaults to Active": [{}, "status", []],
};
for (const [behaviour, [object, subresource, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(problemsOf(rules, makeNamespace(object), makeNamespace(), subresource)).toEqual(want);
  });
}
