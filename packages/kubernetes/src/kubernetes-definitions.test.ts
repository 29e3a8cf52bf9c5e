import { createProtobufCodec, formatApiVersion } from "@flotilla/apimachinery";
import { expect, test } from "vitest";
import { isServed } from "./definition/kind-definition.ts";
import { kubernetesDefinitions, kubernetesKinds } from "./kubernetes-definitions.ts";

/** An object without fields, as client-go writes it. */
function emptyBody(apiVersion: string, kind: string): Uint8Array {
  const text = (value: string): number[] => [value.length, ...Buffer.from(value)];
  const typeMeta = [0x0a, ...text(apiVersion), 0x12, ...text(kind)];
  return Uint8Array.from([...Buffer.from("k8s\0"), 0x0a, typeMeta.length, ...typeMeta]);
}

test("every served version, and every kind that a subresource receives, can be written in protobuf", () => {
  const { decode } = createProtobufCodec(kubernetesKinds);
  const types = [
    ...kubernetesKinds.flatMap(({ group, kind, versions }) =>
      Object.keys(versions).map((version) => ({ group, version, kind })),
    ),
    ...kubernetesKinds.flatMap(({ subresources }) => Object.values(subresources.actions ?? {})),
    { group: "autoscaling", version: "v1", kind: "Scale" },
  ];

  for (const { group, version, kind } of types) {
    const apiVersion = formatApiVersion(group, version);
    expect(decode(emptyBody(apiVersion, kind))).toMatchObject({ apiVersion, kind });
  }
});

test("a definition and its interpreter name the same kind", () => {
  const mismatched = kubernetesDefinitions.filter(
    ({ kind, interpreter }) => interpreter && (interpreter.group !== kind.group || interpreter.kind !== kind.kind),
  );

  expect(mismatched).toEqual([]);
});

test("a kind is listed once, and every served kind has an example for the contract suites", () => {
  const ids = kubernetesDefinitions.map(({ kind }) => `${kind.group}/${kind.kind}`);

  expect(new Set(ids).size).toBe(ids.length);
  expect(
    kubernetesDefinitions.filter(({ kind, example }) => isServed(kind) && !example).map(({ kind }) => kind.kind),
  ).toEqual([]);
});
