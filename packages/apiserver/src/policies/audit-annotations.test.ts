import { expect, test } from "vitest";
import { AuditAnnotations } from "./audit-annotations.ts";

function published(fill: (annotations: AuditAnnotations) => void): Record<string, string> {
  const result: Record<string, string> = {};
  const annotations = new AuditAnnotations();
  fill(annotations);
  annotations.publish({
    annotate(key, value) {
      result[key] = value;
    },
  });
  return result;
}

test("joins the distinct values of a key over bindings and parameters", () => {
  const result = published((annotations) => {
    for (const value of ["one", "two", "one"]) annotations.add("p", "owner", value);
    annotations.add("q", "owner", "other");
  });

  expect(result).toEqual({ "p/owner": "one, two", "q/owner": "other" });
});

test("cuts off a value above 10 KiB", () => {
  const result = published((annotations) => annotations.add("p", "long", "x".repeat(20_000)));

  expect(result["p/long"]).toHaveLength(10_240);
});

test("reports failed validations of bindings with the action Audit in one annotation", () => {
  const failure = {
    message: "no",
    policy: "p",
    binding: "b",
    expressionIndex: 1,
    validationActions: ["Warn", "Audit"],
  };

  const result = published((annotations) => annotations.addFailure(failure));

  expect(result).toEqual({ "validation.policy.admission.k8s.io/validation_failure": JSON.stringify([failure]) });
});
