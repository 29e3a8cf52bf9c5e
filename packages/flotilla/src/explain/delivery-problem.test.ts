import { describe, expect, test } from "vitest";
import { deliveryProblem } from "./delivery-problem.ts";

const resource = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const problemOf = (message: string, reason = "AppliedFailed"): string => {
  const problem = deliveryProblem(resource, { cluster: "oslo", applied: false, reason, message }, false);
  return `${problem?.what} → ${problem?.try}`;
};

describe("reports the hub's own refusal as such, and not as a rejection by the member", () => {
  const cases: Record<string, { message: string; what: string; fix: string }> = {
    "a Retain rule that threw": {
      message:
        "running Retain of ResourceInterpreterCustomization keep-replicas on Deployment shop/web: line 2: attempt to index nil",
      what: "the hub did not send it to oslo, because a rule failed on the hub: running Retain",
      fix: "correct the rule in ResourceInterpreterCustomization keep-replicas; 'flotilla interpret' runs it",
    },
    "an interpreter webhook that failed": {
      message: "calling webhook hooks/retain.shop for Retain of Deployment shop/web: no response within 10 s",
      what: "the hub did not send it to oslo, because an interpreter webhook failed: calling webhook",
      fix: "correct or start interpreter webhook hooks/retain.shop",
    },
    "an object that already exists": {
      message: "resource(kind=Deployment, shop/web) already exists in the cluster oslo and is not managed",
      what: "the hub did not change the object on oslo, which it does not manage: resource(kind=Deployment",
      fix: "conflictResolution: Overwrite",
    },
    "an object of a ManifestWork": {
      message: "resource(kind=Deployment, shop/web) in the cluster oslo belongs to a ManifestWork, and an object …",
      what: "the hub did not change the object on oslo: resource(kind=Deployment, shop/web) in the cluster oslo belongs",
      fix: "delete the ManifestWork, or remove the object from it",
    },
    "an integer that cannot be sent exactly": {
      message:
        'Deployment.apps "web" is invalid: spec.size: Invalid value: "integer": must be between ' +
        "-9007199254740991 and 9007199254740991: larger integers cannot be kept exactly",
      what: 'the hub did not send it to oslo: Deployment.apps "web" is invalid',
      fix: "use a smaller integer",
    },
  };
  for (const [behaviour, { message, what, fix }] of Object.entries(cases)) {
    test(behaviour, () => {
      const problem = problemOf(message);

      expect(problem).toContain(what);
      expect(problem).toContain(fix);
      expect(problem).not.toContain("reject");
    });
  }
});

test("reports a rejection by the member that names a rule as the member's", () => {
  expect(problemOf('admission webhook "a.b" denied the request: running Retain of rules is forbidden')).toMatch(
    /^oslo rejected it: .* → correct what the member rejects/,
  );
});

test("reports a kind that the member does not serve, which rejects nothing", () => {
  expect(problemOf("no kind", "KindNotServed")).toMatch(/^oslo does not serve its kind: no kind → install/);
});
