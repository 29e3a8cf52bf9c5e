import { expect, test } from "vitest";
import { makeReview, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type ServiceAccount } from "./serviceaccount-kind.ts";
import { rules } from "./serviceaccount-rules.ts";

const makeAccount = (rest: object): ServiceAccount => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: "a", namespace: "shop" },
  ...rest,
});

test("only the name of a listed secret is kept", () => {
  const kept = rules[0]?.prepare?.(
    makeReview(makeAccount({ secrets: [{ name: "x", kind: "Secret", namespace: "other" }, { name: "y" }] })),
  ) as ServiceAccount;

  expect(kept.secrets).toEqual([{ name: "x" }, { name: "y" }]);
});

test("warns once of the deprecated enforce-mountable-secrets annotation", () => {
  const account = makeAccount({
    metadata: { name: "a", annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } },
  });

  expect(warningsOf(rules, account)).toHaveLength(1);
  expect(warningsOf(rules, account, account)).toEqual([]);
});
