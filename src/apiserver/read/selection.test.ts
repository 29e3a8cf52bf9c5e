import { describe, expect, test } from "vitest";
import { ConfigMap, Deployment, Pod, Secret } from "../../api/index.ts";
import type { Kind } from "../../api/index.ts";
import { createResource } from "../clusters/resources.ts";
import { selectionOf } from "./selection.ts";

describe("a field selector", () => {
  const refused: Record<string, { kind: Kind; selector: string; want: string }> = {
    "of a kind without fields of its own knows name and namespace": {
      kind: Deployment,
      selector: "status.replicas=1",
      want: '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
    },
    "of a kind with its own fields names what is wrong": {
      kind: Secret,
      selector: "data=x",
      want: "field label not supported: data",
    },
    "does not reach what every object inherits": {
      kind: Pod,
      selector: "constructor=x",
      want: "field label not supported: constructor",
    },
  };
  for (const [behaviour, { kind, selector, want }] of Object.entries(refused)) {
    test(`LW-15: ${behaviour}`, () => {
      expect(() => selectionOf(createResource(kind), "", selector)).toThrow(want);
    });
  }

  test("LW-16: on a name says which one object can match", () => {
    expect(selectionOf(createResource(ConfigMap), "", "metadata.name=a,metadata.namespace=b").name).toBe("a");
  });

  test("LW-14: no selector at all needs no look at the objects", () => {
    expect(selectionOf(createResource(ConfigMap), "", "").everything).toBe(true);
  });
});
