import { describe, expect, test } from "vitest";
import { deepFreeze, messageOf } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { readPatched } from "./answer-patch.ts";
import { failureOf } from "./test-webhook.ts";

const workload = deepFreeze({
  apiVersion: "workload.example.io/v1alpha1",
  kind: "Workload",
  metadata: { name: "web", namespace: "shop", labels: { app: "web" } },
  spec: { replicas: 3, ports: [80, 443], template: { image: "web:1" } },
});

const base64 = (operations: Json): string => Buffer.from(JSON.stringify(operations)).toString("base64");
const patching = (...operations: JsonObject[]): JsonObject => ({ patchType: "JSONPatch", patch: base64(operations) });
/** Parsed, because a key such as `__proto__` cannot be written in an object literal. */
const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject;

describe("a response with a patch", () => {
  test("changes a copy that shares unchanged parts", () => {
    const patched = readPatched(patching({ op: "replace", path: "/spec/replicas", value: 1 }), workload);

    expect(patched).toEqual({ ...workload, spec: { replicas: 1, ports: [80, 443], template: { image: "web:1" } } });
    expect(patched.metadata).toBe(workload.metadata);
    expect(workload.spec.replicas).toBe(3);
  });

  test("returns the object itself when there is no patch", () => {
    expect(readPatched({}, workload)).toBe(workload);
    expect(readPatched({ patch: null, patchType: null }, workload)).toBe(workload);
  });

  test("may add the whole document, as Karmada's library allows", () => {
    const patched = readPatched(
      patching({ op: "add", path: "", value: { ...workload, spec: { replicas: 9 } } }),
      workload,
    );

    expect(patched).toEqual({ ...workload, spec: { replicas: 9 } });
  });

  test("copies, moves and replaces in lists as well", () => {
    const patched = readPatched(
      patching(
        { op: "replace", path: "/spec/ports/-1", value: 8080 },
        { op: "copy", from: "/spec/ports/0", path: "/spec/ports/-" },
        { op: "move", from: "/spec/template/image", path: "/spec/image" },
      ),
      workload,
    );

    expect(patched).toEqual({
      ...workload,
      spec: { replicas: 3, ports: [80, 8080, 80], template: {}, image: "web:1" },
    });
  });

  test("a response with a patch that is null changes nothing", () => {
    expect(readPatched({ patchType: "JSONPatch", patch: base64(null) }, workload)).toBe(workload);
  });

  test("treats prototype names as plain keys", () => {
    const patch = parsed('{"op":"add","path":"/spec/__proto__","value":{"polluted":true}}');

    const patched = readPatched(patching(patch), workload) as unknown as { spec: object };

    expect(Object.keys(patched.spec)).toContain("__proto__");
    expect("polluted" in patched.spec).toBe(false);
    expect("polluted" in {}).toBe(false);
  });

  const wrong: Record<string, [JsonObject, RegExp]> = {
    "has a type other than JSON patch": [
      { ...patching(), patchType: "MergePatch" },
      /^response\.patchType is not JSONPatch$/,
    ],
    "has no type": [{ patch: base64([]) }, /^response\.patchType is not JSONPatch$/],
    "has a type but no patch": [{ patchType: "JSONPatch" }, /^response\.patch is missing$/],
    "is not base64": [{ patchType: "JSONPatch", patch: "[{}]" }, /^response\.patch is not base64$/],
    "is base64 without padding": [{ patchType: "JSONPatch", patch: "W10" }, /^response\.patch is not base64$/],
    "is not JSON": [
      { patchType: "JSONPatch", patch: Buffer.from("[").toString("base64") },
      /^response\.patch is not JSON/,
    ],
    "is nested too deeply": [
      { patchType: "JSONPatch", patch: Buffer.from("[".repeat(100_000)).toString("base64") },
      /^response\.patch is nested more than 1000 levels deep$/,
    ],
    "is not a list": [{ patchType: "JSONPatch", patch: base64({}) }, /^response\.patch is not a list of operations$/],
    "has too many operations": [
      patching(...Array.from({ length: 1001 }, () => ({ op: "test", path: "/kind", value: "Workload" }))),
      /^response\.patch has more than 1000 operations$/,
    ],
    "has an operation that is not an object": [
      { patchType: "JSONPatch", patch: base64([null]) },
      /^response\.patch\[0\] is not an operation$/,
    ],
    "has an unknown operation": [
      patching({ op: "merge", path: "/spec" }),
      /^response\.patch\[0\]\.op is "merge", which is not a JSON patch operation$/,
    ],
    "adds without a value": [
      patching({ op: "add", path: "/spec/replicas" }),
      /^response\.patch\[0\]\.value is missing$/,
    ],
    "replaces a missing value": [
      patching({ op: "replace", path: "/spec/paused", value: true }),
      /^response\.patch cannot be applied to the object/,
    ],
    "replaces beyond the end of a list": [
      patching({ op: "replace", path: "/spec/ports/2", value: 1 }),
      /^response\.patch cannot be applied to the object/,
    ],
    "copies a missing value": [
      patching({ op: "copy", from: "/spec/paused", path: "/spec/other" }),
      /^response\.patch cannot be applied to the object/,
    ],
    "copies without a source": [
      patching({ op: "copy", path: "/spec/other" }),
      /^response\.patch\[0\]\.from is not a path$/,
    ],
    "removes a missing value": [
      patching({ op: "remove", path: "/spec/paused" }),
      /^response\.patch cannot be applied to the object/,
    ],
    "accesses a prototype": [
      patching({ op: "add", path: "/__proto__/polluted", value: true }),
      /^response\.patch cannot be applied to the object/,
    ],
    "accesses a constructor": [
      patching({ op: "add", path: "/constructor/prototype/polluted", value: true }),
      /^response\.patch cannot be applied to the object/,
    ],
    "changes the name": [
      patching({ op: "replace", path: "/metadata/name", value: "other" }),
      /must not change metadata\.name/,
    ],
    "changes the namespace": [
      patching({ op: "remove", path: "/metadata/namespace" }),
      /must not change metadata\.namespace/,
    ],
    "changes the kind": [patching({ op: "replace", path: "/kind", value: "Secret" }), /must not change kind/],
    "changes the version": [
      patching({ op: "replace", path: "/apiVersion", value: "v1" }),
      /must not change apiVersion/,
    ],
    "replaces the object by a list": [patching({ op: "replace", path: "", value: [] }), /does not result in an object/],
    "replaces the metadata by a string": [
      patching({ op: "replace", path: "/metadata", value: "none" }),
      /does not result in an object/,
    ],
  };
  for (const [mistake, [answer, message]] of Object.entries(wrong)) {
    test(`is rejected when it ${mistake}`, () => {
      const failure = failureOf(() => readPatched(answer, workload));

      expect(failure.reason).toBe("answer");
      expect(messageOf(failure)).toMatch(message);
    });
  }
});
