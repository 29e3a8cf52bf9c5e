import { describe, expect, test } from "vitest";
import type { AccessCheck } from "@flotilla/apimachinery";
import { emptyCluster, makeReview } from "../../../apimachinery/src/kind/test-review.ts";
import { checkParamKindAccess, checkParamRefAccess } from "./param-access.ts";

const limits = { apiVersion: "rules.example.com/v1", kind: "Limit" };
const policy = { spec: { paramKind: limits } };

/** A review of a user without permissions, and what it asked. */
function makeAccess(served: { group: string; kind: string; plural: string }[] = []): {
  access: Parameters<typeof checkParamKindAccess>[0];
  questions: AccessCheck[];
} {
  const questions: AccessCheck[] = [];
  const access = {
    ...makeReview({}),
    read: { ...emptyCluster, kinds: () => served },
    allows(question: AccessCheck): boolean {
      questions.push(question);
      return false;
    },
  };
  return { access, questions };
}
const servedLimits = [{ group: "rules.example.com", kind: "Limit", plural: "limits" }];

describe("the writer of a policy", () => {
  test("must be allowed to get all objects of a new kind of parameters", () => {
    const { access, questions } = makeAccess(servedLimits);

    expect(checkParamKindAccess(access, limits, undefined)).toMatchObject([
      {
        type: "Forbidden",
        field: "spec.paramKind",
        message:
          'Forbidden: user "tester" must have "get" permission on all objects of the referenced paramKind (kind=Limit, apiVersion=rules.example.com/v1)',
      },
    ]);
    expect(questions).toEqual([{ verb: "get", group: "rules.example.com", resource: "limits", name: "*" }]);
  });

  test("must be allowed to get everything in the group of a kind that is not served", () => {
    const { access, questions } = makeAccess();

    checkParamKindAccess(access, limits, undefined);

    expect(questions).toMatchObject([{ group: "rules.example.com", resource: "*" }]);
  });

  test("needs no permission for parameters that the policy already has", () => {
    expect(checkParamKindAccess(makeAccess().access, limits, { ...limits })).toEqual([]);
  });
});

describe("the writer of a binding", () => {
  const cases: Record<string, [paramRef: object, question: object]> = {
    "get a parameter by name": [
      { name: "a", namespace: "shop" },
      { verb: "get", name: "a", namespace: "shop" },
    ],
    "list parameters that are selected": [{ selector: {} }, { verb: "list" }],
  };
  for (const [what, [paramRef, question]] of Object.entries(cases)) {
    test(`must be allowed to ${what}`, () => {
      const { access, questions } = makeAccess(servedLimits);

      expect(checkParamRefAccess(access, { policyName: "p", paramRef }, undefined, () => policy)).toHaveLength(1);
      expect(questions).toEqual([{ group: "rules.example.com", resource: "limits", ...question }]);
    });
  }

  test("must be allowed to read everything when the policy does not exist", () => {
    const { access, questions } = makeAccess(servedLimits);
    const spec = { policyName: "p", paramRef: { name: "a" } };

    expect(checkParamRefAccess(access, spec, undefined, () => undefined)).toMatchObject([
      {
        message:
          'Forbidden: unable to get policy p to determine minimum required permissions and user "tester" does ' +
          'not have "get" permission for all groups, versions and resources',
      },
    ]);
    expect(questions).toEqual([{ verb: "get", group: "*", resource: "*", name: "a" }]);
  });

  test("needs no permission for the parameters that the binding already has", () => {
    const spec = { policyName: "p", paramRef: { name: "a" } };

    expect(checkParamRefAccess(makeAccess().access, spec, { ...spec }, () => policy)).toEqual([]);
  });
});
