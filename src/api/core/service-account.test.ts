import { expect, test } from "vitest";
import { makeReview, warningsOf } from "../test-review.ts";
import { admissions, type ServiceAccount } from "./service-account.ts";

const makeAccount = (rest: object): ServiceAccount => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: "a", namespace: "shop" },
  ...rest,
});

test("of a listed secret only the name is kept", () => {
  const kept = admissions[0]?.prepare?.(
    makeReview(makeAccount({ secrets: [{ name: "x", kind: "Secret", namespace: "other" }, { name: "y" }] })),
  ) as ServiceAccount;

  expect(kept.secrets).toEqual([{ name: "x" }, { name: "y" }]);
});

test("an annotation that means little today is warned of once", () => {
  const account = makeAccount({
    metadata: { name: "a", annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } },
  });

  expect(warningsOf(admissions, account)).toHaveLength(1);
  expect(warningsOf(admissions, account, account)).toEqual([]);
});
