import { describe, expect, test } from "vitest";
import { ConfigMap, Deployment, Pod, Secret } from "@flotilla/kubernetes";
import type { Kind } from "@flotilla/apimachinery";
import { createResource } from "../resources/resources.ts";
import { selectionOf } from "./selection.ts";

describe("a field selector", () => {
  const refused: Record<string, { kind: Kind; selector: string; want: string }> = {
    "of a kind without selectable fields supports name and namespace": {
      kind: Deployment,
      selector: "status.replicas=1",
      want: '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
    },
    "of a kind with selectable fields names the unsupported one": {
      kind: Secret,
      selector: "data=x",
      want: "field label not supported: data",
    },
    "does not reach inherited properties": {
      kind: Pod,
      selector: "constructor=x",
      want: "field label not supported: constructor",
    },
  };
  for (const [behaviour, { kind, selector, want }] of Object.entries(refused)) {
    test(`rejection: ${behaviour}`, () => {
      expect(() => selectionOf(createResource(kind), "", selector)).toThrow(want);
    });
  }

  test("a field selector on metadata.name returns the one name that can match", () => {
    expect(selectionOf(createResource(ConfigMap), "", "metadata.name=a,metadata.namespace=b").name).toBe("a");
  });

  test("an empty selector selects everything without parsing objects", () => {
    expect(selectionOf(createResource(ConfigMap), "", "").everything).toBe(true);
  });
});
